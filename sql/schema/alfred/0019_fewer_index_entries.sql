-- Entries of indexes and locks of rows that most writes of a turn do without.

-- +goose Up

-- River asks for jobs by state and queue only among those that are not finished, and for finished ones by
-- river_job_state_and_finalized_at_index: to complete a job adds no entry here.
DROP INDEX river_job_prioritized_fetching_index;
CREATE INDEX river_job_prioritized_fetching_index ON river_job (state, queue, priority, scheduled_at, id)
WHERE state IN ('available', 'pending', 'retryable', 'running', 'scheduled');

-- A trigger before an update locks every row that is updated, which is a record of its own, whether or not it then runs.
DROP TRIGGER job_fetched ON river_job;
CREATE TRIGGER job_fetched AFTER UPDATE OF state ON river_job
FOR EACH ROW WHEN (OLD.state = 'available' AND NEW.state = 'running') EXECUTE FUNCTION job_fetched();

ALTER TABLE turns DROP CONSTRAINT turns_session_idempotency_key;
CREATE UNIQUE INDEX turns_session_idempotency_key ON turns (session_id, idempotency_key, user_id) WHERE idempotency_key IS NOT NULL;

-- One index for a session's events and for those of its turns.
ALTER TABLE entity_events DROP CONSTRAINT entity_events_pkey;
ALTER TABLE entity_events ADD CONSTRAINT entity_events_pkey PRIMARY KEY (session_id, turn_number, id, user_id);
DROP INDEX entity_events_turn_idx;

-- +goose Down
CREATE INDEX entity_events_turn_idx ON entity_events (session_id, turn_number);
ALTER TABLE entity_events DROP CONSTRAINT entity_events_pkey;
ALTER TABLE entity_events ADD CONSTRAINT entity_events_pkey PRIMARY KEY (session_id, id, user_id);
DROP INDEX turns_session_idempotency_key;
ALTER TABLE turns ADD CONSTRAINT turns_session_idempotency_key UNIQUE (session_id, idempotency_key, user_id);
DROP TRIGGER job_fetched ON river_job;
CREATE TRIGGER job_fetched BEFORE UPDATE OF state ON river_job
FOR EACH ROW WHEN (OLD.state = 'available' AND NEW.state = 'running') EXECUTE FUNCTION job_fetched();
DROP INDEX river_job_prioritized_fetching_index;
CREATE INDEX river_job_prioritized_fetching_index ON river_job (state, queue, priority, scheduled_at, id);
