-- name: TurnSummaryPage :many
SELECT turn_number, user_message, goal, steps, curation_summary, retained_refs, demoted_refs, excluded_refs, analysis_conclusions,
       response_summary, conversation_phase, tone, what_user_expressed, what_we_acknowledged, natural_next, model
FROM turn_summaries
WHERE session_id = @session_id AND turn_number > @after_number
ORDER BY turn_number
LIMIT @page_size;

-- TurnSummaryWord adds a model's wording to the facts that turn_summary_write_facts wrote.
-- name: TurnSummaryWord :exec
UPDATE turn_summaries
SET response_summary = @response_summary, conversation_phase = @conversation_phase, tone = @tone,
    what_user_expressed = @what_user_expressed, what_we_acknowledged = @what_we_acknowledged, natural_next = @natural_next, model = @model
WHERE turn_id = @turn_id;

-- TurnSummaryWriteFacts writes a turn's summary from its rows, if it has none.
-- name: TurnSummaryWriteFacts :exec
SELECT turn_summary_write_facts(@turn_id::uuid);
