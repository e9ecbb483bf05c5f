-- Search: words by their rarity (BM25), names by their letters, and vectors. Under row-level security the operators of full text
-- and trigrams cannot use an index, because they are not leakproof; so the searches run as functions of the owner that filter by
-- the tenant themselves.

-- +goose Up

CREATE TABLE embeddings (
    owner_kind   text        NOT NULL,
    owner_id     text        NOT NULL,
    model        text        NOT NULL,
    user_id      uuid,
    dimensions   integer     NOT NULL,
    content_hash bytea       NOT NULL,
    embedding    vector      NOT NULL,
    search       tsvector,
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT embeddings_key UNIQUE NULLS NOT DISTINCT (owner_kind, owner_id, model, user_id),
    CONSTRAINT embeddings_user_fkey FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT embeddings_dimensions_true CHECK (vector_dims(embedding) = dimensions)
);
-- Shared rows have no user, so no primary key can hold one.
ALTER TABLE embeddings REPLICA IDENTITY FULL;
CREATE INDEX embeddings_user_model_idx ON embeddings (user_id, model, owner_kind);
CREATE INDEX embeddings_search_idx ON embeddings USING gin (search);
COMMENT ON TABLE embeddings IS 'Vectors of rows and turns. Each (model, dimensions) gets a partial HNSW index when the worker first uses it.';
COMMENT ON COLUMN embeddings.owner_kind IS 'Entity type, or turn.';
COMMENT ON COLUMN embeddings.owner_id IS 'Key of the row or turn, as text.';
COMMENT ON COLUMN embeddings.model IS 'Which embedder made it; vectors of different models are never compared.';
COMMENT ON COLUMN embeddings.user_id IS 'Whose it is; null for shared reference rows.';
COMMENT ON COLUMN embeddings.dimensions IS 'Length of the vector.';
COMMENT ON COLUMN embeddings.content_hash IS 'SHA-256 of the embedded text: unchanged text is not embedded twice.';
COMMENT ON COLUMN embeddings.embedding IS 'As the embedder returned it; compared by cosine distance.';
COMMENT ON COLUMN embeddings.search IS 'The words of a row''s text, and the user''s id behind a blank (the blank alone where the row is shared); null for turns, whose words stand in turn_summaries.';
COMMENT ON COLUMN embeddings.created_at IS 'When it was stored; a change of the text stores it anew.';

-- +goose StatementBegin
CREATE FUNCTION embedding_models() RETURNS TABLE (model text, dimensions integer)
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

-- +goose StatementBegin
CREATE FUNCTION recall_changes(tables text[]) RETURNS TABLE (changes bigint, horizon text)
LANGUAGE sql VOLATILE
SET search_path = alfred, public, pg_temp
AS $$
    WITH RECURSIVE below AS (
        SELECT t.place, t.name::regclass::oid AS relation FROM unnest(recall_changes.tables) WITH ORDINALITY AS t (name, place)
        UNION
        SELECT b.place, r.relation
        FROM below AS b
        CROSS JOIN LATERAL (
            SELECT i.inhrelid AS relation FROM pg_inherits AS i WHERE i.inhparent = b.relation
            UNION ALL
            SELECT d.refobjid FROM pg_rewrite AS w
            JOIN pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid AND d.refclassid = 'pg_class'::regclass
            WHERE w.ev_class = b.relation) AS r
    )
    SELECT sum(pg_stat_get_tuples_inserted(b.relation) + pg_stat_get_tuples_updated(b.relation) + pg_stat_get_tuples_deleted(b.relation))::bigint,
           pg_snapshot_xmin(pg_current_snapshot())::xid::text
    FROM below AS b GROUP BY b.place ORDER BY b.place
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION recall_changes IS 'How many changes Postgres has counted of each table, of its partitions and of what lies below a view, and the oldest transaction under way: rows that are written from now on have its number or a higher one.';

-- What the ranking rests on, measured in docs/recall.md. Small functions of their own, so that turns and rows are ranked alike;
-- Postgres writes them into the statements that call them.

-- +goose StatementBegin
CREATE FUNCTION recall_lexeme(word text) RETURNS tsquery
LANGUAGE sql IMMUTABLE STRICT
AS $$ SELECT ('''' || replace(replace(word, '\', '\\'), '''', '''''') || '''')::tsquery $$;
-- +goose StatementEnd
COMMENT ON FUNCTION recall_lexeme IS 'The query for one lexeme as it is, whatever characters it has.';

-- +goose StatementBegin
CREATE FUNCTION recall_rarity(texts double precision, holders double precision) RETURNS double precision
LANGUAGE sql IMMUTABLE
AS $$ SELECT ln(1 + (greatest(texts, holders) - holders + 0.5) / (holders + 0.5)) $$;
-- +goose StatementEnd
COMMENT ON FUNCTION recall_rarity IS 'How much a word says that so many of all texts hold: inverse document frequency.';

-- ts_rank of a single lexeme grows with its frequency as 1 + 1/4 + 1/9 ..., times 0.0607927: a saturation that costs no unnesting.
-- +goose StatementBegin
CREATE FUNCTION recall_presence(frequency real, size double precision, average double precision) RETURNS double precision
LANGUAGE sql IMMUTABLE
AS $$ SELECT 2.2 * frequency / (frequency + 0.0607927 * 1.2 * (0.25 + 0.75 * size / greatest(average, 1))) $$;
-- +goose StatementEnd
COMMENT ON FUNCTION recall_presence IS 'How much a text of this size speaks of a word, 1 for once in a text of average size: term frequency as BM25 saturates it (k1 = 1.2, b = 0.75), from ts_rank of that lexeme alone.';

-- +goose StatementBegin
CREATE FUNCTION recall_turns(query text, near uuid[], since timestamptz[], until timestamptz[], session uuid, shown_from integer, beside double precision, day double precision, lim integer)
RETURNS TABLE (turn_id uuid, score double precision)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = alfred, public, pg_temp
AS $$
    WITH me AS MATERIALIZED (
        SELECT tenant_id() AS id, recall_lexeme(' ' || tenant_id()) AS lexeme,
               (SELECT coalesce(sum(s.last_turn), 0) FROM sessions AS s WHERE s.user_id = (SELECT tenant_id()))::double precision AS turns
    ),
    asked AS MATERIALIZED (
        SELECT w.word, recall_lexeme(w.word) AS lexeme
        FROM unnest(tsvector_to_array(to_tsvector('english', left(recall_turns.query, 1000)))) AS w (word) LIMIT 24
    ),
    said AS MATERIALIZED ( -- who holds a word: bounded, because a word of so many turns tells none of them apart
        SELECT a.word, a.word AS form, 1.0::double precision AS trust, h.*
        FROM me CROSS JOIN asked AS a
        CROSS JOIN LATERAL (
            SELECT s.session_id, s.turn_number, ts_rank(s.search, a.lexeme) AS frequency, length(s.search) AS size
            FROM turn_summaries AS s WHERE s.search @@ (me.lexeme && a.lexeme) AND s.user_id = me.id LIMIT 4000) AS h
        UNION ALL -- and the few that have been answered a moment ago
        SELECT a.word, a.word, 1.0, t.session_id, t.number, ts_rank(v.search, a.lexeme), length(v.search)
        FROM me CROSS JOIN turns AS t
        CROSS JOIN LATERAL (SELECT to_tsvector('english', concat_ws(' ', left(t.message, 8000), left(t.reply, 8000))) AS search) AS v
        JOIN asked AS a ON v.search @@ a.lexeme
        WHERE t.user_id = me.id AND t.status = 'succeeded' AND t.summarized_at IS NULL
          AND NOT EXISTS (SELECT FROM turn_summaries AS s WHERE s.turn_id = t.id AND s.user_id = me.id)
    ),
    guessed AS MATERIALIZED ( -- a word that nobody ever said is taken for the words most like it that the nearest turns hold
        SELECT u.word, g.form, recall_lexeme(g.form) AS lexeme, 0.8 * g.likeness / max(g.likeness) OVER (PARTITION BY u.word) AS trust
        FROM asked AS u
        CROSS JOIN LATERAL (
            SELECT l.form, similarity(u.word, l.form)::double precision AS likeness
            FROM (SELECT DISTINCT x.lexeme AS form FROM me JOIN turn_summaries AS s ON s.user_id = me.id AND s.turn_id = ANY (recall_turns.near)
                  CROSS JOIN LATERAL unnest(s.search) AS x (lexeme, positions, weights)) AS l
            WHERE similarity(u.word, l.form) >= 0.3 ORDER BY 2 DESC, 1 LIMIT 3) AS g
        WHERE char_length(u.word) > 3 AND u.word !~ '[0-9]' AND NOT EXISTS (SELECT FROM said AS s WHERE s.word = u.word)
    ),
    held AS MATERIALIZED (
        SELECT * FROM said
        UNION ALL
        SELECT g.word, g.form, g.trust, h.*
        FROM me CROSS JOIN guessed AS g
        CROSS JOIN LATERAL (
            SELECT s.session_id, s.turn_number, ts_rank(s.search, g.lexeme) AS frequency, length(s.search) AS size
            FROM turn_summaries AS s WHERE s.search @@ (me.lexeme && g.lexeme) AND s.user_id = me.id LIMIT 4000) AS h
    ),
    forms AS MATERIALIZED (
        SELECT f.word, f.form, f.sizes / f.holders AS size, recall_rarity(me.turns, f.holders) AS rarity, f.holders >= 4000 AND bool_or(f.holders < 4000) OVER () AS idle
        FROM me CROSS JOIN (SELECT h.word, h.form, count(*)::double precision AS holders, sum(h.size)::double precision AS sizes FROM held AS h GROUP BY 1, 2) AS f
    ),
    own AS MATERIALIZED (
        SELECT h.session_id, h.turn_number, sum(h.trust * f.rarity * recall_presence(h.frequency, h.size, a.size)) AS score
        FROM held AS h JOIN forms AS f ON f.word = h.word AND f.form = h.form AND NOT f.idle
        CROSS JOIN (SELECT avg(g.size) AS size FROM forms AS g) AS a
        GROUP BY 1, 2
    ),
    best AS MATERIALIZED (SELECT o.session_id, o.turn_number FROM own AS o ORDER BY o.score DESC, o.turn_number DESC LIMIT 300),
    dated AS MATERIALIZED ( -- a day that the question names counts like a word that its turns hold
        SELECT t.session_id, t.number AS turn_number, recall_turns.day * recall_rarity(me.turns, count(*) OVER ()) AS score
        FROM me JOIN turns AS t ON t.user_id = me.id
        WHERE cardinality(recall_turns.since) > 0
          AND EXISTS (SELECT FROM unnest(recall_turns.since, recall_turns.until) AS d (since, until) WHERE t.created_at >= d.since AND t.created_at < d.until)
    ),
    whole AS (
        SELECT greatest(sum(coalesce(f.rarity, recall_rarity(me.turns, 0))) + coalesce((SELECT max(d.score) FROM dated AS d), 0), 1) AS score
        FROM me CROSS JOIN asked AS a LEFT JOIN (SELECT g.word, max(g.rarity) AS rarity FROM forms AS g GROUP BY 1) AS f ON f.word = a.word
    ),
    ranked AS (
        SELECT c.session_id, c.turn_number,
               coalesce(o.score, 0) + recall_turns.beside * greatest(coalesce(p.score, 0), coalesce(n.score, 0)) + coalesce(d.score, 0) AS score
        FROM (SELECT b.session_id, b.turn_number FROM best AS b UNION SELECT d.session_id, d.turn_number FROM dated AS d) AS c
        LEFT JOIN own AS o ON o.session_id = c.session_id AND o.turn_number = c.turn_number
        LEFT JOIN own AS p ON p.session_id = c.session_id AND p.turn_number = c.turn_number - 1
        LEFT JOIN own AS n ON n.session_id = c.session_id AND n.turn_number = c.turn_number + 1
        LEFT JOIN dated AS d ON d.session_id = c.session_id AND d.turn_number = c.turn_number
        WHERE c.session_id IS DISTINCT FROM recall_turns.session OR c.turn_number < recall_turns.shown_from
        ORDER BY 3 DESC, 2 DESC, 1 LIMIT recall_turns.lim
    )
    SELECT t.id, r.score / w.score
    FROM ranked AS r CROSS JOIN whole AS w
    CROSS JOIN LATERAL (
        SELECT u.id FROM turns AS u
        WHERE u.session_id = r.session_id AND u.number = r.turn_number AND u.user_id = (SELECT tenant_id()) AND u.status = 'succeeded' LIMIT 1) AS t
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION recall_turns IS 'The tenant''s past turns by the question''s words (BM25), a share of the score of the better turn beside each added, and by the days it names; best first, 1 where all of the question is there. near are turns alike by vector, whose words mend misspelt ones; turns of the session from shown_from on are left out.';

-- +goose StatementBegin
CREATE FUNCTION recall_rows(query text, kinds text[], shared boolean, model text, lim integer)
RETURNS TABLE (owner_kind text, owner_id text, score double precision)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = alfred, public, pg_temp
AS $$
    WITH me AS MATERIALIZED (
        SELECT recall_lexeme(' ' || CASE WHEN recall_rows.shared THEN '' ELSE tenant_id()::text END) AS lexeme,
               (SELECT count(*) FROM (SELECT FROM embeddings AS e
                                      WHERE NOT recall_rows.shared AND e.user_id = (SELECT tenant_id()) AND e.model = recall_rows.model AND e.owner_kind = ANY (recall_rows.kinds)
                                      UNION ALL
                                      SELECT FROM embeddings AS e
                                      WHERE recall_rows.shared AND e.user_id IS NULL AND e.model = recall_rows.model AND e.owner_kind = ANY (recall_rows.kinds)
                                      LIMIT 10000) AS few)::double precision AS texts
    ),
    asked AS MATERIALIZED (
        SELECT w.word, recall_lexeme(w.word) AS lexeme
        FROM unnest(tsvector_to_array(to_tsvector('english', left(recall_rows.query, 1000)))) AS w (word) LIMIT 24
    ),
    held AS MATERIALIZED (
        SELECT a.word, h.*
        FROM me CROSS JOIN asked AS a
        CROSS JOIN LATERAL (
            SELECT e.owner_kind, e.owner_id, ts_rank(e.search, a.lexeme) AS frequency, length(e.search) AS size
            FROM embeddings AS e
            WHERE e.search @@ (me.lexeme && a.lexeme) AND e.owner_kind = ANY (recall_rows.kinds) AND e.model = recall_rows.model LIMIT 4000) AS h
    ),
    forms AS MATERIALIZED (
        SELECT f.word, f.size, recall_rarity(me.texts, f.holders) AS rarity
        FROM me CROSS JOIN (SELECT h.word, count(*) AS holders, avg(h.size)::double precision AS size FROM held AS h GROUP BY 1) AS f
    ),
    whole AS (
        SELECT greatest(sum(coalesce(f.rarity, recall_rarity(me.texts, 0))), 1) AS score FROM me CROSS JOIN asked AS a LEFT JOIN forms AS f ON f.word = a.word
    )
    SELECT h.owner_kind, h.owner_id, sum(f.rarity * recall_presence(h.frequency, h.size, f.size)) / w.score
    FROM held AS h JOIN forms AS f ON f.word = h.word CROSS JOIN whole AS w
    GROUP BY h.owner_kind, h.owner_id, w.score
    ORDER BY 3 DESC, 1, 2 LIMIT recall_rows.lim
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION recall_rows IS 'The tenant''s rows of the types, or the shared ones, by the question''s words (BM25) in the texts that have vectors of the model; best first, 1 where all of the question is there.';

-- +goose StatementBegin
CREATE FUNCTION recall_names(kinds text[], sources text[], key_columns text[], owner_columns text[], name_columns text[], query text, lim integer)
RETURNS TABLE (owner_kind text, owner_id text, score double precision)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = alfred, public, pg_temp
AS $$
DECLARE
    words text[] := ARRAY(
        SELECT DISTINCT w.word FROM regexp_split_to_table(lower(left(recall_names.query, 1000)), '[^[:alnum:]]+') AS w (word)
        WHERE char_length(w.word) >= 3 AND to_tsvector('english', w.word) <> '' LIMIT 20);
BEGIN
    FOR n IN 1 .. CASE WHEN cardinality(words) > 0 THEN coalesce(cardinality(recall_names.kinds), 0) ELSE 0 END LOOP
        RETURN QUERY EXECUTE format(
            'SELECT $4, r.%2$I::text, sum(strict_word_similarity(w.word, r.%4$I::text))::double precision / cardinality($1)
             FROM unnest($1) AS w (word) JOIN %1$s AS r ON r.%4$I %%>> w.word
             WHERE r.%3$I = $2 GROUP BY r.%2$I ORDER BY 3 DESC, 2 LIMIT $3',
            recall_names.sources[n]::regclass, recall_names.key_columns[n], recall_names.owner_columns[n], recall_names.name_columns[n])
        USING words, tenant_id(), recall_names.lim, recall_names.kinds[n];
    END LOOP;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION recall_names IS 'The tenant''s rows whose name is like any of the words, best first of each type, 1 where all of the question is there; a trigram index on the name serves it. The arrays describe one type at each place. The role that owns this function must be able to read the tables.';

-- Up to a number of a user's vectors all are compared. Above, the HNSW index of the model answers: faster, but it loses some of
-- what other users' vectors crowd out. Its scan goes on until enough rows have passed the filter by user.
-- +goose StatementBegin
CREATE FUNCTION recall_nearest(vector text, model text, dimensions integer, kinds text[], compared_up_to integer, lim integer)
RETURNS TABLE (owner_kind text, owner_id text, likeness double precision)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = alfred, public, pg_temp
AS $$
BEGIN
    IF recall_nearest.vector IS NULL THEN
        RETURN;
    ELSIF NOT EXISTS (SELECT FROM embeddings AS e WHERE e.user_id = tenant_id() AND e.model = recall_nearest.model
                      LIMIT 1 OFFSET recall_nearest.compared_up_to) THEN
        RETURN QUERY
        SELECT e.owner_kind, e.owner_id, 1 - (e.embedding <=> recall_nearest.vector::vector) FROM embeddings AS e
        WHERE e.user_id = (SELECT tenant_id()) AND e.model = recall_nearest.model AND e.dimensions = recall_nearest.dimensions
          AND e.owner_kind = ANY (recall_nearest.kinds)
        ORDER BY 3 DESC LIMIT recall_nearest.lim;
        RETURN;
    END IF;
    PERFORM set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', '200', true),
            set_config('hnsw.max_scan_tuples', '100000', true);
    RETURN QUERY EXECUTE format(
        'SELECT e.owner_kind, e.owner_id, 1 - (e.embedding::vector(%1$s) <=> $1::vector(%1$s)) FROM embeddings AS e
         WHERE e.user_id = $2 AND e.model = %2$L AND e.dimensions = %1$s AND e.owner_kind = ANY ($4)
         ORDER BY e.embedding::vector(%1$s) <=> $1::vector(%1$s) LIMIT $3',
        recall_nearest.dimensions, recall_nearest.model)
    USING recall_nearest.vector, tenant_id(), recall_nearest.lim, recall_nearest.kinds;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION recall_nearest IS 'The tenant''s rows and turns whose vectors are nearest to one, with the cosine between them; none without a vector.';

-- +goose StatementBegin
CREATE FUNCTION recall_found(query text, kinds text[], since timestamptz[], until timestamptz[], session uuid, shown_from integer,
    named_kinds text[], named_sources text[], named_keys text[], named_owners text[], named_names text[],
    vector text, model text, dimensions integer, compared_up_to integer, meaning double precision, beside double precision, day double precision, lim integer)
RETURNS TABLE (kind text, id text, score double precision)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = alfred, public, pg_temp
AS $$
    WITH near AS MATERIALIZED (
        SELECT n.owner_kind, n.owner_id, n.likeness
        FROM recall_nearest(recall_found.vector, recall_found.model, recall_found.dimensions, recall_found.kinds, recall_found.compared_up_to, 50) AS n
        WHERE n.likeness > 0.15
    ),
    found AS (
        SELECT 'turn' AS kind, t.turn_id::text AS id, t.score AS words, 0.0::double precision AS meaning
        FROM recall_turns(CASE WHEN 'turn' = ANY (recall_found.kinds) THEN recall_found.query ELSE '' END,
                          ARRAY(SELECT n.owner_id::uuid FROM near AS n WHERE n.owner_kind = 'turn'),
                          recall_found.since, recall_found.until, recall_found.session, recall_found.shown_from, recall_found.beside, recall_found.day, 50) AS t
        UNION ALL
        SELECT r.owner_kind, r.owner_id, r.score, 0 FROM recall_rows(recall_found.query, recall_found.kinds, false, recall_found.model, 50) AS r
        UNION ALL
        SELECT m.owner_kind, m.owner_id, m.score, 0
        FROM recall_names(recall_found.named_kinds, recall_found.named_sources, recall_found.named_keys, recall_found.named_owners, recall_found.named_names,
                          recall_found.query, 50) AS m
        UNION ALL
        SELECT n.owner_kind, n.owner_id, 0, n.likeness FROM near AS n
    )
    SELECT f.kind, f.id, max(f.words) + recall_found.meaning * max(f.meaning)
    FROM found AS f GROUP BY f.kind, f.id ORDER BY 3 DESC, f.kind <> 'turn', f.id LIMIT recall_found.lim
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION recall_found IS 'What a question finds of the tenant''s turns and rows, best first: words by their rarity, names by their letters, vectors by their angle, the latter with a weight.';

-- +goose StatementBegin
CREATE FUNCTION recall_order(query text, kind text, shared boolean, vector text, model text, dimensions integer, weight double precision, lim integer)
RETURNS TABLE (owner_id text)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = alfred, public, pg_temp
AS $$
    SELECT e.owner_id
    FROM (SELECT o.owner_id, o.embedding FROM embeddings AS o
          WHERE NOT recall_order.shared AND o.user_id = (SELECT tenant_id())
            AND o.model = recall_order.model AND o.dimensions = recall_order.dimensions AND o.owner_kind = recall_order.kind
          UNION ALL
          SELECT o.owner_id, o.embedding FROM embeddings AS o
          WHERE recall_order.shared AND o.user_id IS NULL
            AND o.model = recall_order.model AND o.dimensions = recall_order.dimensions AND o.owner_kind = recall_order.kind) AS e
    LEFT JOIN recall_rows(recall_order.query, ARRAY[recall_order.kind], recall_order.shared, recall_order.model, 2000) AS w ON w.owner_id = e.owner_id
    ORDER BY coalesce(w.score, 0) + coalesce(recall_order.weight * (1 - (e.embedding <=> recall_order.vector::vector)), 0) DESC, e.owner_id
    LIMIT recall_order.lim
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION recall_order IS 'All of the tenant''s rows of a type that have vectors, or the shared ones, by words and likeness to a question, best first: the order of a semantic read, whatever filters it has besides.';

-- +goose Down
DROP FUNCTION recall_order(text, text, boolean, text, text, integer, double precision, integer);
DROP FUNCTION recall_found(text, text[], timestamptz[], timestamptz[], uuid, integer, text[], text[], text[], text[], text[], text, text, integer, integer, double precision, double precision, double precision, integer);
DROP FUNCTION recall_nearest(text, text, integer, text[], integer, integer);
DROP FUNCTION recall_names(text[], text[], text[], text[], text[], text, integer);
DROP FUNCTION recall_rows(text, text[], boolean, text, integer);
DROP FUNCTION recall_turns(text, uuid[], timestamptz[], timestamptz[], uuid, integer, double precision, double precision, integer);
DROP FUNCTION recall_presence(real, double precision, double precision);
DROP FUNCTION recall_rarity(double precision, double precision);
DROP FUNCTION recall_lexeme(text);
DROP FUNCTION recall_changes(text[]);
DROP FUNCTION embedding_models();
DROP TABLE embeddings;
