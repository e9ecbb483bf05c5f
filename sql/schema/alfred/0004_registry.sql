-- The registry: refs, their history, the tier each stands in, and content that is not saved yet.

-- +goose Up

CREATE TYPE ref_state AS ENUM ('stored', 'pending', 'promoted', 'dropped', 'deleted');
COMMENT ON TYPE ref_state IS 'stored: a row of the domain. pending: a draft. promoted: a draft that was saved as a row. dropped, deleted: gone from view.';

CREATE TABLE entity_refs (
    session_id             uuid        NOT NULL,
    user_id                uuid        NOT NULL,
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
    number                 bigint      NOT NULL GENERATED ALWAYS AS (substring(ref FROM '\d+$')::bigint) STORED,
    -- Highest turn from which this ref is still in a tier: null in none, the largest
    -- integer where age does not matter. One index range then is the whole active set.
    active_turn            integer GENERATED ALWAYS AS (CASE
        WHEN state IN ('dropped', 'deleted') OR action = 'linked' THEN NULL
        WHEN excluded_reason IS NOT NULL OR state = 'pending' THEN 2147483647
        WHEN demoted_at_turn IS NOT NULL THEN NULL
        WHEN active_reason IS NOT NULL THEN 2147483647
        ELSE turn_last_ref
    END) STORED,
    CONSTRAINT entity_refs_pkey PRIMARY KEY (session_id, ref, user_id),
    CONSTRAINT entity_refs_entity_key UNIQUE (session_id, entity_type, entity_id, user_id),
    CONSTRAINT entity_refs_session_fkey FOREIGN KEY (session_id, user_id) REFERENCES sessions (id, user_id) ON DELETE CASCADE,
    CONSTRAINT entity_refs_excluded_constraint_fkey FOREIGN KEY (excluded_constraint_id, user_id)
        REFERENCES constraints (id, user_id) ON DELETE SET NULL (excluded_constraint_id),
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
CREATE INDEX entity_refs_hidden_idx ON entity_refs (session_id) INCLUDE (state, action) WHERE active_turn IS NULL;
CREATE INDEX entity_refs_row_idx ON entity_refs (user_id, entity_id, entity_type) WHERE entity_id IS NOT NULL;
CREATE INDEX entity_refs_retained_idx ON entity_refs (session_id, turn_last_ref) WHERE active_reason IS NOT NULL;
CREATE INDEX entity_refs_label_idx ON entity_refs (session_id, lower(label));
CREATE INDEX entity_refs_newest_idx ON entity_refs (session_id, turn_last_ref DESC, ref);
CREATE INDEX entity_refs_excluded_constraint_idx ON entity_refs (excluded_constraint_id) WHERE excluded_constraint_id IS NOT NULL;
COMMENT ON TABLE entity_refs IS 'The registry: what a session knows, and the refs by which models name it.';
COMMENT ON COLUMN entity_refs.session_id IS 'The session in which the ref means this.';
COMMENT ON COLUMN entity_refs.user_id IS 'Owner of the session.';
COMMENT ON COLUMN entity_refs.ref IS '{type}_{n} for rows, gen_{type}_{n} for content that was generated as a draft; never reused.';
COMMENT ON COLUMN entity_refs.entity_type IS 'Type name of the domain declaration.';
COMMENT ON COLUMN entity_refs.entity_id IS 'Key of the row (uuid, bigint or text, as text); null while pending. Never shown to a model.';
COMMENT ON COLUMN entity_refs.state IS 'What the ref stands for now.';
COMMENT ON COLUMN entity_refs.action IS 'The last lifecycle fact, set by code from what the database returned.';
COMMENT ON COLUMN entity_refs.label IS 'What people call it.';
COMMENT ON COLUMN entity_refs.label_is_placeholder IS 'Whether no real label is known yet and the ref is used instead.';
COMMENT ON COLUMN entity_refs.source_step IS 'Step of turn_created that generated it.';
COMMENT ON COLUMN entity_refs.source_call IS 'Call of that step: what one generate call made belongs together.';
COMMENT ON COLUMN entity_refs.turn_created IS 'Turn in which the ref was minted.';
COMMENT ON COLUMN entity_refs.turn_last_ref IS 'Turn in which it was last touched.';
COMMENT ON COLUMN entity_refs.turn_promoted IS 'Turn in which the draft became a row.';
COMMENT ON COLUMN entity_refs.active_reason IS 'Why it is kept beyond the window; null when it is not.';
COMMENT ON COLUMN entity_refs.retain_confidence IS 'Understand''s confidence in keeping it, 0 to 1; the lowest gives way first.';
COMMENT ON COLUMN entity_refs.pinned IS 'Kept by the user: its reason does not decay.';
COMMENT ON COLUMN entity_refs.excluded_reason IS 'Why the user excluded it; null if not excluded.';
COMMENT ON COLUMN entity_refs.excluded_constraint_id IS 'The constraint whose end ends the exclusion.';
COMMENT ON COLUMN entity_refs.demoted_at_turn IS 'Out of view since this turn, until touched again.';
COMMENT ON COLUMN entity_refs.deleted_at_turn IS 'Turn in which the row was deleted; resolvable until that turn ends.';
COMMENT ON COLUMN entity_refs.loaded IS 'Column sets read, each with the turn of the last read: {"summary": 3}.';
COMMENT ON COLUMN entity_refs.row_version IS 'The row''s version (xmin) when last read or written: a difference means somebody else changed it.';
COMMENT ON COLUMN entity_refs.created_at IS 'When the ref was minted.';
COMMENT ON COLUMN entity_refs.updated_at IS 'When this row last changed.';
COMMENT ON COLUMN entity_refs.number IS 'Computed: the n of the ref, by which refs of one type are listed.';
COMMENT ON COLUMN entity_refs.active_turn IS 'Computed: highest turn from which it is still in a tier; null in none, the largest integer at any age.';

CREATE TABLE ref_counters (
    session_id  uuid    NOT NULL,
    user_id     uuid    NOT NULL,
    kind        text    NOT NULL,
    entity_type text    NOT NULL,
    last_number integer NOT NULL,
    CONSTRAINT ref_counters_pkey PRIMARY KEY (session_id, kind, entity_type, user_id),
    CONSTRAINT ref_counters_session_fkey FOREIGN KEY (session_id, user_id) REFERENCES sessions (id, user_id) ON DELETE CASCADE,
    CONSTRAINT ref_counters_kind_known CHECK (kind IN ('row', 'gen')),
    CONSTRAINT ref_counters_positive CHECK (last_number >= 1)
);
COMMENT ON TABLE ref_counters IS 'Last number assigned, per kind and type; it only grows, so no ref is ever reused.';
COMMENT ON COLUMN ref_counters.session_id IS 'Refs are numbered separately in each conversation.';
COMMENT ON COLUMN ref_counters.user_id IS 'Owner of the session.';
COMMENT ON COLUMN ref_counters.kind IS 'row: {type}_{n}. gen: gen_{type}_{n}.';
COMMENT ON COLUMN ref_counters.entity_type IS 'Each type counts separately.';
COMMENT ON COLUMN ref_counters.last_number IS 'Highest n assigned so far.';

CREATE TABLE entity_events (
    session_id  uuid        NOT NULL,
    user_id     uuid        NOT NULL,
    id          bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    ref         text        NOT NULL,
    turn_number integer     NOT NULL,
    step        integer,
    action      text        NOT NULL,
    actor       text        NOT NULL,
    data        jsonb       NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT entity_events_pkey PRIMARY KEY (session_id, id, user_id),
    CONSTRAINT entity_events_session_fkey FOREIGN KEY (session_id, user_id) REFERENCES sessions (id, user_id) ON DELETE CASCADE,
    CONSTRAINT entity_events_action_known CHECK (action IN ('read', 'created', 'updated', 'deleted', 'generated', 'linked',
        'created:user', 'updated:user', 'deleted:user', 'mentioned:user',
        'touched', 'promoted', 'retained', 'demoted', 'excluded', 'restored', 'dropped', 'expired', 'relabelled')),
    CONSTRAINT entity_events_actor_known CHECK (actor IN ('assistant', 'user', 'system'))
);
CREATE INDEX entity_events_ref_idx ON entity_events (session_id, ref, turn_number, id);
CREATE INDEX entity_events_turn_idx ON entity_events (session_id, turn_number);
CREATE INDEX entity_events_unsaved_idx ON entity_events (user_id, session_id, ref) WHERE action = 'restored';
COMMENT ON TABLE entity_events IS 'Append-only: every change of the registry, from which it can be derived as of any turn (registry_at).';
COMMENT ON COLUMN entity_events.session_id IS 'The conversation whose registry changed.';
COMMENT ON COLUMN entity_events.user_id IS 'Owner of the session.';
COMMENT ON COLUMN entity_events.id IS 'Order of the changes.';
COMMENT ON COLUMN entity_events.ref IS 'The ref that changed, as in entity_refs.';
COMMENT ON COLUMN entity_events.turn_number IS 'In which turn.';
COMMENT ON COLUMN entity_events.step IS 'In which step; null outside act, 0 for UI changes and mentions.';
COMMENT ON COLUMN entity_events.action IS 'What happened: a lifecycle tag, or touched, promoted, retained, demoted, excluded, restored, dropped, expired, relabelled.';
COMMENT ON COLUMN entity_events.actor IS 'Who caused it: assistant, user or system.';
COMMENT ON COLUMN entity_events.data IS 'The registry row after the change (see entity_state); missing columns were null.';
COMMENT ON COLUMN entity_events.created_at IS 'By the database''s clock, within the commit that changed the ref.';

CREATE TABLE artifacts (
    session_id  uuid        NOT NULL,
    user_id     uuid        NOT NULL,
    ref         text        NOT NULL,
    version     integer     NOT NULL,
    content     jsonb       NOT NULL,
    turn_number integer     NOT NULL,
    step        integer,
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT artifacts_pkey PRIMARY KEY (session_id, ref, version, user_id),
    CONSTRAINT artifacts_ref_fkey FOREIGN KEY (session_id, ref, user_id) REFERENCES entity_refs (session_id, ref, user_id) ON DELETE CASCADE,
    CONSTRAINT artifacts_version_positive CHECK (version >= 1),
    CONSTRAINT artifacts_content_is_object CHECK (jsonb_typeof(content) = 'object')
);
COMMENT ON TABLE artifacts IS 'Drafts, in every version. A draft is never lost, and saving never retypes it.';
COMMENT ON COLUMN artifacts.session_id IS 'Together with ref: the entity_refs row whose versions these are.';
COMMENT ON COLUMN artifacts.user_id IS 'Owner of the session.';
COMMENT ON COLUMN artifacts.ref IS 'The draft''s ref, gen_{type}_{n}; it stays the same when the draft is saved.';
COMMENT ON COLUMN artifacts.version IS 'From 1; the highest is the current draft.';
COMMENT ON COLUMN artifacts.content IS 'The row by column name, with children under the child table''s name and foreign keys as refs.';
COMMENT ON COLUMN artifacts.turn_number IS 'Turn that created this version.';
COMMENT ON COLUMN artifacts.step IS 'Step that created this version; null if the user did.';
COMMENT ON COLUMN artifacts.created_at IS 'By the database''s clock, within the commit that created the version.';

-- +goose StatementBegin
CREATE FUNCTION entity_state(r entity_refs) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT jsonb_strip_nulls(to_jsonb(r) - '{session_id,user_id,active_turn,created_at,updated_at}'::text[])
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION entity_state IS 'What an event stores of a registry row: the columns that are not the event''s own, without nulls.';

-- What workers are told in their environment and what SQL has to know of it too: a person at psql, the page and a model
-- see the same only if they count by the same number.
CREATE TABLE settings (
    name  text NOT NULL,
    value integer NOT NULL,
    CONSTRAINT settings_pkey PRIMARY KEY (name),
    CONSTRAINT settings_name_known CHECK (name IN ('retention_window')),
    CONSTRAINT settings_value_not_negative CHECK (value >= 0)
);
COMMENT ON TABLE settings IS 'Workers'' settings that SQL functions also use, written by the worker that started last.';
COMMENT ON COLUMN settings.name IS 'retention_window: TURN_RETENTION_WINDOW, in turns.';
COMMENT ON COLUMN settings.value IS 'The worker''s value.';

-- +goose StatementBegin
CREATE FUNCTION retention_window() RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = alfred, public, pg_temp
AS $$
    SELECT coalesce((SELECT s.value FROM settings AS s WHERE s.name = 'retention_window'), 2)
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION retention_window IS 'How many turns a ref stays in view untouched: the workers'' TURN_RETENTION_WINDOW, 2 before the first has started.';

-- +goose StatementBegin
CREATE FUNCTION entity_tier(state ref_state, action text, excluded_reason text, demoted_at_turn integer,
                            turn_last_ref integer, active_reason text, current_turn integer, turns_window integer) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE
        WHEN state IN ('dropped', 'deleted') OR action = 'linked' THEN 'hidden'
        WHEN excluded_reason IS NOT NULL THEN 'excluded'
        WHEN state = 'pending' THEN 'generated'
        WHEN demoted_at_turn IS NOT NULL THEN 'hidden'
        WHEN current_turn - turn_last_ref <= turns_window THEN 'recent'
        WHEN active_reason IS NOT NULL THEN 'retained'
        ELSE 'background'
    END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION entity_tier IS 'A ref''s tier: generated, recent, retained, excluded, background or hidden. Decided only here.';

-- +goose StatementBegin
CREATE FUNCTION tier_rank(tier text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT array_position(ARRAY['generated', 'recent', 'retained', 'excluded', 'background', 'hidden'], tier)
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION tier_rank IS 'Display order of the tiers.';

CREATE VIEW v_entities WITH (security_invoker = true) AS
SELECT e.session_id, e.ref, e.entity_type, e.entity_id, e.label, e.state, e.action,
       entity_tier(e.state, e.action, e.excluded_reason, e.demoted_at_turn, e.turn_last_ref, e.active_reason, s.last_turn, (SELECT retention_window())) AS tier,
       e.turn_created, e.turn_last_ref, e.turn_promoted, e.active_reason, e.excluded_reason, e.loaded, e.number
FROM entity_refs AS e
JOIN sessions AS s ON s.id = e.session_id;
COMMENT ON VIEW v_entities IS 'Public API. The registry with each ref''s tier, counted from the session''s last turn.';
COMMENT ON COLUMN v_entities.session_id IS 'The conversation in which the ref means this.';
COMMENT ON COLUMN v_entities.ref IS 'What models and people call it; see entity_refs.ref.';
COMMENT ON COLUMN v_entities.entity_type IS 'Its type, as the domain declares it.';
COMMENT ON COLUMN v_entities.entity_id IS 'Key of the row; null while it is a draft.';
COMMENT ON COLUMN v_entities.label IS 'Its name as last seen.';
COMMENT ON COLUMN v_entities.state IS 'stored, pending, promoted, dropped or deleted.';
COMMENT ON COLUMN v_entities.action IS 'The last lifecycle fact: read, created, updated, generated and so on.';
COMMENT ON COLUMN v_entities.tier IS 'generated, recent, retained, excluded, background or hidden.';
COMMENT ON COLUMN v_entities.turn_created IS 'Number of the turn in which it was first seen.';
COMMENT ON COLUMN v_entities.turn_last_ref IS 'Number of the turn that last touched it.';
COMMENT ON COLUMN v_entities.turn_promoted IS 'Number of the turn in which a draft was saved.';
COMMENT ON COLUMN v_entities.active_reason IS 'Why it is kept in view.';
COMMENT ON COLUMN v_entities.excluded_reason IS 'Why it is excluded.';
COMMENT ON COLUMN v_entities.loaded IS 'Column sets read, each with the turn of the last read: {"summary": 3}.';
COMMENT ON COLUMN v_entities.number IS 'The n of the ref, by which refs of one type are listed.';

-- One index range: active_turn is the largest integer where age does not matter. A function
-- is planned without its arguments; guessing how many refs match, the planner would
-- read a big registry as a whole, by several processes. PL/pgSQL keeps the plan of a
-- connection; a function in plain SQL with settings is planned at every call.
-- +goose StatementBegin
CREATE FUNCTION entities_at(session uuid, current_turn integer, turns_window integer DEFAULT retention_window()) RETURNS SETOF v_entities
LANGUAGE plpgsql STABLE ROWS 100
SET search_path = alfred, public, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET max_parallel_workers_per_gather = 0
AS $$
BEGIN
    RETURN QUERY
    SELECT e.session_id, e.ref, e.entity_type, e.entity_id, e.label, e.state, e.action, x.tier,
           e.turn_created, e.turn_last_ref, e.turn_promoted, e.active_reason, e.excluded_reason, e.loaded, e.number
    FROM entity_refs AS e
    CROSS JOIN LATERAL (SELECT entity_tier(e.state, e.action, e.excluded_reason, e.demoted_at_turn, e.turn_last_ref,
                                           e.active_reason, entities_at.current_turn, entities_at.turns_window) AS tier) AS x
    WHERE e.session_id = entities_at.session
      AND e.active_turn >= entities_at.current_turn - entities_at.turns_window
    ORDER BY tier_rank(x.tier), e.entity_type, NOT starts_with(e.ref, 'gen_'), e.number;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION entities_at IS 'The refs that the given turn sees in a tier (generated, recent, retained, excluded), in display order.';

-- +goose StatementBegin
CREATE FUNCTION active_entities(session uuid, turns_window integer DEFAULT retention_window()) RETURNS SETOF v_entities
LANGUAGE sql STABLE
SET search_path = alfred, public, pg_temp
AS $$
    SELECT a.* FROM sessions AS s, entities_at(s.id, s.last_turn, active_entities.turns_window) AS a
    WHERE s.id = active_entities.session
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION active_entities IS 'Public API. The refs in a tier as of the session''s last turn, in display order.';

-- +goose StatementBegin
CREATE FUNCTION registry_at(session uuid, turn_number integer) RETURNS SETOF v_entities
LANGUAGE sql STABLE
SET search_path = alfred, public, pg_temp
AS $$
    SELECT registry_at.session, e.ref, e.entity_type, e.entity_id, e.label, e.state, e.action, x.tier,
           e.turn_created, e.turn_last_ref, e.turn_promoted, e.active_reason, e.excluded_reason, e.loaded, e.number
    FROM (
        SELECT DISTINCT ON (v.ref) v.data
        FROM entity_events AS v
        WHERE v.session_id = registry_at.session AND v.turn_number <= registry_at.turn_number
        ORDER BY v.ref, v.id DESC
    ) AS newest
    CROSS JOIN LATERAL jsonb_populate_record(NULL::entity_refs, newest.data) AS e
    CROSS JOIN LATERAL (SELECT entity_tier(e.state, e.action, e.excluded_reason, e.demoted_at_turn, e.turn_last_ref,
                                           e.active_reason, registry_at.turn_number, (SELECT retention_window())) AS tier) AS x
    ORDER BY tier_rank(x.tier), e.entity_type, NOT starts_with(e.ref, 'gen_'), e.number
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION registry_at IS 'Public API. The whole registry as of the end of that turn, from entity_events, in display order.';

-- +goose Down
DROP FUNCTION registry_at;
DROP FUNCTION active_entities;
DROP FUNCTION entities_at;
DROP VIEW v_entities;
DROP FUNCTION tier_rank;
DROP FUNCTION entity_tier;
DROP FUNCTION retention_window;
DROP TABLE settings;
DROP FUNCTION entity_state;
DROP TABLE artifacts;
DROP TABLE entity_events;
DROP TABLE ref_counters;
DROP TABLE entity_refs;
DROP TYPE ref_state;
