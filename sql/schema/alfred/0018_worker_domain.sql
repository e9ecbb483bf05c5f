-- Which declaration a worker runs.

-- +goose Up
ALTER TABLE workers ADD COLUMN domain text NOT NULL DEFAULT '';
COMMENT ON COLUMN workers.domain IS 'Name of the declaration that it runs; empty if its version does not say so.';

-- +goose Down
ALTER TABLE workers DROP COLUMN domain;
