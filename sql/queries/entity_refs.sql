-- EntityList returns the registry as the API shows it, with tiers as of the session's last turn or, if one is named, as it was
-- when that turn had ended.
-- name: EntityList :many
SELECT e.ref, e.entity_type, e.label, e.action, e.state, e.tier, coalesce(e.active_reason, e.excluded_reason) AS reason, e.turn_created, e.turn_last_ref,
       (CASE WHEN e.state IN ('stored', 'promoted') THEN coalesce(e.entity_id, '') ELSE '' END)::text AS key
FROM (
    SELECT v.* FROM v_entities AS v WHERE v.session_id = @session_id AND sqlc.narg(turn_number)::int IS NULL
    UNION ALL
    SELECT a.* FROM registry_at(@session_id::uuid, sqlc.narg(turn_number)::int) AS a WHERE sqlc.narg(turn_number)::int IS NOT NULL) AS e
WHERE e.tier <> 'hidden'
  AND (sqlc.narg(after_ref)::text IS NULL
       OR (tier_rank(e.tier), e.entity_type, e.turn_created, NOT starts_with(e.ref, 'gen_'), e.number)
        > (tier_rank(@after_tier::text), @after_type::text, @after_turn::int,
           NOT starts_with(sqlc.narg(after_ref)::text, 'gen_'), substring(sqlc.narg(after_ref)::text FROM '[0-9]+$')::bigint))
ORDER BY tier_rank(e.tier), e.entity_type, e.turn_created, NOT starts_with(e.ref, 'gen_'), e.number
LIMIT @page_size;

-- EntityRefClear removes everything but drafts from view and ends retentions and exclusions.
-- name: EntityRefClear :execrows
WITH cleared AS (
    UPDATE entity_refs AS e
    SET demoted_at_turn        = coalesce(e.demoted_at_turn, @turn_number::int),
        active_reason          = NULL,
        retain_confidence      = NULL,
        pinned                 = false,
        excluded_reason        = NULL,
        excluded_constraint_id = NULL,
        updated_at             = clock_timestamp()
    WHERE e.session_id = @session_id
      AND e.state IN ('stored', 'promoted')
      AND (e.demoted_at_turn IS NULL OR e.active_reason IS NOT NULL OR e.excluded_reason IS NOT NULL OR e.pinned)
    RETURNING e.session_id, e.user_id, e.ref, entity_state(e) AS data
)
INSERT INTO entity_events (session_id, user_id, ref, turn_number, action, actor, data)
SELECT c.session_id, c.user_id, c.ref, @turn_number::int, 'demoted', @actor::text, c.data
FROM cleared AS c;

-- EntityRefCountOlder counts by type the newest refs that have left the window and therefore have no tier, and the refs
-- that never have one: demoted, or known only because other rows reference them. Index-only scans.
-- name: EntityRefCountOlder :many
SELECT o.why::text AS why, o.entity_type::text AS entity_type, count(*)::int AS entities
FROM (
    (SELECT 'older' AS why, e.entity_type FROM entity_refs AS e
     WHERE e.session_id = @session_id AND e.active_turn < @oldest_turn::int
     ORDER BY e.active_turn DESC
     LIMIT @max_refs::int)
    UNION ALL
    (SELECT CASE h.action WHEN 'linked' THEN 'linked' ELSE 'demoted' END, '' FROM entity_refs AS h
     WHERE h.session_id = @session_id AND h.active_turn IS NULL AND h.state NOT IN ('dropped', 'deleted')
     LIMIT @max_refs::int)
) AS o
GROUP BY 1, 2
ORDER BY 1, 2;

-- EntityRefEndExclusions ends the exclusions that came with constraints, in all of the user's sessions.
-- name: EntityRefEndExclusions :many
WITH freed AS (
    UPDATE entity_refs AS e
    SET excluded_reason = NULL, excluded_constraint_id = NULL, updated_at = clock_timestamp()
    WHERE e.excluded_constraint_id = ANY(@constraint_ids::uuid[])
    RETURNING e.session_id, e.user_id, e.ref, entity_state(e) AS data
), event AS (
    INSERT INTO entity_events (session_id, user_id, ref, turn_number, action, actor, data)
    SELECT f.session_id, f.user_id, f.ref, CASE WHEN f.session_id = @session_id::uuid THEN @turn_number::int ELSE s.last_turn END,
           'restored', @actor::text, f.data
    FROM freed AS f
    JOIN sessions AS s ON s.id = f.session_id
)
INSERT INTO decisions (session_id, user_id, turn_id, turn_number, action, ref, reason, actor)
SELECT f.session_id, f.user_id, CASE WHEN f.session_id = @session_id::uuid THEN sqlc.narg(turn_id)::uuid END,
       CASE WHEN f.session_id = @session_id::uuid THEN @turn_number::int ELSE s.last_turn END,
       'expire', f.ref, 'its constraint ended', @actor::text
FROM freed AS f
JOIN sessions AS s ON s.id = f.session_id
RETURNING session_id, ref;

-- EntityRefList returns exactly these refs.
-- name: EntityRefList :many
SELECT to_jsonb(e) AS entry FROM entity_refs AS e WHERE e.session_id = @session_id AND e.ref = ANY(@refs::text[]);

-- EntityRefListByKey returns the refs of rows; types and ids are parallel, in subqueries so that one plan serves all lengths.
-- name: EntityRefListByKey :many
SELECT to_jsonb(e) AS entry FROM entity_refs AS e
WHERE e.session_id = @session_id
  AND (e.entity_type, e.entity_id) IN (SELECT unnest((SELECT @entity_types::text[])), unnest((SELECT @entity_ids::text[])));

-- EntityRefListDecayed returns retained refs neither renewed nor touched since a turn.
-- name: EntityRefListDecayed :many
SELECT to_jsonb(e) AS entry FROM entity_refs AS e
WHERE e.session_id = @session_id
  AND e.active_reason IS NOT NULL
  AND NOT e.pinned
  AND e.turn_last_ref <= @turn_number::int
  AND NOT EXISTS (
      SELECT FROM decisions AS d
      WHERE d.session_id = e.session_id AND d.ref = e.ref AND d.action = 'retain' AND d.turn_number > @turn_number::int)
ORDER BY e.ref;

-- EntityRefListDrafts returns unsaved drafts, oldest first. The condition on active_turn holds for all of them and makes
-- this an index range.
-- name: EntityRefListDrafts :many
SELECT to_jsonb(e) AS entry FROM entity_refs AS e
WHERE e.session_id = @session_id AND e.active_turn >= @turn_number::int AND e.state = 'pending'
ORDER BY e.turn_created, e.created_at, e.ref;

-- EntityRefListInView returns what a prompt may name, with the tier that entities_at assigns as of a turn and its rank: the
-- refs in a tier, those with the given names, keys and labels, and the newest that have left the window. Each part is an
-- index range, and each ref is looked up by its whole key: a generic plan for an unknown LIMIT would estimate the names at
-- a tenth of the session, and read all of it; so would one made while the table was small.
-- name: EntityRefListInView :many
WITH labelled AS (
    SELECT l.ref FROM unnest(@labels::text[]) AS wanted(label)
    CROSS JOIN LATERAL (SELECT r.ref FROM entity_refs AS r
                        WHERE r.session_id = @session_id::uuid AND lower(r.label) = wanted.label LIMIT 100) AS l
    LIMIT 100
), older AS (
    SELECT o.ref FROM entity_refs AS o
    WHERE o.session_id = @session_id::uuid AND o.active_turn < @oldest_turn::int
    ORDER BY o.active_turn DESC
    LIMIT @max_older::int
), keyed AS (
    SELECT k.ref FROM (SELECT unnest(@entity_types::text[]) AS entity_type, unnest(@entity_ids::text[]) AS entity_id) AS wanted
    CROSS JOIN LATERAL (SELECT r.ref FROM entity_refs AS r
                        WHERE r.session_id = @session_id::uuid AND r.user_id = @user_id::uuid
                          AND r.entity_type = wanted.entity_type AND r.entity_id = wanted.entity_id
                        LIMIT 1) AS k
), named AS (
    SELECT v.ref, max(v.tier) AS tier FROM (
        SELECT a.ref, a.tier FROM entities_at(@session_id::uuid, @current_turn::int, @turns_window::int) AS a
        UNION ALL SELECT l.ref, NULL FROM labelled AS l
        UNION ALL SELECT o.ref, NULL FROM older AS o
        UNION ALL SELECT k.ref, NULL FROM keyed AS k
        UNION ALL SELECT unnest(@refs::text[]), NULL) AS v
    GROUP BY v.ref
)
SELECT e.ref, e.entity_type, e.entity_id, e.state, e.action, e.label, e.label_is_placeholder, e.turn_created, e.turn_last_ref,
       e.turn_promoted, e.active_reason, e.retain_confidence, e.pinned, e.excluded_reason, e.demoted_at_turn, e.deleted_at_turn,
       e.loaded, e.row_version, coalesce(n.tier, '')::text AS tier, coalesce(tier_rank(n.tier), 100)::int AS rank
FROM named AS n
CROSS JOIN LATERAL (SELECT r.* FROM entity_refs AS r
                    WHERE r.session_id = @session_id::uuid AND r.user_id = @user_id::uuid AND r.ref = n.ref LIMIT 1) AS e;

-- EntityRefListWords returns what words of a text mean in a session: refs by name, and rows of the given types by key.
-- name: EntityRefListWords :many
SELECT w.ref, w.entity_type, w.entity_id, w.label, w.label_is_placeholder
FROM entity_refs AS w
WHERE w.session_id = @session_id AND w.ref = ANY(@refs::text[])
UNION ALL
SELECT k.ref, k.entity_type, k.entity_id, k.label, k.label_is_placeholder
FROM entity_refs AS k
WHERE k.session_id = @session_id AND k.entity_type = ANY(@entity_types::text[]) AND k.entity_id = ANY(@entity_ids::text[]);

-- EntityRefLock serializes writers of one session's registry until their transactions end, so that two of them neither
-- mint two refs for one row nor lock rows in different orders.
-- name: EntityRefLock :exec
SELECT pg_advisory_xact_lock(hashtextextended(@lock_name::text, 0));

-- EntityRefSuggest returns what a model may have meant by a ref that does not resolve: the most recently touched refs
-- of each type.
-- name: EntityRefSuggest :many
SELECT n.ref, n.entity_type, n.label, n.label_is_placeholder, n.state
FROM (SELECT unnest(@entity_types::text[]) AS entity_type) AS t
CROSS JOIN LATERAL (
    SELECT e.ref, e.entity_type, e.label, e.label_is_placeholder, e.state, e.turn_last_ref
    FROM entity_refs AS e
    WHERE e.session_id = @session_id AND e.entity_type = t.entity_type AND e.state IN ('stored', 'pending', 'promoted')
    ORDER BY e.turn_last_ref DESC, e.ref
    LIMIT 20
) AS n
ORDER BY n.turn_last_ref DESC, n.ref;

-- EntityRefWrite stores changed refs and an event for each (ref -> action) with the row's new state. It returns the rows as
-- EntityRefListInView does for this turn; one without a tier is not in view.
-- name: EntityRefWrite :many
WITH written AS (
    INSERT INTO entity_refs (session_id, user_id, ref, entity_type, entity_id, state, action, label, label_is_placeholder, source_step,
        source_call, turn_created, turn_last_ref, turn_promoted, active_reason, retain_confidence, pinned, excluded_reason,
        excluded_constraint_id, demoted_at_turn, deleted_at_turn, loaded, row_version)
    SELECT @session_id::uuid, (SELECT s.user_id FROM sessions AS s WHERE s.id = @session_id::uuid), p.ref, p.entity_type, p.entity_id, p.state, p.action, p.label, p.label_is_placeholder, p.source_step,
        p.source_call, p.turn_created, p.turn_last_ref, p.turn_promoted, p.active_reason, p.retain_confidence, p.pinned, p.excluded_reason,
        p.excluded_constraint_id, p.demoted_at_turn, p.deleted_at_turn, p.loaded, p.row_version
    FROM jsonb_populate_recordset(NULL::entity_refs, @refs::jsonb) AS p
    ON CONFLICT (session_id, ref, user_id) DO UPDATE SET
        entity_id              = excluded.entity_id,
        state                  = excluded.state,
        action                 = excluded.action,
        label                  = excluded.label,
        label_is_placeholder   = excluded.label_is_placeholder,
        turn_last_ref          = excluded.turn_last_ref,
        turn_promoted          = excluded.turn_promoted,
        active_reason          = excluded.active_reason,
        retain_confidence      = excluded.retain_confidence,
        pinned                 = excluded.pinned,
        excluded_reason        = excluded.excluded_reason,
        excluded_constraint_id = excluded.excluded_constraint_id,
        demoted_at_turn        = excluded.demoted_at_turn,
        deleted_at_turn        = excluded.deleted_at_turn,
        loaded                 = excluded.loaded,
        row_version            = excluded.row_version,
        updated_at             = clock_timestamp()
    RETURNING session_id, user_id, ref, entity_type, entity_id, state, action, label, label_is_placeholder, turn_created, turn_last_ref,
        turn_promoted, active_reason, retain_confidence, pinned, excluded_reason, demoted_at_turn, deleted_at_turn, loaded, row_version,
        active_turn, entity_state(entity_refs) AS data
), noted AS (
    INSERT INTO entity_events (session_id, user_id, ref, turn_number, step, action, actor, data)
    SELECT w.session_id, w.user_id, w.ref, @turn_number::int, sqlc.narg(step)::int, @events::jsonb ->> w.ref, @actor::text, w.data
    FROM written AS w
), seen AS (
    SELECT @turn_number::int AS turn, @turns_window::int AS turns
), placed AS (
    SELECT w.ref, entity_tier(w.state, w.action, w.excluded_reason, w.demoted_at_turn, w.turn_last_ref, w.active_reason, s.turn, s.turns) AS tier
    FROM written AS w
    JOIN seen AS s ON w.active_turn >= s.turn - s.turns
)
SELECT e.ref, e.entity_type, e.entity_id, e.state, e.action, e.label, e.label_is_placeholder, e.turn_created, e.turn_last_ref,
       e.turn_promoted, e.active_reason, e.retain_confidence, e.pinned, e.excluded_reason, e.demoted_at_turn, e.deleted_at_turn,
       e.loaded, e.row_version, coalesce(p.tier, '')::text AS tier, coalesce(tier_rank(p.tier), 100)::int AS rank
FROM written AS e
LEFT JOIN placed AS p ON p.ref = e.ref;

-- EntityRefVersions returns the rows that a session knows, with the versions it has seen.
-- name: EntityRefVersions :many
SELECT e.ref, e.entity_type, e.entity_id::text AS entity_id, e.label, e.row_version::text AS row_version
FROM entity_refs AS e
WHERE e.session_id = @session_id AND e.state IN ('stored', 'promoted') AND e.entity_id IS NOT NULL AND e.row_version IS NOT NULL
ORDER BY e.turn_last_ref DESC, e.ref;
