-- Sessions, turns, and what each turn decided, in order.
--
-- Every table has the user in its key, last: look-ups go by session or turn, and what stands in a key can be moved to
-- another database by native replication and protected by a policy that reads no other table.

-- +goose Up

CREATE TYPE turn_status AS ENUM ('queued', 'running', 'succeeded', 'failed', 'cancelled');
COMMENT ON TYPE turn_status IS 'queued: waits for other turns. running: its jobs are running. The others are final.';

CREATE TYPE step_type AS ENUM ('read', 'analyze', 'generate', 'write');
COMMENT ON TYPE step_type IS 'What a step may do; code offers it only the tools of its type.';

CREATE TYPE step_outcome AS ENUM ('ok', 'partial', 'empty', 'failed', 'skipped');
COMMENT ON TYPE step_outcome IS 'How a step ended; the reply may claim no more than this.';

CREATE TABLE sessions (
    id               uuid        NOT NULL DEFAULT uuid_v7(),
    user_id          uuid        NOT NULL,
    domain           text,
    title            text        NOT NULL DEFAULT '',
    mode             text        NOT NULL DEFAULT 'plan',
    last_turn        integer     NOT NULL DEFAULT 0,
    last_activity_at timestamptz NOT NULL DEFAULT now(),
    archived_at      timestamptz,
    parent_id        uuid,
    forked_at_turn   integer,
    pinned_at        timestamptz,
    version          bigint      NOT NULL DEFAULT 0,
    created_at       timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT sessions_pkey PRIMARY KEY (id, user_id),
    CONSTRAINT sessions_user_fkey FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT sessions_parent_fkey FOREIGN KEY (parent_id, user_id) REFERENCES sessions (id, user_id) ON DELETE SET NULL (parent_id),
    CONSTRAINT sessions_forked_at_turn_positive CHECK (forked_at_turn >= 0),
    CONSTRAINT sessions_domain_length CHECK (char_length(domain) BETWEEN 1 AND 100),
    CONSTRAINT sessions_title_length CHECK (char_length(title) <= 200),
    CONSTRAINT sessions_mode_known CHECK (mode IN ('quick', 'plan', 'create')),
    CONSTRAINT sessions_last_turn_positive CHECK (last_turn >= 0)
);
CREATE INDEX sessions_user_activity_idx ON sessions (user_id, (pinned_at IS NOT NULL) DESC, last_activity_at DESC, id DESC);
CREATE INDEX sessions_parent_idx ON sessions (parent_id) WHERE parent_id IS NOT NULL;
COMMENT ON TABLE sessions IS 'One conversation of one user.';
COMMENT ON COLUMN sessions.id IS 'UUID v7: conversations sort by when they were started.';
COMMENT ON COLUMN sessions.user_id IS 'Whose conversation it is.';
COMMENT ON COLUMN sessions.domain IS 'Name of the domain declaration it runs on; null if it was begun in SQL, which does not know it.';
COMMENT ON COLUMN sessions.title IS 'For lists; empty until named or taken from the first message.';
COMMENT ON COLUMN sessions.mode IS 'quick, plan or create: the default of its turns; bounds the number of steps.';
COMMENT ON COLUMN sessions.last_turn IS 'Number of its newest turn, 0 before the first.';
COMMENT ON COLUMN sessions.last_activity_at IS 'When the newest turn was enqueued or replied to.';
COMMENT ON COLUMN sessions.archived_at IS 'When it was archived and stopped accepting turns; null while open.';
COMMENT ON COLUMN sessions.parent_id IS 'The session that it was forked from; null for none, or if that was forgotten.';
COMMENT ON COLUMN sessions.forked_at_turn IS 'It begins as its parent stood at the end of this turn; null if it is not a fork.';
COMMENT ON COLUMN sessions.pinned_at IS 'When it was pinned to the top of lists; null if it is not.';
COMMENT ON COLUMN sessions.version IS 'Increases when anybody but its running turn writes to it: the user on the page, a late summary. A turn that carries a loaded view then loads again.';
COMMENT ON COLUMN sessions.created_at IS 'When it was started.';

CREATE TABLE turns (
    id                 uuid        NOT NULL DEFAULT uuid_v7(),
    session_id         uuid        NOT NULL,
    user_id            uuid        NOT NULL,
    number             integer     NOT NULL,
    idempotency_key    text,
    message            text        NOT NULL,
    ui_changes         jsonb       NOT NULL DEFAULT '[]',
    mentioned_entities jsonb       NOT NULL DEFAULT '[]',
    answer             jsonb,
    mode               text        NOT NULL,
    status             turn_status NOT NULL DEFAULT 'queued',
    interrupts         boolean     NOT NULL DEFAULT false,
    current_node       text,
    position           integer     NOT NULL DEFAULT 1,
    goal               text,
    reply              text,
    inputs_applied_at  timestamptz,
    replied_at         timestamptz,
    summarized_at      timestamptz,
    error_code         text,
    error_message      text,
    undo               text,
    undo_reason        text,
    undoes             uuid,
    undone_by          uuid,
    created_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    started_at         timestamptz,
    finished_at        timestamptz,
    history_hash       bytea,
    said               text,
    CONSTRAINT turns_pkey PRIMARY KEY (id, user_id),
    CONSTRAINT turns_session_number_key UNIQUE (session_id, number, user_id),
    CONSTRAINT turns_session_idempotency_key UNIQUE (session_id, idempotency_key, user_id),
    CONSTRAINT turns_session_fkey FOREIGN KEY (session_id, user_id) REFERENCES sessions (id, user_id) ON DELETE CASCADE,
    CONSTRAINT turns_number_positive CHECK (number >= 1),
    CONSTRAINT turns_idempotency_key_length CHECK (char_length(idempotency_key) BETWEEN 1 AND 255),
    CONSTRAINT turns_message_length CHECK (octet_length(message) BETWEEN 1 AND 32768),
    CONSTRAINT turns_inputs_are_lists CHECK (jsonb_typeof(ui_changes) = 'array' AND jsonb_typeof(mentioned_entities) = 'array'),
    CONSTRAINT turns_answer_names_option CHECK (answer ?& ARRAY['question_id', 'option_id']),
    CONSTRAINT turns_mode_known CHECK (mode IN ('quick', 'plan', 'create')),
    CONSTRAINT turns_current_node_known CHECK (current_node IN ('understand', 'think', 'act', 'reply', 'summarize')),
    CONSTRAINT turns_position_positive CHECK (position >= 1),
    CONSTRAINT turns_reply_when_succeeded CHECK (status <> 'succeeded' OR (reply IS NOT NULL AND replied_at IS NOT NULL)),
    CONSTRAINT turns_error_when_failed CHECK (status <> 'failed' OR error_code IS NOT NULL),
    CONSTRAINT turns_undo_known CHECK (undo IN ('possible', 'impossible', 'done')),
    CONSTRAINT turns_undo_impossible_for_a_reason CHECK (undo <> 'impossible' OR undo_reason IS NOT NULL),
    CONSTRAINT turns_history_hash_is_sha256 CHECK (octet_length(history_hash) = 32),
    CONSTRAINT turns_finished_when_final CHECK ((status IN ('queued', 'running')) = (finished_at IS NULL))
);
-- The promise that a session runs one turn at a time is kept here and nowhere else.
CREATE UNIQUE INDEX turns_one_running_idx ON turns (user_id, session_id) WHERE status = 'running';
CREATE INDEX turns_open_idx ON turns (session_id) WHERE status IN ('queued', 'running');
CREATE INDEX turns_queued_idx ON turns (session_id, interrupts DESC, number) WHERE status = 'queued';
CREATE INDEX turns_unsummarized_idx ON turns (session_id, replied_at) WHERE status = 'succeeded' AND summarized_at IS NULL;
CREATE INDEX turns_running_idx ON turns (started_at) WHERE status = 'running';
CREATE INDEX turns_user_idx ON turns (user_id, session_id);
CREATE INDEX turns_history_idx ON turns (user_id, history_hash, id DESC) WHERE history_hash IS NOT NULL;
COMMENT ON TABLE turns IS 'One message and its answer.';
COMMENT ON COLUMN turns.id IS 'UUID v7; jobs, events and calls refer to it, and it is the id of the turn''s trace.';
COMMENT ON COLUMN turns.session_id IS 'The conversation; together with number it names the turn as people do.';
COMMENT ON COLUMN turns.user_id IS 'Owner of the session.';
COMMENT ON COLUMN turns.number IS 'Position in the session, from 1, without gaps; a fork continues from its parent''s number.';
COMMENT ON COLUMN turns.idempotency_key IS 'A second enqueue with the same key returns this turn.';
COMMENT ON COLUMN turns.message IS 'The user''s text as typed.';
COMMENT ON COLUMN turns.ui_changes IS 'What the user changed outside the chat before this message: [{action, entity_type, entity_id, label, data?}].';
COMMENT ON COLUMN turns.mentioned_entities IS 'Rows the user pointed at: [{ref_type, uuid, label, data?}].';
COMMENT ON COLUMN turns.answer IS 'The option that the user clicked: {question_id, option_id}; null if none was.';
COMMENT ON COLUMN turns.mode IS 'quick, plan or create.';
COMMENT ON COLUMN turns.status IS 'Status of the turn; succeeded as soon as the reply is committed.';
COMMENT ON COLUMN turns.interrupts IS 'Precedes other queued turns, because it was sent with if_busy = interrupt.';
COMMENT ON COLUMN turns.current_node IS 'The node that runs now or next.';
COMMENT ON COLUMN turns.position IS 'The fence: number of the next decision, from 1. Only the job that carries it may commit.';
COMMENT ON COLUMN turns.goal IS 'The plan''s goal.';
COMMENT ON COLUMN turns.reply IS 'What the user was told.';
COMMENT ON COLUMN turns.inputs_applied_at IS 'When ui_changes and mentioned_entities entered the registry; they are applied once.';
COMMENT ON COLUMN turns.replied_at IS 'When the reply was committed.';
COMMENT ON COLUMN turns.summarized_at IS 'When it was summarized; the next turn waits for this, 3 s at most.';
COMMENT ON COLUMN turns.error_code IS 'Why it failed: model_auth, model_unavailable, model_refused, invalid_output, context_overflow, cancelled, script_exhausted, limit_exceeded, timed_out, internal.';
COMMENT ON COLUMN turns.error_message IS 'The same as a sentence for the user.';
COMMENT ON COLUMN turns.undo IS 'Whether its writes can be undone: possible, impossible (undo_reason says why) or done; null if it wrote nothing. Only the attempt shows whether the rows are still as it left them.';
COMMENT ON COLUMN turns.undo_reason IS 'Why it cannot be undone, as a sentence for the user.';
COMMENT ON COLUMN turns.undoes IS 'The turn that this one undoes; null for all others.';
COMMENT ON COLUMN turns.undone_by IS 'The turn that undid this one; null while its writes stand.';
COMMENT ON COLUMN turns.created_at IS 'When it was enqueued.';
COMMENT ON COLUMN turns.started_at IS 'When it started to run.';
COMMENT ON COLUMN turns.finished_at IS 'When status became final.';
COMMENT ON COLUMN turns.history_hash IS 'SHA-256 of all messages that a client of the OpenAI protocol sent, of which this is the last; null for other turns.';
COMMENT ON COLUMN turns.said IS 'The reply''s text so far when the turn was cancelled; null if there was none.';

-- A reply's pieces are deleted with the turn's end. Where a user's rows are moved, what a turn had said comes along as it is.
-- +goose StatementBegin
CREATE FUNCTION turn_said() RETURNS trigger
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
BEGIN
    NEW.said := (
        SELECT nullif(string_agg(e.data ->> 'text', '' ORDER BY e.seq), '')
        FROM turn_events AS e
        WHERE e.turn_id = NEW.id AND e.type = 'reply.delta'
          AND NOT EXISTS (SELECT FROM turn_events AS r WHERE r.turn_id = NEW.id AND r.type = 'reply.reset' AND r.seq > e.seq)
    );
    RETURN NEW;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION turn_said IS 'Stores the reply''s text so far when a turn is cancelled.';

CREATE TRIGGER turn_said BEFORE UPDATE ON turns FOR EACH ROW
WHEN (NEW.status = 'cancelled' AND OLD.status = 'running' AND current_setting('alfred.moving', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION turn_said();

CREATE TABLE node_runs (
    turn_id      uuid        NOT NULL,
    user_id      uuid        NOT NULL,
    position     integer     NOT NULL,
    node         text        NOT NULL,
    step         integer,
    call         integer     NOT NULL DEFAULT 1,
    output       jsonb       NOT NULL,
    river_job_id bigint,
    llm_call_id  uuid,
    duration_ms  integer     NOT NULL DEFAULT 0,
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT node_runs_pkey PRIMARY KEY (turn_id, position, user_id),
    CONSTRAINT node_runs_turn_fkey FOREIGN KEY (turn_id, user_id) REFERENCES turns (id, user_id) ON DELETE CASCADE,
    CONSTRAINT node_runs_node_known CHECK (node IN ('understand', 'think', 'act', 'reply', 'summarize'))
);
COMMENT ON TABLE node_runs IS 'One row per decision, with the node''s output: the lasting record of jobs, which River prunes.';
COMMENT ON COLUMN node_runs.turn_id IS 'The turn it belongs to; turns.position is the position of the next row.';
COMMENT ON COLUMN node_runs.user_id IS 'Owner of the turn.';
COMMENT ON COLUMN node_runs.position IS 'Which decision of the turn, from 1.';
COMMENT ON COLUMN node_runs.node IS 'understand, think, act, reply or summarize.';
COMMENT ON COLUMN node_runs.step IS 'The plan''s step, from 1; null outside act.';
COMMENT ON COLUMN node_runs.call IS 'Which decision of this node (of this step, for act), from 1.';
COMMENT ON COLUMN node_runs.output IS 'The node''s checked output.';
COMMENT ON COLUMN node_runs.river_job_id IS 'The River job whose commit wrote this row; River may have pruned it.';
COMMENT ON COLUMN node_runs.llm_call_id IS 'The model call whose answer it is; null if code decided.';
COMMENT ON COLUMN node_runs.duration_ms IS 'Load, run and commit together, in milliseconds.';
COMMENT ON COLUMN node_runs.created_at IS 'When it was committed.';

CREATE TABLE turn_steps (
    turn_id       uuid      NOT NULL,
    user_id       uuid      NOT NULL,
    step          integer   NOT NULL,
    step_type     step_type NOT NULL,
    subdomain     text      NOT NULL,
    description   text      NOT NULL,
    refs          text[]    NOT NULL DEFAULT '{}',
    needs         text      NOT NULL DEFAULT 'refs',
    calls jsonb,
    schema_tables text[]    NOT NULL DEFAULT '{}',
    outcome       step_outcome,
    summary       text,
    conclusions   text,
    note          text,
    CONSTRAINT turn_steps_pkey PRIMARY KEY (turn_id, step, user_id),
    CONSTRAINT turn_steps_turn_fkey FOREIGN KEY (turn_id, user_id) REFERENCES turns (id, user_id) ON DELETE CASCADE,
    CONSTRAINT turn_steps_step_positive CHECK (step >= 1),
    CONSTRAINT turn_steps_needs_known CHECK (needs IN ('refs', 'rows'))
);
COMMENT ON TABLE turn_steps IS 'The plan of a turn and how each step ended.';
COMMENT ON COLUMN turn_steps.turn_id IS 'The turn whose plan this is.';
COMMENT ON COLUMN turn_steps.user_id IS 'Owner of the turn.';
COMMENT ON COLUMN turn_steps.step IS 'From 1; a replan continues the numbering.';
COMMENT ON COLUMN turn_steps.step_type IS 'What the step may do.';
COMMENT ON COLUMN turn_steps.subdomain IS 'The subdomain of the declaration, which says which tables the step may touch.';
COMMENT ON COLUMN turn_steps.description IS 'What it must do, in Think''s words.';
COMMENT ON COLUMN turn_steps.refs IS 'Refs that Think named for the step; their rows are loaded before it when needs is rows.';
COMMENT ON COLUMN turn_steps.needs IS 'refs: the refs suffice. rows: their data must be loaded.';
COMMENT ON COLUMN turn_steps.calls IS 'The calls, [{tool, args}], that the plan wrote out for the step or that an earlier step''s answer held, step_complete among those; code carries them out. Null where Act decides.';
COMMENT ON COLUMN turn_steps.schema_tables IS 'Further tables whose columns Act asked to see.';
COMMENT ON COLUMN turn_steps.outcome IS 'Null until the step has ended.';
COMMENT ON COLUMN turn_steps.summary IS 'Its result, on one line.';
COMMENT ON COLUMN turn_steps.conclusions IS 'What an analyze step found.';
COMMENT ON COLUMN turn_steps.note IS 'A hint for the next step.';

CREATE TABLE feedback (
    turn_id    uuid        NOT NULL,
    session_id uuid        NOT NULL,
    user_id    uuid        NOT NULL,
    rating     text        NOT NULL,
    text       text        NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT feedback_pkey PRIMARY KEY (turn_id, user_id),
    CONSTRAINT feedback_turn_fkey FOREIGN KEY (turn_id, user_id) REFERENCES turns (id, user_id) ON DELETE CASCADE,
    CONSTRAINT feedback_session_fkey FOREIGN KEY (session_id, user_id) REFERENCES sessions (id, user_id) ON DELETE CASCADE,
    CONSTRAINT feedback_rating_known CHECK (rating IN ('up', 'down')),
    CONSTRAINT feedback_text_length CHECK (char_length(text) <= 4000)
);
CREATE INDEX feedback_session_idx ON feedback (session_id);
COMMENT ON TABLE feedback IS 'Feedback on replies. It names the turn, whose message, prompts and rows can then be inspected.';
COMMENT ON COLUMN feedback.turn_id IS 'The turn whose reply it is about; one per turn, the newest counts.';
COMMENT ON COLUMN feedback.session_id IS 'Its conversation.';
COMMENT ON COLUMN feedback.user_id IS 'Owner of the turn, who gave it.';
COMMENT ON COLUMN feedback.rating IS 'up or down.';
COMMENT ON COLUMN feedback.text IS 'Why, in the person''s words; may be empty.';
COMMENT ON COLUMN feedback.created_at IS 'When it was first given.';
COMMENT ON COLUMN feedback.updated_at IS 'When it was last changed.';

-- +goose Down
DROP TABLE feedback;
DROP TABLE turn_steps;
DROP TABLE node_runs;
DROP TRIGGER turn_said ON turns;
DROP FUNCTION turn_said;
DROP TABLE turns;
DROP TABLE sessions;
DROP TYPE step_outcome;
DROP TYPE step_type;
DROP TYPE turn_status;
