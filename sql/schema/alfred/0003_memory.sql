-- What a session remembers beyond its rows: decisions, constraints, questions, summaries.

-- +goose Up

CREATE TABLE decisions (
    id          uuid        NOT NULL DEFAULT uuid_v7(),
    session_id  uuid        NOT NULL,
    user_id     uuid        NOT NULL,
    turn_id     uuid,
    turn_number integer     NOT NULL,
    action      text        NOT NULL,
    ref         text,
    reason      text        NOT NULL DEFAULT '',
    actor       text        NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT decisions_pkey PRIMARY KEY (id, user_id),
    CONSTRAINT decisions_session_fkey FOREIGN KEY (session_id, user_id) REFERENCES sessions (id, user_id) ON DELETE CASCADE,
    CONSTRAINT decisions_turn_fkey FOREIGN KEY (turn_id, user_id) REFERENCES turns (id, user_id) ON DELETE CASCADE,
    CONSTRAINT decisions_action_known CHECK (action IN ('retain', 'demote', 'forget', 'exclude', 'clear_all', 'expire')),
    CONSTRAINT decisions_actor_known CHECK (actor IN ('assistant', 'user', 'system')),
    CONSTRAINT decisions_reason_length CHECK (char_length(reason) <= 1000),
    CONSTRAINT decisions_ref_unless_clear_all CHECK ((action = 'clear_all') = (ref IS NULL))
);
CREATE INDEX decisions_session_idx ON decisions (session_id, turn_number DESC, id DESC);
CREATE INDEX decisions_turn_idx ON decisions (turn_id);
COMMENT ON TABLE decisions IS 'The decision log: what was retained, demoted, dropped or excluded, and why.';
COMMENT ON COLUMN decisions.id IS 'UUID v7: the log''s order.';
COMMENT ON COLUMN decisions.session_id IS 'The conversation whose view changed.';
COMMENT ON COLUMN decisions.user_id IS 'Owner of the session.';
COMMENT ON COLUMN decisions.turn_id IS 'The turn that decided; null if the user did it outside a turn.';
COMMENT ON COLUMN decisions.turn_number IS 'Number of that turn.';
COMMENT ON COLUMN decisions.action IS 'retain, demote, forget, exclude, clear_all or expire.';
COMMENT ON COLUMN decisions.ref IS 'The entity; null for clear_all.';
COMMENT ON COLUMN decisions.reason IS 'Why, in the words of whoever decided.';
COMMENT ON COLUMN decisions.actor IS 'assistant, user or system.';
COMMENT ON COLUMN decisions.created_at IS 'When it was decided.';

CREATE TABLE constraints (
    id          uuid        NOT NULL DEFAULT uuid_v7(),
    user_id     uuid        NOT NULL,
    session_id  uuid        NOT NULL,
    text        text        NOT NULL,
    kind        text        NOT NULL,
    value       jsonb       NOT NULL DEFAULT 'null',
    scope       text        NOT NULL DEFAULT 'session',
    source_turn integer     NOT NULL,
    expires_at  timestamptz,
    ended_turn  integer,
    replaced_by uuid,
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT constraints_pkey PRIMARY KEY (id, user_id),
    CONSTRAINT constraints_session_fkey FOREIGN KEY (session_id, user_id) REFERENCES sessions (id, user_id) ON DELETE CASCADE,
    CONSTRAINT constraints_replaced_by_fkey FOREIGN KEY (replaced_by, user_id) REFERENCES constraints (id, user_id) ON DELETE SET NULL (replaced_by),
    CONSTRAINT constraints_text_length CHECK (char_length(text) BETWEEN 1 AND 1000),
    CONSTRAINT constraints_kind_known CHECK (kind IN ('count', 'date_range', 'exclude', 'require', 'budget', 'other')),
    CONSTRAINT constraints_scope_known CHECK (scope IN ('session', 'lasting'))
);
CREATE INDEX constraints_session_idx ON constraints (session_id) WHERE ended_turn IS NULL;
CREATE INDEX constraints_lasting_idx ON constraints (user_id) WHERE scope = 'lasting' AND ended_turn IS NULL;
CREATE INDEX constraints_replaced_by_idx ON constraints (replaced_by) WHERE replaced_by IS NOT NULL;
COMMENT ON TABLE constraints IS 'What the user wants respected, kept as rows so that no summary can lose a number or a date.';
COMMENT ON COLUMN constraints.id IS 'UUID v7; entity_refs.excluded_constraint_id points here.';
COMMENT ON COLUMN constraints.user_id IS 'Who asked.';
COMMENT ON COLUMN constraints.session_id IS 'Where it was asked.';
COMMENT ON COLUMN constraints.text IS 'The constraint in the user''s words.';
COMMENT ON COLUMN constraints.kind IS 'count, date_range, exclude, require, budget or other.';
COMMENT ON COLUMN constraints.value IS 'Its value as JSON: a number, dates, a name.';
COMMENT ON COLUMN constraints.scope IS 'session: this conversation only. lasting: all conversations of the user.';
COMMENT ON COLUMN constraints.source_turn IS 'Number of the turn that stated it.';
COMMENT ON COLUMN constraints.expires_at IS 'When it expires; null for never.';
COMMENT ON COLUMN constraints.ended_turn IS 'Turn in which it ended; null while it holds.';
COMMENT ON COLUMN constraints.replaced_by IS 'The constraint that replaced it.';
COMMENT ON COLUMN constraints.created_at IS 'When it was stored.';

CREATE TABLE questions (
    id               uuid        NOT NULL DEFAULT uuid_v7(),
    session_id       uuid        NOT NULL,
    user_id          uuid        NOT NULL,
    turn_id          uuid        NOT NULL,
    kind             text        NOT NULL,
    payload          jsonb       NOT NULL,
    status           text        NOT NULL DEFAULT 'open',
    answered_by_turn integer,
    created_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT questions_pkey PRIMARY KEY (id, user_id),
    CONSTRAINT questions_session_fkey FOREIGN KEY (session_id, user_id) REFERENCES sessions (id, user_id) ON DELETE CASCADE,
    CONSTRAINT questions_turn_fkey FOREIGN KEY (turn_id, user_id) REFERENCES turns (id, user_id) ON DELETE CASCADE,
    CONSTRAINT questions_kind_known CHECK (kind IN ('clarify', 'disambiguate', 'propose', 'ask_user', 'approve')),
    CONSTRAINT questions_status_known CHECK (status IN ('open', 'answered', 'expired', 'superseded')),
    CONSTRAINT questions_payload_has_text CHECK (payload ? 'text')
);
CREATE UNIQUE INDEX questions_one_open_idx ON questions (session_id, user_id) WHERE status = 'open';
CREATE INDEX questions_turn_idx ON questions (turn_id);
COMMENT ON TABLE questions IS 'Questions of the assistant, at most one open per session.';
COMMENT ON COLUMN questions.id IS 'UUID v7: a session''s newest question is the current one.';
COMMENT ON COLUMN questions.session_id IS 'Where it was asked; at most one is open per session.';
COMMENT ON COLUMN questions.user_id IS 'Owner of the session.';
COMMENT ON COLUMN questions.turn_id IS 'The turn whose reply asked it.';
COMMENT ON COLUMN questions.kind IS 'clarify, disambiguate, propose, ask_user or approve.';
COMMENT ON COLUMN questions.payload IS 'text and options [{id, label, ref?}]; told is the same with refs, as models read it, where it names any; writes [{description, refs, save?}] are what a yes permits; for approve also the tool call and the keys of its rows.';
COMMENT ON COLUMN questions.status IS 'open, answered, expired (3 turns without an answer) or superseded (by a later question, or because its offer is done or gone).';
COMMENT ON COLUMN questions.answered_by_turn IS 'Number of the turn that answered.';
COMMENT ON COLUMN questions.created_at IS 'When it was asked.';

CREATE TABLE turn_summaries (
    turn_id              uuid        NOT NULL,
    session_id           uuid        NOT NULL,
    user_id              uuid        NOT NULL,
    turn_number          integer     NOT NULL,
    user_message         text        NOT NULL,
    goal                 text        NOT NULL DEFAULT '',
    steps                jsonb       NOT NULL DEFAULT '[]',
    curation_summary     text        NOT NULL DEFAULT '',
    retained_refs        text[]      NOT NULL DEFAULT '{}',
    demoted_refs         text[]      NOT NULL DEFAULT '{}',
    excluded_refs        text[]      NOT NULL DEFAULT '{}',
    analysis_conclusions text        NOT NULL DEFAULT '',
    response_summary     text        NOT NULL DEFAULT '',
    conversation_phase   text        NOT NULL DEFAULT 'exploring',
    tone                 text        NOT NULL DEFAULT 'collaborative',
    what_user_expressed  text        NOT NULL DEFAULT '',
    what_we_acknowledged text        NOT NULL DEFAULT '',
    natural_next         text        NOT NULL DEFAULT '',
    model                text        NOT NULL DEFAULT 'none',
    created_at           timestamptz NOT NULL DEFAULT clock_timestamp(),
    search               tsvector,
    CONSTRAINT turn_summaries_pkey PRIMARY KEY (turn_id, user_id),
    CONSTRAINT turn_summaries_turn_fkey FOREIGN KEY (turn_id, user_id) REFERENCES turns (id, user_id) ON DELETE CASCADE,
    CONSTRAINT turn_summaries_session_fkey FOREIGN KEY (session_id, user_id) REFERENCES sessions (id, user_id) ON DELETE CASCADE,
    CONSTRAINT turn_summaries_number_key UNIQUE (session_id, turn_number, user_id),
    CONSTRAINT turn_summaries_phase_known CHECK (conversation_phase IN ('exploring', 'narrowing', 'confirming', 'executing', 'reflecting')),
    CONSTRAINT turn_summaries_tone_known CHECK (tone IN ('collaborative', 'informative', 'clarifying'))
);
CREATE INDEX turn_summaries_search_idx ON turn_summaries USING gin (search);
COMMENT ON TABLE turn_summaries IS 'What happened in a turn: facts from rows, and a few words from a model.';
COMMENT ON COLUMN turn_summaries.turn_id IS 'The summarized turn; one summary each.';
COMMENT ON COLUMN turn_summaries.session_id IS 'Copied from the turn, so that a conversation''s summaries can be read without it.';
COMMENT ON COLUMN turn_summaries.user_id IS 'Owner of the session.';
COMMENT ON COLUMN turn_summaries.turn_number IS 'Number of the turn.';
COMMENT ON COLUMN turn_summaries.user_message IS 'What the user wrote.';
COMMENT ON COLUMN turn_summaries.goal IS 'The plan''s goal.';
COMMENT ON COLUMN turn_summaries.steps IS '[{step, step_type, subdomain, description, status, outcome, note, entities_affected[]}].';
COMMENT ON COLUMN turn_summaries.curation_summary IS 'What Understand changed in view, in words.';
COMMENT ON COLUMN turn_summaries.retained_refs IS 'Refs that this turn retained.';
COMMENT ON COLUMN turn_summaries.demoted_refs IS 'Refs that this turn demoted.';
COMMENT ON COLUMN turn_summaries.excluded_refs IS 'Refs the user rejected in this turn.';
COMMENT ON COLUMN turn_summaries.analysis_conclusions IS 'What its analyze steps found.';
COMMENT ON COLUMN turn_summaries.response_summary IS 'What the reply said, shortened: it replaces the reply once the turn has left the window.';
COMMENT ON COLUMN turn_summaries.conversation_phase IS 'exploring, narrowing, confirming, executing or reflecting.';
COMMENT ON COLUMN turn_summaries.tone IS 'collaborative, informative or clarifying.';
COMMENT ON COLUMN turn_summaries.what_user_expressed IS 'What the user wanted, in one line.';
COMMENT ON COLUMN turn_summaries.what_we_acknowledged IS 'How the reply acknowledged it.';
COMMENT ON COLUMN turn_summaries.natural_next IS 'What the user is likely to say next.';
COMMENT ON COLUMN turn_summaries.model IS 'Model that worded it; none if code did.';
COMMENT ON COLUMN turn_summaries.created_at IS 'When it was first written.';
COMMENT ON COLUMN turn_summaries.search IS 'Set by trigger: the words of message, goal, response_summary and reply, and the user''s id after a blank.';

-- A turn is found by what was said in it too, not only by its summary. The words stand beside the summary because a
-- running turn's row is rewritten at every decision. The user's id is a lexeme of its own, so that the index finds one user's turns without visiting everybody's. No word
-- that the parser makes begins with a blank.
-- +goose StatementBegin
CREATE FUNCTION turn_summary_words() RETURNS trigger
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
BEGIN
    SELECT array_to_tsvector(ARRAY[' ' || NEW.user_id])
        || to_tsvector('english', concat_ws(' ', left(NEW.user_message, 8000), left(NEW.goal, 8000), left(NEW.response_summary, 8000), left(t.reply, 8000)))
    INTO NEW.search FROM turns AS t WHERE t.id = NEW.turn_id;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION turn_summary_words IS 'Maintains turn_summaries.search.';

CREATE TRIGGER turn_summaries_words BEFORE INSERT OR UPDATE OF user_message, goal, response_summary ON turn_summaries
    FOR EACH ROW WHEN (current_setting('alfred.moving', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION turn_summary_words();

CREATE TABLE history_summaries (
    id             uuid        NOT NULL DEFAULT uuid_v7(),
    session_id     uuid        NOT NULL,
    user_id        uuid        NOT NULL,
    kind           text        NOT NULL,
    from_turn      integer     NOT NULL,
    to_turn        integer     NOT NULL,
    text           text        NOT NULL,
    model          text        NOT NULL,
    prompt_version text        NOT NULL,
    created_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT history_summaries_pkey PRIMARY KEY (id, user_id),
    CONSTRAINT history_summaries_range_key UNIQUE (session_id, kind, from_turn, to_turn, prompt_version, user_id),
    CONSTRAINT history_summaries_session_fkey FOREIGN KEY (session_id, user_id) REFERENCES sessions (id, user_id) ON DELETE CASCADE,
    CONSTRAINT history_summaries_kind_known CHECK (kind IN ('conversation', 'narrative')),
    CONSTRAINT history_summaries_range_ordered CHECK (1 <= from_turn AND from_turn <= to_turn)
);
CREATE INDEX history_summaries_newest_idx ON history_summaries (session_id, kind, to_turn DESC, id DESC);
COMMENT ON TABLE history_summaries IS 'Older turns in a few sentences. Insert-only: the newest row with the highest to_turn counts; the originals stay.';
COMMENT ON COLUMN history_summaries.id IS 'UUID v7; of several texts that end with the same turn, the newest counts.';
COMMENT ON COLUMN history_summaries.session_id IS 'The conversation whose turns the text replaces.';
COMMENT ON COLUMN history_summaries.user_id IS 'Owner of the session.';
COMMENT ON COLUMN history_summaries.kind IS 'conversation: what was said. narrative: what was done.';
COMMENT ON COLUMN history_summaries.from_turn IS 'First turn covered.';
COMMENT ON COLUMN history_summaries.to_turn IS 'Last turn covered.';
COMMENT ON COLUMN history_summaries.text IS 'The text that replaces them.';
COMMENT ON COLUMN history_summaries.model IS 'Model that wrote it; none for the deterministic fallback.';
COMMENT ON COLUMN history_summaries.prompt_version IS 'Version of the prompt it was written with.';
COMMENT ON COLUMN history_summaries.created_at IS 'When the text was stored.';

-- +goose Down
DROP TABLE history_summaries;
DROP TRIGGER turn_summaries_words ON turn_summaries;
DROP FUNCTION turn_summary_words;
DROP TABLE turn_summaries;
DROP TABLE questions;
DROP TABLE constraints;
DROP TABLE decisions;
