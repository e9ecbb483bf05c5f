-- Moves that copy while the user is served have two steps more.

-- +goose Up
ALTER TABLE moves DROP CONSTRAINT moves_step_known;
ALTER TABLE moves ADD CONSTRAINT moves_step_known
    CHECK (step IN ('begun', 'published', 'followed', 'closed', 'copied', 'switched', 'opened', 'done', 'aborting', 'aborted'));
COMMENT ON COLUMN moves.step IS 'The last step that is done: begun, published (the source has a publication of the user''s rows, until the move ends), followed (the target has all rows as they were a moment ago), closed (the source refuses), copied, switched (the user is the target''s; from here there is no way back), opened (the target serves), done (the source has forgotten). aborting, aborted: given up. Where nothing is served while rows are copied, a move is never published nor followed.';

-- +goose StatementBegin
CREATE FUNCTION move_is_held(owner uuid) RETURNS boolean
LANGUAGE sql STABLE
AS $$
    SELECT EXISTS (
        SELECT FROM pg_catalog.pg_locks AS l
        WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted
          AND l.database = (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = current_database())
          AND (l.classid::bigint << 32) | l.objid::bigint = hashtextextended('alfred.move:' || move_is_held.owner, 0))
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION move_is_held IS 'Is a mover at work on this user''s move?';

-- +goose Down
DROP FUNCTION move_is_held(uuid);
UPDATE moves SET step = 'begun' WHERE step IN ('published', 'followed');
ALTER TABLE moves DROP CONSTRAINT moves_step_known;
ALTER TABLE moves ADD CONSTRAINT moves_step_known CHECK (step IN ('begun', 'closed', 'copied', 'switched', 'opened', 'done', 'aborting', 'aborted'));
COMMENT ON COLUMN moves.step IS 'The last step that is done: begun, closed (the source refuses), copied, switched (the user is the target''s; from here there is no way back), opened (the target serves), done (the source has forgotten). aborting, aborted: given up.';
