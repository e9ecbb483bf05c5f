-- The registry: refs, their history, and content that is not saved yet.

-- +goose Up

CREATE TYPE ref_state AS ENUM ('stored', 'pending', 'promoted', 'dropped', 'deleted');
COMMENT ON TYPE ref_state IS 'stored: a row of the domain. pending: generated, not saved. promoted: was pending, is a row now. dropped, deleted: gone from view.';

CREATE TABLE entity_refs (
    session_id             uuid        NOT NULL,
    ref                    text        NOT NULL,
    entity_type            text        NOT NULL,
    entity_id              text,
    state                  ref_state   NOT NULL,
    action                 text        NOT NULL,
    label                  text        NOT NULL,
    label_is_placeholder   boolean     NOT NULL DEFAULT false,
    source_step            integer,
    source_call            integer,
    turn_created           integer     NOT NULL,
    turn_last_ref          integer     NOT NULL,
    turn_promoted          integer,
    active_reason          text,
    retain_confidence      real,
    pinned                 boolean     NOT NULL DEFAULT false,
    excluded_reason        text,
    excluded_constraint_id uuid,
    demoted_at_turn        integer,
    deleted_at_turn        integer,
    loaded                 jsonb       NOT NULL DEFAULT '{}',
    row_version            text,
    created_at             timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at             timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- Highest turn from which this ref is still in a tier: null in none, the largest
    -- integer where age does not matter. One index range then is the whole active set.
    active_turn            integer GENERATED ALWAYS AS (CASE
        WHEN state IN ('dropped', 'deleted') OR action = 'linked' THEN NULL
        WHEN excluded_reason IS NOT NULL OR state = 'pending' THEN 2147483647
        WHEN demoted_at_turn IS NOT NULL THEN NULL
        WHEN active_reason IS NOT NULL THEN 2147483647
        ELSE turn_last_ref
    END) STORED,
    CONSTRAINT entity_refs_pkey PRIMARY KEY (session_id, ref),
    CONSTRAINT entity_refs_entity_key UNIQUE (session_id, entity_type, entity_id),
    CONSTRAINT entity_refs_session_fkey FOREIGN KEY (session_id) REFERENCES sessions (id) ON DELETE CASCADE,
    CONSTRAINT entity_refs_action_known CHECK (action IN ('read', 'created', 'updated', 'deleted', 'generated', 'linked',
        'created:user', 'updated:user', 'deleted:user', 'mentioned:user')),
    CONSTRAINT entity_refs_pending_has_no_row CHECK ((state = 'pending') <= (entity_id IS NULL)),
    CONSTRAINT entity_refs_stored_has_row CHECK (state NOT IN ('stored', 'promoted', 'deleted') OR entity_id IS NOT NULL),
    CONSTRAINT entity_refs_pending_not_demoted CHECK (state <> 'pending' OR demoted_at_turn IS NULL),
    CONSTRAINT entity_refs_confidence_range CHECK (retain_confidence BETWEEN 0 AND 1),
    CONSTRAINT entity_refs_ref_length CHECK (char_length(ref) BETWEEN 3 AND 100),
    CONSTRAINT entity_refs_label_length CHECK (char_length(label) BETWEEN 1 AND 300),
    CONSTRAINT entity_refs_turns_ordered CHECK (turn_created <= turn_last_ref)
);
CREATE INDEX entity_refs_active_idx ON entity_refs (session_id, active_turn) INCLUDE (entity_type) WHERE active_turn IS NOT NULL;
CREATE INDEX entity_refs_retained_idx ON entity_refs (session_id, turn_last_ref) WHERE active_reason IS NOT NULL;
CREATE INDEX entity_refs_label_idx ON entity_refs (session_id, lower(label));
CREATE INDEX entity_refs_newest_idx ON entity_refs (session_id, turn_last_ref DESC, ref);
COMMENT ON TABLE entity_refs IS 'The registry: what a session knows, and by which name models call it.';
COMMENT ON COLUMN entity_refs.session_id IS 'The session in which the ref means this.';
COMMENT ON COLUMN entity_refs.ref IS '{type}_{n} for rows, gen_{type}_{n} for content not saved when it was made; never reused.';
COMMENT ON COLUMN entity_refs.entity_type IS 'Type name of the domain declaration.';
COMMENT ON COLUMN entity_refs.entity_id IS 'Key of the row (uuid, bigint or text, as text); null while pending. Never shown to a model.';
COMMENT ON COLUMN entity_refs.state IS 'What the ref stands for now.';
COMMENT ON COLUMN entity_refs.action IS 'What last happened to it, set by code from what the database returned.';
COMMENT ON COLUMN entity_refs.label IS 'What people call it.';
COMMENT ON COLUMN entity_refs.label_is_placeholder IS 'No real label is known yet; the ref stands in.';
COMMENT ON COLUMN entity_refs.source_step IS 'Step of turn_created that generated it.';
COMMENT ON COLUMN entity_refs.source_call IS 'Call of that step: what one generate call made belongs together.';
COMMENT ON COLUMN entity_refs.turn_created IS 'Turn in which the ref was minted.';
COMMENT ON COLUMN entity_refs.turn_last_ref IS 'Turn in which it was last touched.';
COMMENT ON COLUMN entity_refs.turn_promoted IS 'Turn in which the draft became a row.';
COMMENT ON COLUMN entity_refs.active_reason IS 'Why it is kept beyond the window; null when it is not.';
COMMENT ON COLUMN entity_refs.retain_confidence IS 'Understand''s confidence in keeping it, 0 to 1; the lowest gives way first.';
COMMENT ON COLUMN entity_refs.pinned IS 'Kept by the user: its reason does not decay.';
COMMENT ON COLUMN entity_refs.excluded_reason IS 'Why the user does not want it considered; null when it may be.';
COMMENT ON COLUMN entity_refs.excluded_constraint_id IS 'The constraint whose end ends the exclusion.';
COMMENT ON COLUMN entity_refs.demoted_at_turn IS 'Out of view since this turn, until touched again.';
COMMENT ON COLUMN entity_refs.deleted_at_turn IS 'Turn in which the row was deleted; resolvable until that turn ends.';
COMMENT ON COLUMN entity_refs.loaded IS 'Column sets read, each with the turn of the last read: {"summary": 3}.';
COMMENT ON COLUMN entity_refs.row_version IS 'The row''s version (xmin) when last read or written: a difference means somebody else changed it.';
COMMENT ON COLUMN entity_refs.created_at IS 'When the ref was minted.';
COMMENT ON COLUMN entity_refs.updated_at IS 'When this row last changed.';
COMMENT ON COLUMN entity_refs.active_turn IS 'Computed: highest turn from which it is still in a tier; null in none, the largest integer at any age.';

CREATE TABLE ref_counters (
    session_id  uuid    NOT NULL,
    kind        text    NOT NULL,
    entity_type text    NOT NULL,
    last_number integer NOT NULL,
    CONSTRAINT ref_counters_pkey PRIMARY KEY (session_id, kind, entity_type),
    CONSTRAINT ref_counters_session_fkey FOREIGN KEY (session_id) REFERENCES sessions (id) ON DELETE CASCADE,
    CONSTRAINT ref_counters_kind_known CHECK (kind IN ('row', 'gen')),
    CONSTRAINT ref_counters_positive CHECK (last_number >= 1)
);
COMMENT ON TABLE ref_counters IS 'Last number given, per kind and type; only grows, so that no ref is ever reused.';
COMMENT ON COLUMN ref_counters.session_id IS 'The session.';
COMMENT ON COLUMN ref_counters.kind IS 'row: {type}_{n}. gen: gen_{type}_{n}.';
COMMENT ON COLUMN ref_counters.entity_type IS 'The type counted.';
COMMENT ON COLUMN ref_counters.last_number IS 'Highest n minted so far.';

CREATE TABLE entity_events (
    session_id  uuid        NOT NULL,
    id          bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    ref         text        NOT NULL,
    turn_number integer     NOT NULL,
    step        integer,
    action      text        NOT NULL,
    actor       text        NOT NULL,
    data        jsonb       NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT entity_events_pkey PRIMARY KEY (session_id, id),
    CONSTRAINT entity_events_session_fkey FOREIGN KEY (session_id) REFERENCES sessions (id) ON DELETE CASCADE,
    CONSTRAINT entity_events_action_known CHECK (action IN ('read', 'created', 'updated', 'deleted', 'generated', 'linked',
        'created:user', 'updated:user', 'deleted:user', 'mentioned:user',
        'touched', 'promoted', 'retained', 'demoted', 'excluded', 'restored', 'dropped', 'expired', 'relabelled')),
    CONSTRAINT entity_events_actor_known CHECK (actor IN ('assistant', 'user', 'system'))
);
CREATE INDEX entity_events_ref_idx ON entity_events (session_id, ref, turn_number, id);
CREATE INDEX entity_events_turn_idx ON entity_events (session_id, turn_number);
COMMENT ON TABLE entity_events IS 'Append-only: every change of the registry. The registry as of any turn follows from it (registry_at).';
COMMENT ON COLUMN entity_events.session_id IS 'The session.';
COMMENT ON COLUMN entity_events.id IS 'Order of the changes.';
COMMENT ON COLUMN entity_events.ref IS 'Which ref changed.';
COMMENT ON COLUMN entity_events.turn_number IS 'In which turn.';
COMMENT ON COLUMN entity_events.step IS 'In which step; null outside act, 0 for what UI changes and mentions brought in.';
COMMENT ON COLUMN entity_events.action IS 'What happened: a lifecycle tag, or touched, promoted, retained, demoted, excluded, restored, dropped, expired, relabelled.';
COMMENT ON COLUMN entity_events.actor IS 'Who caused it: assistant, user or system.';
COMMENT ON COLUMN entity_events.data IS 'The registry row as it stood after the change.';
COMMENT ON COLUMN entity_events.created_at IS 'When it was written.';

CREATE TABLE artifacts (
    session_id  uuid        NOT NULL,
    ref         text        NOT NULL,
    version     integer     NOT NULL,
    content     jsonb       NOT NULL,
    turn_number integer     NOT NULL,
    step        integer,
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT artifacts_pkey PRIMARY KEY (session_id, ref, version),
    CONSTRAINT artifacts_ref_fkey FOREIGN KEY (session_id, ref) REFERENCES entity_refs (session_id, ref) ON DELETE CASCADE,
    CONSTRAINT artifacts_version_positive CHECK (version >= 1),
    CONSTRAINT artifacts_content_is_object CHECK (jsonb_typeof(content) = 'object')
);
COMMENT ON TABLE artifacts IS 'Generated content, every version. A draft is never lost, a save never retyped.';
COMMENT ON COLUMN artifacts.session_id IS 'The session.';
COMMENT ON COLUMN artifacts.ref IS 'The gen_ ref.';
COMMENT ON COLUMN artifacts.version IS 'From 1; the highest is the draft as it stands.';
COMMENT ON COLUMN artifacts.content IS 'The row in the table''s column names, children under the child table''s name, foreign keys as refs.';
COMMENT ON COLUMN artifacts.turn_number IS 'Turn that made this version.';
COMMENT ON COLUMN artifacts.step IS 'Step that made this version; null when the user did.';
COMMENT ON COLUMN artifacts.created_at IS 'When it was made.';

-- +goose Down
DROP TABLE artifacts;
DROP TABLE entity_events;
DROP TABLE ref_counters;
DROP TABLE entity_refs;
DROP TYPE ref_state;
