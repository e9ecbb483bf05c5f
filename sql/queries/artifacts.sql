-- ArtifactListCurrent is the newest content of each of the refs.
-- name: ArtifactListCurrent :many
SELECT DISTINCT ON (ref) ref, version, content
FROM artifacts
WHERE session_id = @session_id AND ref = ANY (@refs::text[])
ORDER BY ref, version DESC;
