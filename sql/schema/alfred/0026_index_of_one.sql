-- A vector index holds one user's vectors, and only users who have very many get one: everybody else's are compared one by one, and
-- storing them costs no graph. That all texts have vectors of a model is therefore said by a row, no longer by an index.

-- +goose Up
CREATE TABLE embedded_models (
    model        text        NOT NULL,
    dimensions   integer     NOT NULL,
    completed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT embedded_models_pkey PRIMARY KEY (model)
);
COMMENT ON TABLE embedded_models IS 'Models whose every text has a vector: those that may serve. A worker notes it.';
COMMENT ON COLUMN embedded_models.model IS 'Which embedder, as in embeddings.';
COMMENT ON COLUMN embedded_models.dimensions IS 'Length of its vectors; one that makes them longer or shorter is another model, and replaces those of the same name.';
COMMENT ON COLUMN embedded_models.completed_at IS 'When the last text had its vector; of several models that may serve, the newest does.';
ALTER TABLE embedded_models ENABLE ROW LEVEL SECURITY; -- and no policy: no tenant reads it

INSERT INTO embedded_models (model, dimensions, completed_at)
SELECT DISTINCT ON (m.model) m.model, m.dimensions, clock_timestamp() - m.age * interval '1 second'
FROM embedding_models() WITH ORDINALITY AS m (model, dimensions, age) ORDER BY m.model, m.age;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION embedding_models() RETURNS TABLE (model text, dimensions integer)
LANGUAGE sql STABLE
SET search_path = alfred, public, pg_temp
AS $$
    SELECT m.model, m.dimensions FROM embedded_models AS m
    -- A worker of the version before deletes an earlier model's vectors and knows nothing of its row. Where nothing is to embed, none has any.
    WHERE NOT EXISTS (SELECT FROM embedded_models AS o WHERE o.model <> m.model)
       OR EXISTS (SELECT FROM embeddings AS e WHERE e.model = m.model AND e.dimensions = m.dimensions OFFSET 0)
    ORDER BY m.completed_at DESC, m.model
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION embedding_models IS 'Models whose every text has a vector, the newest first; of several, those that have any.';

-- +goose StatementBegin
CREATE FUNCTION embedding_index(owner uuid, model text, dimensions integer) RETURNS text
LANGUAGE sql IMMUTABLE
AS $$ SELECT 'embeddings_of_' || md5(owner::text || ' ' || model || ' ' || dimensions) $$;
-- +goose StatementEnd
COMMENT ON FUNCTION embedding_index IS 'What the index of a user''s vectors of a model is called, if there is one.';

-- +goose StatementBegin
CREATE FUNCTION embedding_indexes_due(more_than integer, at_most integer)
RETURNS TABLE (name text, stands boolean, wanted boolean, user_id uuid, model text, dimensions integer)
LANGUAGE sql STABLE
SET search_path = alfred, public, pg_temp
AS $$
    WITH standing AS (
        SELECT c.relname::text AS name, i.indisvalid AS valid FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
        WHERE i.indrelid = 'embeddings'::regclass AND c.relname ~ '^embeddings_(of|hnsw)_' -- hnsw: of earlier versions, with all users' vectors of a model
    ), owners AS (
        SELECT o.user_id, m.model, m.dimensions, o.vectors, embedding_index(o.user_id, m.model, m.dimensions) AS name
        FROM embedded_models AS m
        CROSS JOIN LATERAL (SELECT e.user_id, count(*) AS vectors FROM embeddings AS e
                            WHERE e.model = m.model AND e.dimensions = m.dimensions AND e.user_id IS NOT NULL GROUP BY 1) AS o
    ), large AS ( -- the vectors of one that stands whole count double, so that none comes and goes
        SELECT o.*
        FROM owners AS o
        LEFT JOIN standing AS s ON s.name = o.name AND s.valid
        CROSS JOIN LATERAL (SELECT CASE WHEN s.name IS NULL THEN o.vectors ELSE 2 * o.vectors END AS vectors) AS w
        WHERE w.vectors > embedding_indexes_due.more_than
        ORDER BY w.vectors DESC, o.name LIMIT embedding_indexes_due.at_most
    )
    SELECT coalesce(s.name, l.name), s.name IS NOT NULL, l.name IS NOT NULL, l.user_id, l.model, l.dimensions
    FROM standing AS s FULL JOIN large AS l ON l.name = s.name
    WHERE l.name IS NULL OR s.valid IS NOT TRUE
    ORDER BY l.name IS NOT NULL, 1
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION embedding_indexes_due IS 'Vector indexes that a worker is to drop because they stand and are not wanted, to make because they are wanted and do not stand, or to do both with because building them was interrupted. Wanted is one for each user with more than so many vectors of a complete model, at most so many in all: for those with the most, where what has an index counts double.';
REVOKE EXECUTE ON FUNCTION embedding_index(uuid, text, integer), embedding_indexes_due(integer, integer) FROM PUBLIC;

COMMENT ON TABLE embeddings IS 'Vectors of rows and turns. A user who has very many of a model gets an HNSW index of their own, which a worker makes and drops; all others'' are compared one by one.';

-- The scan of an index goes on until enough rows have passed the filter by kind.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION recall_nearest(vector text, model text, dimensions integer, kinds text[], compared_up_to integer, lim integer)
RETURNS TABLE (owner_kind text, owner_id text, likeness double precision)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = alfred, public, pg_temp
SET plan_cache_mode = force_custom_plan -- a user with few vectors and one with many want other plans
AS $$
DECLARE
    me     uuid   := tenant_id();
    wanted vector := recall_nearest.vector::vector; -- once, not at each row
BEGIN
    IF wanted IS NULL THEN
        RETURN;
    ELSIF NOT EXISTS (SELECT FROM pg_index AS i
                      WHERE i.indexrelid = to_regclass(embedding_index(me, recall_nearest.model, recall_nearest.dimensions)) AND i.indisvalid) THEN
        RETURN QUERY
        SELECT n.owner_kind, n.owner_id, 1 - n.distance
        FROM (SELECT e.owner_kind, e.owner_id, e.embedding <=> wanted AS distance FROM embeddings AS e
              WHERE e.user_id = me AND e.model = recall_nearest.model AND e.dimensions = recall_nearest.dimensions
                AND e.owner_kind = ANY (recall_nearest.kinds)
              ORDER BY 3 LIMIT recall_nearest.lim) AS n;
        RETURN;
    END IF;
    PERFORM set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', '200', true),
            set_config('hnsw.max_scan_tuples', '100000', true);
    RETURN QUERY EXECUTE format( -- with the user and the model as literals, by which the index is known
        'SELECT e.owner_kind, e.owner_id, 1 - (e.embedding::vector(%1$s) <=> $1) FROM embeddings AS e
         WHERE e.user_id = %2$L AND e.model = %3$L AND e.dimensions = %1$s AND e.owner_kind = ANY ($3)
         ORDER BY e.embedding::vector(%1$s) <=> $1 LIMIT $2',
        recall_nearest.dimensions, me, recall_nearest.model)
    USING wanted, recall_nearest.lim, recall_nearest.kinds;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION recall_nearest IS 'The tenant''s rows and turns whose vectors are nearest to one, with the cosine between them; none without a vector. compared_up_to counts for nothing: programs of the version before pass it.';

-- +goose Down
-- Which models are complete is forgotten with the table: the older program's next sweep makes its model's index again, and with it the model complete.
-- +goose StatementBegin
DO $$
DECLARE
    one regclass;
BEGIN
    FOR one IN SELECT i.indexrelid FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
                 WHERE i.indrelid = 'embeddings'::regclass AND c.relname LIKE 'embeddings\_of\_%' LOOP
        EXECUTE format('DROP INDEX %s', one);
    END LOOP;
END
$$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION recall_nearest(vector text, model text, dimensions integer, kinds text[], compared_up_to integer, lim integer)
RETURNS TABLE (owner_kind text, owner_id text, likeness double precision)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = alfred, public, pg_temp
SET plan_cache_mode = force_custom_plan -- a user with few vectors and one with many want other plans
AS $$
DECLARE
    me     uuid   := tenant_id();
    wanted vector := recall_nearest.vector::vector; -- once, not at each row
BEGIN
    IF wanted IS NULL THEN
        RETURN;
    ELSIF (SELECT c.reltuples FROM pg_class AS c WHERE c.oid = 'embeddings'::regclass) BETWEEN 1 AND recall_nearest.compared_up_to -- all together have no more
          OR NOT EXISTS (SELECT FROM embeddings AS e WHERE e.user_id = me AND e.model = recall_nearest.model
                         LIMIT 1 OFFSET recall_nearest.compared_up_to) THEN
        RETURN QUERY
        SELECT n.owner_kind, n.owner_id, 1 - n.distance
        FROM (SELECT e.owner_kind, e.owner_id, e.embedding <=> wanted AS distance FROM embeddings AS e
              WHERE e.user_id = me AND e.model = recall_nearest.model AND e.dimensions = recall_nearest.dimensions
                AND e.owner_kind = ANY (recall_nearest.kinds)
              ORDER BY 3 LIMIT recall_nearest.lim) AS n;
        RETURN;
    END IF;
    PERFORM set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', '200', true),
            set_config('hnsw.max_scan_tuples', '100000', true);
    RETURN QUERY EXECUTE format(
        'SELECT e.owner_kind, e.owner_id, 1 - (e.embedding::vector(%1$s) <=> $1) FROM embeddings AS e
         WHERE e.user_id = $2 AND e.model = %2$L AND e.dimensions = %1$s AND e.owner_kind = ANY ($4)
         ORDER BY e.embedding::vector(%1$s) <=> $1 LIMIT $3',
        recall_nearest.dimensions, recall_nearest.model)
    USING wanted, me, recall_nearest.lim, recall_nearest.kinds;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION recall_nearest IS 'The tenant''s rows and turns whose vectors are nearest to one, with the cosine between them; none without a vector.';
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION embedding_models() RETURNS TABLE (model text, dimensions integer)
LANGUAGE sql STABLE
SET search_path = alfred, public, pg_temp
AS $$
    SELECT d.named ->> 'model', (d.named ->> 'dimensions')::integer
    FROM pg_index AS i
    JOIN pg_class AS c ON c.oid = i.indexrelid
    CROSS JOIN LATERAL (SELECT obj_description(c.oid, 'pg_class')::jsonb AS named) AS d
    -- One that a crash left without its comment names no model; the next sweep makes it anew.
    WHERE i.indrelid = 'embeddings'::regclass AND i.indisvalid AND c.relname LIKE 'embeddings\_hnsw\_%' AND d.named ? 'model'
    ORDER BY c.oid DESC
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION embedding_models IS 'Models whose every text has a vector, the newest first: those whose index stands. A worker makes it then, and the comment on it names the model.';
COMMENT ON TABLE embeddings IS 'Vectors of rows and turns. Each (model, dimensions) gets a partial HNSW index when the worker first uses it.';
DROP FUNCTION embedding_indexes_due(integer, integer);
DROP FUNCTION embedding_index(uuid, text, integer);
DROP TABLE embedded_models;
