-- The plans of turn_enqueue are good for every parameter, and making them took longer than running them.

-- +goose Up
ALTER FUNCTION turn_enqueue(uuid, text, text, text, text, jsonb, jsonb, jsonb) SET plan_cache_mode = force_generic_plan;

-- +goose Down
ALTER FUNCTION turn_enqueue(uuid, text, text, text, text, jsonb, jsonb, jsonb) RESET plan_cache_mode;
