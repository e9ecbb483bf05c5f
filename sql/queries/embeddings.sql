-- EmbeddingComplete notes that all texts have vectors of a model; it returns 0 if that was known.
-- name: EmbeddingComplete :execrows
INSERT INTO embedded_models (model, dimensions) VALUES (@model, @dimensions)
ON CONFLICT (model) DO UPDATE SET dimensions = excluded.dimensions, completed_at = clock_timestamp()
WHERE embedded_models.dimensions <> excluded.dimensions;

-- EmbeddingCount counts a model's embeddings, and the turns that should have one.
-- name: EmbeddingCount :one
SELECT (SELECT count(*) FROM embeddings WHERE model = @model AND dimensions = @dimensions)::bigint AS vectors,
       (SELECT count(*) FROM turns WHERE status = 'succeeded')::bigint AS turns;

-- EmbeddingDelete deletes the embeddings of rows; only one user's, if a user is given.
-- name: EmbeddingDelete :exec
DELETE FROM embeddings
WHERE owner_kind = @owner_kind AND owner_id = ANY (@owner_ids::text[])
  AND (sqlc.narg(user_id)::uuid IS NULL OR user_id = sqlc.narg(user_id)::uuid);

-- EmbeddingForget forgets models other than the given one that were complete and have no embeddings any more.
-- name: EmbeddingForget :exec
DELETE FROM embedded_models AS m
WHERE (m.model <> @model OR m.dimensions <> @dimensions)
  AND NOT EXISTS (SELECT FROM embeddings AS e WHERE e.model = m.model AND e.dimensions = m.dimensions OFFSET 0);

-- EmbeddingHashes returns the text hashes of stored embeddings with their owners; "" for shared ones. The ids are in a
-- subquery so that one plan serves all numbers of them.
-- name: EmbeddingHashes :many
SELECT coalesce(user_id::text, '')::text AS user_id, owner_id, content_hash FROM embeddings
WHERE owner_kind = @owner_kind AND model = @model AND dimensions = @dimensions AND owner_id = ANY (ARRAY(SELECT unnest(@owner_ids::text[])));

-- EmbeddingIncomplete lets a model serve no longer: its embeddings are about to be deleted.
-- name: EmbeddingIncomplete :exec
DELETE FROM embedded_models WHERE model = @model AND dimensions = @dimensions;

-- EmbeddingIndexesDue lists the vector indexes to drop, to make or, after an interrupted build, both.
-- name: EmbeddingIndexesDue :many
SELECT d.name::text AS name, d.stands::boolean AS stands, d.wanted::boolean AS wanted,
       coalesce(d.user_id, '00000000-0000-0000-0000-000000000000')::uuid AS user_id, coalesce(d.model, '')::text AS model, coalesce(d.dimensions, 0)::int AS dimensions
FROM embedding_indexes_due(@more_than::int, @at_most::int) AS d;

-- EmbeddingModels lists the complete models, newest first.
-- name: EmbeddingModels :many
SELECT m.model::text AS model, m.dimensions::int AS dimensions FROM embedding_models() AS m;

-- EmbeddingOthers lists earlier models with embeddings; used marks those with one created within the last hour.
-- name: EmbeddingOthers :many
SELECT model, dimensions, (max(created_at) > clock_timestamp() - interval '1 hour')::bool AS used
FROM embeddings WHERE model <> @model OR dimensions <> @dimensions
GROUP BY model, dimensions ORDER BY model, dimensions;

-- EmbeddingRetire deletes some of a model's embeddings and returns how many.
-- name: EmbeddingRetire :execrows
DELETE FROM embeddings WHERE ctid = ANY (ARRAY(
    SELECT e.ctid FROM embeddings AS e WHERE e.model = @model AND e.dimensions = @dimensions LIMIT @lim));

-- EmbeddingTurn returns the text by which a turn is found once it has succeeded, and the rows that it wrote, including its UI
-- changes; types and ids are parallel.
-- name: EmbeddingTurn :many
SELECT t.id, t.user_id, t.message, coalesce(t.reply, '')::text AS reply, coalesce(s.response_summary, '')::text AS response_summary,
       (t.status = 'succeeded')::boolean AS succeeded, w.entity_types::text[] AS entity_types, w.entity_ids::text[] AS entity_ids
FROM turns AS t
LEFT JOIN turn_summaries AS s ON s.turn_id = t.id
CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(c.entity_type), '{}') AS entity_types, coalesce(array_agg(c.entity_id), '{}') AS entity_ids
    FROM (SELECT DISTINCT r.entity_type, r.entity_id
          FROM (SELECT v.ref FROM entity_events AS v
                WHERE v.session_id = t.session_id AND v.turn_number = t.number
                  AND v.action IN ('created', 'updated', 'deleted', 'promoted', 'created:user', 'updated:user', 'deleted:user')
                OFFSET 0) AS e
          CROSS JOIN LATERAL (SELECT f.entity_type, f.entity_id FROM entity_refs AS f WHERE f.session_id = t.session_id AND f.ref = e.ref LIMIT 1) AS r
          WHERE r.entity_id IS NOT NULL
          ORDER BY 1, 2) AS c) AS w
WHERE t.id = @turn_id;

-- EmbeddingTurnsMissing returns the texts of the oldest turns after a given one that have no embedding. Each turn is
-- looked up by key (OFFSET 0): where Postgres has not counted the rows yet, it would compare every turn with every other's.
-- name: EmbeddingTurnsMissing :many
SELECT t.id, t.user_id, t.message, coalesce(t.reply, '')::text AS reply, coalesce(s.response_summary, '')::text AS response_summary
FROM turns AS t
LEFT JOIN LATERAL (SELECT u.response_summary FROM turn_summaries AS u WHERE u.turn_id = t.id LIMIT 1) AS s ON true
WHERE t.status = 'succeeded' AND t.id > @after
  AND NOT EXISTS (SELECT FROM embeddings AS e
                  WHERE e.owner_kind = 'turn' AND e.owner_id = t.id::text AND e.model = @model AND e.dimensions = @dimensions OFFSET 0)
ORDER BY t.id
LIMIT @lim;

-- EmbeddingUpsert stores embeddings, given in pgvector's text format. Rows visible to several users have one for each;
-- for other rows, the embedding of an earlier owner is deleted. A user who is being copied to this database brings theirs along.
-- The commit waits for neither disk nor standby: a crash that loses it also loses the end of the job, which is then repeated; a
-- promoted standby may have that end without the embeddings, and the next sweep makes them. The lists are in subqueries so that
-- one plan serves all lengths.
-- name: EmbeddingUpsert :exec
WITH new AS (
    SELECT unnest((SELECT @owner_ids::text[])) AS owner_id, nullif(unnest((SELECT @user_ids::text[])), '')::uuid AS user_id,
           unnest((SELECT @content_hashes::bytea[])) AS content_hash, unnest((SELECT @vectors::text[])) AS embedding,
           unnest((SELECT @contents::text[])) AS content
), moved AS ( -- to another owner
    DELETE FROM embeddings AS e USING new
    WHERE e.owner_kind = @owner_kind AND e.owner_id = new.owner_id AND e.model = @model AND e.user_id IS DISTINCT FROM new.user_id
      AND NOT @several::boolean
)
INSERT INTO embeddings (owner_kind, owner_id, model, user_id, dimensions, content_hash, embedding, search)
SELECT @owner_kind, new.owner_id, @model, new.user_id, @dimensions, new.content_hash, new.embedding::vector,
       CASE WHEN @owner_kind <> 'turn' THEN array_to_tsvector(ARRAY[' ' || coalesce(new.user_id::text, '')]) || to_tsvector('alfred.words', new.content) END
FROM new CROSS JOIN (SELECT set_config('synchronous_commit', 'off', true)) AS relaxed
WHERE NOT EXISTS (SELECT FROM user_places AS p WHERE p.user_id = new.user_id AND p.state IN ('away', 'coming'))
ON CONFLICT (owner_kind, owner_id, model, user_id) DO UPDATE
SET dimensions = excluded.dimensions, content_hash = excluded.content_hash,
    embedding = excluded.embedding, search = excluded.search, created_at = clock_timestamp();

-- EmbeddingUsers lists users by id; if an interval is given, only those who have sent a message within it.
-- name: EmbeddingUsers :many
SELECT u.id FROM users AS u
WHERE u.id > @after
  AND (sqlc.narg(within)::text IS NULL
       OR EXISTS (SELECT FROM sessions AS s WHERE s.user_id = u.id AND s.last_activity_at >= now() - sqlc.narg(within)::text::interval))
ORDER BY u.id
LIMIT @lim;
