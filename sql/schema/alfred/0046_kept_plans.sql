-- Plans of these functions are good for every parameter, and planning took longer than running.

-- +goose Up
ALTER FUNCTION turn_enqueue(uuid, text, text, text, text, jsonb, jsonb, jsonb) SET plan_cache_mode = force_generic_plan;

-- +goose Down
ALTER FUNCTION turn_enqueue(uuid, text, text, text, text, jsonb, jsonb, jsonb) RESET plan_cache_mode;
