-- Which worker processes are alive, and which domains they may run.

-- +goose Up

CREATE TABLE workers (
    id         text        NOT NULL,
    beat_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    version    text        NOT NULL,
    host       text        NOT NULL,
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    clock_skew interval    NOT NULL DEFAULT '0',
    differences text[]     NOT NULL DEFAULT '{}',
    CONSTRAINT workers_pkey PRIMARY KEY (id),
    CONSTRAINT workers_id_length CHECK (char_length(id) BETWEEN 1 AND 100)
);
COMMENT ON TABLE workers IS 'Lease of each worker process: after 3 s without a beat, others take over its jobs.';
COMMENT ON COLUMN workers.id IS 'The process''s River client id.';
COMMENT ON COLUMN workers.beat_at IS 'Last heartbeat, by the database''s clock.';
COMMENT ON COLUMN workers.version IS 'Version of the binary.';
COMMENT ON COLUMN workers.host IS 'Where it runs.';
COMMENT ON COLUMN workers.started_at IS 'When it started.';
COMMENT ON COLUMN workers.clock_skew IS 'How far its machine''s clock was ahead of the database''s at the last beat. Nothing is scheduled by it.';
COMMENT ON COLUMN workers.differences IS 'What has changed in the domain''s tables since this worker started, in words: calls that need it fail until a worker that knows the change is started.';

CREATE TABLE domain_proofs (
    name      text        NOT NULL,
    hash      text        NOT NULL,
    proven_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT domain_proofs_pkey PRIMARY KEY (name)
);
COMMENT ON TABLE domain_proofs IS 'Domains that passed worker domain check --probe, which tests that users are kept apart. Workers run no others.';
COMMENT ON COLUMN domain_proofs.name IS 'Name of the domain.';
COMMENT ON COLUMN domain_proofs.hash IS 'Hash of the declaration, and of tables, views, policies, functions and privileges, when it was probed.';
COMMENT ON COLUMN domain_proofs.proven_at IS 'When it was last probed.';

-- +goose Down
DROP TABLE domain_proofs;
DROP TABLE workers;
