-- The map from users to databases, in a small database of its own or beside one of Alfred's, in schema alfred_directory.

-- +goose Up

CREATE TABLE databases (
    name       text        NOT NULL,
    url        text        NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT databases_pkey PRIMARY KEY (name),
    CONSTRAINT databases_name_form CHECK (name ~ '^[a-z][a-z0-9_-]{0,62}$')
);
COMMENT ON TABLE databases IS 'Whole databases of Alfred, each with workers of its own.';
COMMENT ON COLUMN databases.name IS 'How commands name it.';
COMMENT ON COLUMN databases.url IS 'Its address, as in DATABASE_URL; holds a password, so this database is as secret as all of them.';
COMMENT ON COLUMN databases.created_at IS 'When it was added.';

CREATE TABLE users (
    id         uuid        NOT NULL,
    name       text        NOT NULL,
    database   text        NOT NULL,
    epoch      bigint      NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    placed_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT users_pkey PRIMARY KEY (id),
    CONSTRAINT users_name_key UNIQUE (name),
    CONSTRAINT users_database_fkey FOREIGN KEY (database) REFERENCES databases (name)
);
CREATE INDEX users_database_idx ON users (database);
COMMENT ON TABLE users IS 'Which database serves which user: the only truth about it.';
COMMENT ON COLUMN users.id IS 'The user''s id, the same in every database.';
COMMENT ON COLUMN users.name IS 'Unique over all databases; tokens of an identity provider name users so.';
COMMENT ON COLUMN users.database IS 'Where the user is.';
COMMENT ON COLUMN users.epoch IS 'How often the user has been given a place, from 1.';
COMMENT ON COLUMN users.created_at IS 'When the user became known here.';
COMMENT ON COLUMN users.placed_at IS 'Since when the user is where they are.';

CREATE TABLE keys (
    hash    bytea NOT NULL,
    user_id uuid  NOT NULL,
    CONSTRAINT keys_pkey PRIMARY KEY (hash),
    CONSTRAINT keys_user_fkey FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX keys_user_idx ON keys (user_id);
COMMENT ON TABLE keys IS 'Whose API key it is. Whether it is good, and for what, stands with the user.';
COMMENT ON COLUMN keys.hash IS 'SHA-256 of the key, as in api_keys.';
COMMENT ON COLUMN keys.user_id IS 'Whom the key acts for.';

CREATE TABLE moves (
    id         uuid        NOT NULL DEFAULT gen_random_uuid(),
    user_id    uuid        NOT NULL,
    source     text        NOT NULL,
    target     text        NOT NULL,
    epoch      bigint      NOT NULL,
    attempt    integer     NOT NULL DEFAULT 0,
    step       text        NOT NULL DEFAULT 'begun',
    error      text,
    jobs       jsonb       NOT NULL DEFAULT '[]',
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at   timestamptz,
    CONSTRAINT moves_pkey PRIMARY KEY (id),
    CONSTRAINT moves_user_fkey FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT moves_source_fkey FOREIGN KEY (source) REFERENCES databases (name),
    CONSTRAINT moves_target_fkey FOREIGN KEY (target) REFERENCES databases (name),
    CONSTRAINT moves_step_known CHECK (step IN ('begun', 'closed', 'copied', 'switched', 'opened', 'done', 'aborting', 'aborted')),
    CONSTRAINT moves_ended_when_final CHECK ((step IN ('done', 'aborted')) = (ended_at IS NOT NULL))
);
CREATE UNIQUE INDEX moves_one_open_idx ON moves (user_id) WHERE ended_at IS NULL;
CREATE INDEX moves_user_idx ON moves (user_id, started_at);
CREATE INDEX moves_open_idx ON moves (started_at) WHERE ended_at IS NULL;
COMMENT ON TABLE moves IS 'How far each move of a user has come: what a mover goes by, and whoever takes it over.';
COMMENT ON COLUMN moves.id IS 'Names the move.';
COMMENT ON COLUMN moves.user_id IS 'Who is moved; one move at a time.';
COMMENT ON COLUMN moves.source IS 'The database that the user leaves.';
COMMENT ON COLUMN moves.target IS 'The one that they come to.';
COMMENT ON COLUMN moves.epoch IS 'The user''s epoch before the switch; the target''s is one higher.';
COMMENT ON COLUMN moves.attempt IS 'Counts the movers that took it up: databases refuse what an older one says.';
COMMENT ON COLUMN moves.step IS 'The last step that is done: begun, closed (the source refuses), copied, switched (the user is the target''s; from here there is no way back), opened (the target serves), done (the source has forgotten). aborting, aborted: given up.';
COMMENT ON COLUMN moves.error IS 'What stopped the last attempt; null while one is under way.';
COMMENT ON COLUMN moves.jobs IS 'The jobs that were not done when the source closed: [{kind, args, queue}]. They are made anew at the target.';
COMMENT ON COLUMN moves.started_at IS 'When it was begun.';
COMMENT ON COLUMN moves.updated_at IS 'When the last step was done.';
COMMENT ON COLUMN moves.ended_at IS 'When it was done or given up.';

-- +goose Down
DROP TABLE moves;
DROP TABLE keys;
DROP TABLE users;
DROP TABLE databases;
