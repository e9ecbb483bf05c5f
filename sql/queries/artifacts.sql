-- ArtifactGet returns one version of a draft, the newest if none is given.
-- name: ArtifactGet :one
SELECT e.ref, e.entity_type, e.entity_id, e.label, e.state, a.version, a.content
FROM entity_refs AS e
JOIN artifacts AS a ON a.session_id = e.session_id AND a.ref = e.ref
WHERE e.session_id = @session_id AND e.ref = @ref AND (sqlc.narg(version)::int IS NULL OR a.version = sqlc.narg(version)::int)
ORDER BY a.version DESC
LIMIT 1;

-- ArtifactInsert adds the next version of each; refs and contents are parallel.
-- name: ArtifactInsert :exec
INSERT INTO artifacts (session_id, user_id, ref, version, content, turn_number, step)
SELECT @session_id::uuid, (SELECT s.user_id FROM sessions AS s WHERE s.id = @session_id::uuid), n.ref,
       1 + coalesce((SELECT max(a.version) FROM artifacts AS a WHERE a.session_id = @session_id::uuid AND a.ref = n.ref), 0),
       n.content, @turn_number::int, sqlc.narg(step)::int
FROM (SELECT unnest(@refs::text[]) AS ref, unnest(@contents::jsonb[]) AS content) AS n;

-- ArtifactListNewest returns the newest content of drafts, and of drafts saved in the given turn.
-- name: ArtifactListNewest :many
SELECT DISTINCT ON (a.ref) a.ref, a.content
FROM artifacts AS a
JOIN entity_refs AS e ON e.session_id = a.session_id AND e.ref = a.ref
WHERE a.session_id = @session_id
  AND a.ref = ANY(@refs::text[])
  AND (e.state = 'pending' OR (e.state = 'promoted' AND e.turn_promoted = @turn_number::int))
ORDER BY a.ref, a.version DESC;

-- ArtifactListPending returns the newest content of every draft in a session.
-- name: ArtifactListPending :many
SELECT e.ref, a.content, a.version
FROM entity_refs AS e
CROSS JOIN LATERAL (
    SELECT v.content, v.version FROM artifacts AS v
    WHERE v.session_id = e.session_id AND v.ref = e.ref
    ORDER BY v.version DESC
    LIMIT 1
) AS a
WHERE e.session_id = @session_id AND e.active_turn = 2147483647 AND e.state = 'pending'
ORDER BY e.ref;

-- ArtifactNewest returns the number of each draft's newest version.
-- name: ArtifactNewest :many
SELECT ref, max(version)::int AS version FROM artifacts WHERE session_id = @session_id AND ref = ANY(@refs::text[]) GROUP BY ref;

-- ArtifactVersions lists a draft's versions, newest first. A version without a step is the user's own.
-- name: ArtifactVersions :many
SELECT a.version, a.turn_number, (CASE WHEN a.step IS NULL THEN 'user' ELSE 'assistant' END)::text AS actor, a.created_at
FROM artifacts AS a
WHERE a.session_id = @session_id AND a.ref = @ref
ORDER BY a.version DESC
LIMIT @page_size;
