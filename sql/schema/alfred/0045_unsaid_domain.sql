-- A session begun in SQL was said to be of the kitchen, whichever domain the database has. Its user could then not be moved.
-- The comment on clients_dead claimed that it keeps other scans away from every dead worker.

-- +goose Up
ALTER TABLE sessions ALTER COLUMN domain DROP DEFAULT, ALTER COLUMN domain DROP NOT NULL;
COMMENT ON COLUMN sessions.domain IS 'Name of the domain declaration it runs on; null if it was begun in SQL, which does not know it.';
COMMENT ON FUNCTION clients_dead IS 'Clients with running jobs whose lease has expired by the database''s clock or was deleted, or whose advisory lock is free. Asking acquires the lock of a client whose lease is fresh, so that one scan at a time declares it dead; of one whose lease has expired, several may. Dead workers without jobs are left out, so that any number of them delays nobody.';

-- +goose Down
UPDATE sessions SET domain = 'kitchen' WHERE domain IS NULL;
ALTER TABLE sessions ALTER COLUMN domain SET DEFAULT 'kitchen', ALTER COLUMN domain SET NOT NULL;
COMMENT ON COLUMN sessions.domain IS 'Name of the domain declaration it runs on.';
COMMENT ON FUNCTION clients_dead IS 'Clients with running jobs whose lease has expired by the database''s clock or was deleted, or whose advisory lock is free. Asking acquires that lock, so that only one scan at a time declares a worker dead. Dead workers without jobs are left out, so that any number of them delays nobody.';
