-- HistorySummaryInsert keeps the first text of a range: compressing it twice is harmless.
-- name: HistorySummaryInsert :exec
INSERT INTO history_summaries (session_id, kind, from_turn, to_turn, text, model, prompt_version)
VALUES (@session_id, @kind, @from_turn, @to_turn, @text, @model, @prompt_version)
ON CONFLICT (session_id, kind, from_turn, to_turn, prompt_version) DO NOTHING;

-- HistorySummaryListNewest is the text that stands for the older turns, one row per kind, as of a moment: what is compressed while a
-- turn runs must not change what that turn sees.
-- name: HistorySummaryListNewest :many
SELECT DISTINCT ON (kind) kind, from_turn, to_turn, text
FROM history_summaries
WHERE session_id = @session_id AND created_at <= @before AND to_turn < @below_turn
ORDER BY kind, to_turn DESC, id DESC;
