-- HistorySummaryInsert keeps the first text for a range: compressing it twice is harmless.
-- name: HistorySummaryInsert :exec
INSERT INTO history_summaries (session_id, user_id, kind, from_turn, to_turn, text, model, prompt_version)
VALUES (@session_id, (SELECT s.user_id FROM sessions AS s WHERE s.id = @session_id), @kind, @from_turn, @to_turn, @text, @model, @prompt_version)
ON CONFLICT (session_id, kind, from_turn, to_turn, prompt_version, user_id) DO NOTHING;

-- HistorySummaryListNewest returns the texts that replace older turns, one row per kind, as of a moment: what is
-- compressed while a turn runs must not change what that turn sees.
-- name: HistorySummaryListNewest :many
SELECT newest.kind, newest.from_turn, newest.to_turn, newest.text
FROM unnest(ARRAY['conversation', 'narrative']) AS kinds(kind)
CROSS JOIN LATERAL (SELECT h.kind, h.from_turn, h.to_turn, h.text
                    FROM history_summaries AS h
                    WHERE h.session_id = @session_id AND h.kind = kinds.kind AND h.created_at <= @before AND h.to_turn < @below_turn
                    ORDER BY h.to_turn DESC, h.id DESC
                    LIMIT 1) AS newest
ORDER BY newest.kind;
