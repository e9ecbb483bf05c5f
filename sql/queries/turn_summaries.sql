-- name: TurnSummaryPage :many
SELECT turn_number, user_message, goal, steps, curation_summary, retained_refs, demoted_refs, excluded_refs, analysis_conclusions,
       response_summary, conversation_phase, tone, what_user_expressed, what_we_acknowledged, natural_next, model
FROM turn_summaries
WHERE session_id = @session_id AND turn_number > @after_number
ORDER BY turn_number
LIMIT @page_size;
