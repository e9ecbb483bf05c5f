-- FeedbackSet stores a user's feedback on a turn's reply, replacing any earlier one. No row: the user has no such turn. It locks
-- the session first, as whoever forgets it does.
-- name: FeedbackSet :one
INSERT INTO feedback (turn_id, session_id, user_id, rating, text)
SELECT t.id, s.id, t.user_id, @rating, @text
FROM turns AS t JOIN sessions AS s ON s.id = t.session_id AND s.user_id = t.user_id
WHERE t.id = @turn_id AND t.user_id = @user_id
FOR KEY SHARE OF s
ON CONFLICT (turn_id, user_id) DO UPDATE SET rating = excluded.rating, text = excluded.text, updated_at = clock_timestamp()
RETURNING rating, text, updated_at;

-- name: FeedbackDelete :execrows
DELETE FROM feedback WHERE turn_id = @turn_id AND user_id = @user_id;
