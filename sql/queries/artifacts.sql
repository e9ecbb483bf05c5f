-- ArtifactInsert adds the next version of each; refs and contents go in pairs.
-- name: ArtifactInsert :exec
INSERT INTO artifacts (session_id, ref, version, content, turn_number, step)
SELECT @session_id::uuid, n.ref,
       1 + coalesce((SELECT max(a.version) FROM artifacts AS a WHERE a.session_id = @session_id::uuid AND a.ref = n.ref), 0),
       n.content, @turn_number::int, sqlc.narg(step)::int
FROM (SELECT unnest(@refs::text[]) AS ref, unnest(@contents::jsonb[]) AS content) AS n;

-- ArtifactListNewest returns the newest content of drafts, and of what was saved in the given turn.
-- name: ArtifactListNewest :many
SELECT DISTINCT ON (a.ref) a.ref, a.content
FROM artifacts AS a
JOIN entity_refs AS e ON e.session_id = a.session_id AND e.ref = a.ref
WHERE a.session_id = @session_id
  AND a.ref = ANY(@refs::text[])
  AND (e.state = 'pending' OR (e.state = 'promoted' AND e.turn_promoted = @turn_number::int))
ORDER BY a.ref, a.version DESC;

-- ArtifactListPending is the newest content of every draft of a session.
-- name: ArtifactListPending :many
SELECT e.ref, a.content
FROM entity_refs AS e
CROSS JOIN LATERAL (
    SELECT v.content FROM artifacts AS v
    WHERE v.session_id = e.session_id AND v.ref = e.ref
    ORDER BY v.version DESC
    LIMIT 1
) AS a
WHERE e.session_id = @session_id AND e.active_turn = 2147483647 AND e.state = 'pending'
ORDER BY e.ref;
