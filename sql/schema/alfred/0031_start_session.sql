-- A program whose role is not the owner's starts sessions as it enqueues and cancels: with the owner's rights, where it was granted them.

-- +goose Up
ALTER FUNCTION start_session(text, text) SECURITY DEFINER;

-- +goose Down
ALTER FUNCTION start_session(text, text) SECURITY INVOKER;
