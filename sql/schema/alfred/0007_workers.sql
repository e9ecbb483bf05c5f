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
COMMENT ON TABLE workers IS 'Lease of each worker process: 3 s without a beat and others take its jobs over.';
COMMENT ON COLUMN workers.id IS 'The process''s River client id.';
COMMENT ON COLUMN workers.beat_at IS 'Last sign of life, by the database''s clock.';
COMMENT ON COLUMN workers.version IS 'Version of the binary.';
COMMENT ON COLUMN workers.host IS 'Where it runs.';
COMMENT ON COLUMN workers.started_at IS 'When it started.';
COMMENT ON COLUMN workers.clock_skew IS 'How far the clock of its machine was ahead of the database''s at the last beat. Nothing is scheduled by it.';
COMMENT ON COLUMN workers.differences IS 'What of the domain''s tables has changed since this worker was started, in words: calls that need it fail until a worker that knows it is started.';

CREATE TABLE domain_proofs (
    name      text        NOT NULL,
    hash      text        NOT NULL,
    proven_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT domain_proofs_pkey PRIMARY KEY (name)
);
COMMENT ON TABLE domain_proofs IS 'Domains that worker domain check --probe found to keep users apart. Workers run no other.';
COMMENT ON COLUMN domain_proofs.name IS 'Name of the domain.';
COMMENT ON COLUMN domain_proofs.hash IS 'Of the declaration, and of tables, views, policies, functions and rights when it was tried.';
COMMENT ON COLUMN domain_proofs.proven_at IS 'When it was tried last.';

-- +goose Down
DROP TABLE domain_proofs;
DROP TABLE workers;
