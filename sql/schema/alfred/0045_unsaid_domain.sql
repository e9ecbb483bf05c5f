-- A session begun in SQL was said to be of the kitchen, whichever domain the database has. Its user could then not be moved.

-- +goose Up
ALTER TABLE sessions ALTER COLUMN domain DROP DEFAULT, ALTER COLUMN domain DROP NOT NULL;
COMMENT ON COLUMN sessions.domain IS 'Name of the domain declaration it runs on; null if it was begun in SQL, which does not know it.';

-- +goose Down
UPDATE sessions SET domain = 'kitchen' WHERE domain IS NULL;
ALTER TABLE sessions ALTER COLUMN domain SET DEFAULT 'kitchen', ALTER COLUMN domain SET NOT NULL;
COMMENT ON COLUMN sessions.domain IS 'Name of the domain declaration it runs on.';
