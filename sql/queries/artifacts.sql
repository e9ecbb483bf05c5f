-- ArtifactInsert adds the next version of each; refs and contents go in pairs.
-- name: ArtifactInsert :exec
INSERT INTO artifacts (session_id, ref, version, content, turn_number, step)
SELECT @session_id::uuid, n.ref,
       1 + coalesce((SELECT max(a.version) FROM artifacts AS a WHERE a.session_id = @session_id::uuid AND a.ref = n.ref), 0),
       n.content, @turn_number::int, sqlc.narg(step)::int
FROM (SELECT unnest(@refs::text[]) AS ref, unnest(@contents::jsonb[]) AS content) AS n;

-- ArtifactListCurrent is the newest content of each of the refs.
-- name: ArtifactListCurrent :many
SELECT DISTINCT ON (ref) ref, version, content
FROM artifacts
WHERE session_id = @session_id AND ref = ANY (@refs::text[])
ORDER BY ref, version DESC;

-- ArtifactListNewest returns the newest content of drafts, and of what was saved in the given turn.
-- name: ArtifactListNewest :many
SELECT DISTINCT ON (a.ref) a.ref, a.content
FROM artifacts AS a
JOIN entity_refs AS e ON e.session_id = a.session_id AND e.ref = a.ref
WHERE a.session_id = @session_id
  AND a.ref = ANY(@refs::text[])
  AND (e.state = 'pending' OR (e.state = 'promoted' AND e.turn_promoted = @turn_number::int))
ORDER BY a.ref, a.version DESC;
