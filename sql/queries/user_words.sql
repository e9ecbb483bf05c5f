-- UserWordsGather lists all words of a user's turns.
-- name: UserWordsGather :exec
SELECT user_words_gather(@user_id::uuid);

-- UserWordsMissing lists, by id, users with conversations whose words are not all listed.
-- name: UserWordsMissing :many
SELECT u.id FROM users AS u
WHERE u.id > @after
  AND NOT EXISTS (SELECT FROM user_words AS w WHERE w.user_id = u.id AND w.word = '' OFFSET 0)
  AND EXISTS (SELECT FROM sessions AS s WHERE s.user_id = u.id OFFSET 0)
ORDER BY u.id
LIMIT @lim;
