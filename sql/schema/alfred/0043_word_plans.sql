-- The planner made a plan for each turn whose words are listed, and for each reply's pieces, though every one of them was the same.

-- +goose Up
ALTER FUNCTION user_words_list(uuid[]) SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION decision_keep(uuid, integer, text, integer, integer, jsonb, bigint, uuid, integer, jsonb, text, text, boolean, step_outcome, text, text, text, jsonb, jsonb) SET plan_cache_mode = force_generic_plan;

-- +goose Down
ALTER FUNCTION decision_keep(uuid, integer, text, integer, integer, jsonb, bigint, uuid, integer, jsonb, text, text, boolean, step_outcome, text, text, text, jsonb, jsonb) RESET plan_cache_mode;
ALTER FUNCTION user_words_list(uuid[]) RESET plan_cache_mode;
