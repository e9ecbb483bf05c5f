-- Search: words by their rarity (BM25), names by their letters, and vectors. Under row-level security the operators of full text
-- and trigrams cannot use an index, because they are not leakproof; so the searches run as functions of the owner that filter by
-- the tenant themselves.
--
-- Functions that a turn calls are in PL/pgSQL where SQL would do: their statements are planned once a connection. One in SQL with
-- settings of its own is parsed and planned at every call.

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
COMMENT ON TABLE embeddings IS 'Vectors of rows and turns. A user with very many vectors of a model gets an HNSW index, which a worker creates and drops; all others are compared one by one.';
COMMENT ON COLUMN embeddings.owner_kind IS 'Entity type, or turn.';
COMMENT ON COLUMN embeddings.owner_id IS 'Key of the row or turn, as text.';
COMMENT ON COLUMN embeddings.model IS 'The embedding model; vectors of different models are never compared.';
COMMENT ON COLUMN embeddings.user_id IS 'Owner; null for shared reference rows.';
COMMENT ON COLUMN embeddings.dimensions IS 'Length of the vector.';
COMMENT ON COLUMN embeddings.content_hash IS 'SHA-256 of the embedded text: unchanged text is not embedded twice.';
COMMENT ON COLUMN embeddings.embedding IS 'As the embedder returned it; compared by cosine distance.';
COMMENT ON COLUMN embeddings.search IS 'The words of a row''s text, and the user''s id after a blank (the blank alone for shared rows); null for turns, whose words are in turn_summaries.';
COMMENT ON COLUMN embeddings.created_at IS 'When it was stored; it is replaced when the text changes.';

-- Only users who have very many vectors get an index of them, so an index cannot say that all texts have vectors of a model.
CREATE TABLE embedded_models (
    model        text        NOT NULL,
    dimensions   integer     NOT NULL,
    completed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT embedded_models_pkey PRIMARY KEY (model)
);
COMMENT ON TABLE embedded_models IS 'Models that have a vector for every text and may serve, as recorded by a worker.';
COMMENT ON COLUMN embedded_models.model IS 'The embedding model, as in embeddings.';
COMMENT ON COLUMN embedded_models.dimensions IS 'Length of its vectors; a model of the same name with another length is a different model and replaces this one.';
COMMENT ON COLUMN embedded_models.completed_at IS 'When the last text got its vector; of several models that may serve, the newest does.';

-- +goose StatementBegin
CREATE FUNCTION embedding_models() RETURNS TABLE (model text, dimensions integer)
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
COMMENT ON FUNCTION embedding_index IS 'Name of the index of a user''s vectors of a model, if there is one.';

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

-- A misspelt word is taken for the listed words most like it, and no vectors are compared for it. A list is whole once it holds the
-- empty word; until then the words of the nearest turns are looked through.
CREATE TABLE user_words (
    user_id uuid             NOT NULL,
    word    text COLLATE "C" NOT NULL,
    CONSTRAINT user_words_pkey PRIMARY KEY (user_id, word),
    CONSTRAINT user_words_user_fkey FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
);
COMMENT ON TABLE user_words IS 'Words of a user''s turns, to find what a misspelt one stands for. When one of the user''s conversations is forgotten, all go, and a worker''s next sweep lists what remains.';
COMMENT ON COLUMN user_words.user_id IS 'The user.';
COMMENT ON COLUMN user_words.word IS 'A lexeme of turn_summaries.search without digits; the empty word says that none is missing.';

-- A conversation that is being forgotten has its key locked: its words are left out, and nobody waits.
-- +goose StatementBegin
CREATE FUNCTION user_words_list(ids uuid[]) RETURNS void
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
DECLARE
    met uuid[] := ARRAY(SELECT s.id FROM sessions AS s WHERE s.id IN (SELECT t.session_id FROM turns AS t WHERE t.id = ANY (ids)) FOR KEY SHARE OF s SKIP LOCKED);
BEGIN
    INSERT INTO user_words (user_id, word)
    SELECT DISTINCT t.user_id, x.lexeme COLLATE "C"
    FROM turns AS t
    LEFT JOIN LATERAL (SELECT s.search FROM turn_summaries AS s WHERE s.turn_id = t.id AND s.user_id = t.user_id LIMIT 1) AS s ON true
    CROSS JOIN LATERAL unnest(coalesce(s.search, to_tsvector('english', concat_ws(' ', left(t.message, 8000), left(t.reply, 8000))))) AS x (lexeme, positions, weights)
    WHERE t.id = ANY (ids) AND t.session_id = ANY (met) AND x.lexeme ~ '^[^ 0-9]{3,40}$'
    ORDER BY 1, 2 -- all in one order, so that two of them never wait for each other
    ON CONFLICT DO NOTHING;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION user_words_list IS 'Lists the words of turns.';

-- Words are added with the vectors, by a job of its own, so that no decision's commit writes them.
-- +goose StatementBegin
CREATE FUNCTION user_words_add() RETURNS trigger
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
DECLARE
    ids uuid[] := ARRAY(SELECT e.owner_id::uuid FROM stored AS e WHERE e.owner_kind = 'turn');
BEGIN
    IF cardinality(ids) > 0 THEN
        PERFORM user_words_list(ids);
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION user_words_add IS 'Lists the words of turns whose vectors are stored.';

CREATE TRIGGER user_words_stored AFTER INSERT ON embeddings REFERENCING NEW TABLE AS stored
FOR EACH STATEMENT WHEN (current_setting('alfred.moving', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION user_words_add();

CREATE TRIGGER user_words_stored_anew AFTER UPDATE ON embeddings REFERENCING NEW TABLE AS stored
FOR EACH STATEMENT WHEN (current_setting('alfred.moving', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION user_words_add();

-- +goose StatementBegin
CREATE FUNCTION user_words_gather(owner uuid) RETURNS void
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
BEGIN
    PERFORM user_words_list(ARRAY(SELECT t.turn_id FROM sessions AS s JOIN turn_summaries AS t ON t.session_id = s.id WHERE s.user_id = owner));
    INSERT INTO user_words (user_id, word) VALUES (owner, '') ON CONFLICT DO NOTHING;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION user_words_gather IS 'Lists all words of a user''s turns, and says so.';

-- +goose StatementBegin
CREATE FUNCTION user_words_forget() RETURNS trigger
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
BEGIN
    DELETE FROM user_words AS w WHERE w.user_id = OLD.user_id;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION user_words_forget IS 'Forgets the words of a user of whom a conversation is deleted: which of them other conversations hold is found by the next sweep.';

CREATE TRIGGER user_words_forgotten AFTER DELETE ON sessions
FOR EACH ROW WHEN (current_setting('alfred.moving', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION user_words_forget();

-- +goose StatementBegin
CREATE FUNCTION user_words_like(owner uuid, meant text) RETURNS TABLE (form text, likeness double precision)
LANGUAGE plpgsql STABLE ROWS 10
SET search_path = alfred, public, pg_temp
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
BEGIN
    IF owner IS NULL THEN
        RETURN;
    END IF;
    -- Most misspelt words begin right, or with their first two letters exchanged: a tenth of the list.
    RETURN QUERY
    SELECT w.word, w.likeness
    FROM (SELECT DISTINCT a.letter FROM unnest(ARRAY[left(meant, 1), substr(meant, 2, 1)]) AS a (letter)) AS l
    CROSS JOIN LATERAL (
        SELECT u.word, similarity(meant, u.word)::double precision AS likeness FROM user_words AS u
        WHERE u.user_id = owner AND u.word >= l.letter AND u.word < l.letter || U&'\+10FFFF' OFFSET 0) AS w
    WHERE w.likeness >= CASE WHEN char_length(w.word) = char_length(meant) THEN 0.3 ELSE 0.4 END;
    IF NOT FOUND THEN -- one that begins wrong ends right
        RETURN QUERY
        SELECT w.word, w.likeness
        FROM (SELECT u.word, similarity(meant, u.word)::double precision AS likeness FROM user_words AS u
              WHERE u.user_id = owner AND right(u.word, 3) = right(meant, 3) OFFSET 0) AS w
        WHERE w.likeness >= 0.5;
    END IF;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION user_words_like IS 'Listed words of a user that look like one, with how much (pg_trgm); those that begin otherwise only where no other does. Two letters exchanged leave few trigrams and the length, so a word as long needs fewer in common. None without a user.';

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
COMMENT ON FUNCTION recall_changes IS 'How many changes Postgres has counted in each table, its partitions and the tables below a view, and the oldest running transaction: rows written from now on have its number or a higher one.';

-- What the ranking rests on, measured in docs/recall.md. Small functions of their own, so that turns and rows are ranked alike;
-- Postgres writes them into the statements that call them.
-- +goose StatementBegin
CREATE FUNCTION recall_lexeme(word text) RETURNS tsquery
LANGUAGE sql IMMUTABLE STRICT
AS $$ SELECT ('''' || replace(replace(word, '\', '\\'), '''', '''''') || '''')::tsquery $$;
-- +goose StatementEnd
COMMENT ON FUNCTION recall_lexeme IS 'The query for one literal lexeme, whatever characters it has.';

-- +goose StatementBegin
CREATE FUNCTION recall_rarity(texts double precision, holders double precision) RETURNS double precision
LANGUAGE sql IMMUTABLE
AS $$ SELECT ln(1 + (greatest(texts, holders) - holders + 0.5) / (holders + 0.5)) $$;
-- +goose StatementEnd
COMMENT ON FUNCTION recall_rarity IS 'Inverse document frequency of a word that so many of all texts contain.';

-- ts_rank of a single lexeme grows with its frequency as 1 + 1/4 + 1/9 ..., times 0.0607927: a saturation that costs no unnesting.
-- +goose StatementBegin
CREATE FUNCTION recall_presence(frequency real, size double precision, average double precision) RETURNS double precision
LANGUAGE sql IMMUTABLE
AS $$ SELECT 2.2 * frequency / (frequency + 0.0607927 * 1.2 * (0.25 + 0.75 * size / greatest(average, 1))) $$;
-- +goose StatementEnd
COMMENT ON FUNCTION recall_presence IS 'Term frequency of a word in a text of this size, as BM25 saturates it (k1 = 1.2, b = 0.75), from ts_rank of that lexeme alone; 1 for one occurrence in a text of average size.';

-- +goose StatementBegin
CREATE FUNCTION recall_turns(query text, vector text, model text, dimensions integer, kinds text[], compared_up_to integer, since timestamptz[], until timestamptz[],
    session uuid, shown_from integer, beside double precision, day double precision, lim integer)
RETURNS TABLE (kind text, id text, score double precision, likeness double precision)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = alfred, public, pg_temp
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    me      uuid      := tenant_id();
    mine    tsquery   := recall_lexeme(' ' || me);
    asked   text[]    := (tsvector_to_array(to_tsvector('english', left(recall_turns.query, 1000))))[:24];
    lexemes tsquery[] := ARRAY(SELECT recall_lexeme(w.word) FROM unnest(asked) WITH ORDINALITY AS w (word, place) ORDER BY w.place);
    listed  boolean   := EXISTS (SELECT FROM user_words AS w WHERE w.user_id = me AND w.word = ''); -- all that the user's turns hold
    turns   double precision;
BEGIN
    IF cardinality(asked) = 0 AND coalesce(cardinality(recall_turns.since), 0) = 0 THEN
        RETURN;
    END IF;
    turns := (SELECT coalesce(sum(s.last_turn), 0) FROM sessions AS s WHERE s.user_id = me);
    RETURN QUERY
    WITH said AS MATERIALIZED ( -- who holds a word: bounded, because a word of so many turns tells none of them apart
        SELECT a.place::integer AS form, h.*
        FROM unnest(lexemes) WITH ORDINALITY AS a (lexeme, place)
        CROSS JOIN LATERAL (
            SELECT s.session_id, s.turn_number, ts_rank(s.search, a.lexeme) AS frequency, length(s.search) AS size
            FROM turn_summaries AS s WHERE s.search @@ (mine && a.lexeme) AND s.user_id = me LIMIT 4000) AS h
        UNION ALL -- and the few that have been answered a moment ago
        SELECT a.place::integer, t.session_id, t.number, ts_rank(v.search, a.lexeme), length(v.search)
        FROM turns AS t
        CROSS JOIN LATERAL (SELECT to_tsvector('english', concat_ws(' ', left(t.message, 8000), left(t.reply, 8000))) AS search) AS v
        JOIN unnest(lexemes) WITH ORDINALITY AS a (lexeme, place) ON v.search @@ a.lexeme
        WHERE t.user_id = me AND t.status = 'succeeded' AND t.summarized_at IS NULL
          AND NOT EXISTS (SELECT FROM turn_summaries AS s WHERE s.turn_id = t.id AND s.user_id = me)
    ),
    known AS MATERIALIZED (SELECT s.form, count(*)::double precision AS holders, sum(s.size)::double precision AS sizes FROM said AS s GROUP BY 1),
    strange AS MATERIALIZED (
        SELECT u.place, u.word FROM unnest(asked) WITH ORDINALITY AS u (word, place)
        WHERE char_length(u.word) > 3 AND u.word !~ '[0-9]' AND u.place <> ALL (ARRAY(SELECT k.form FROM known AS k))
    ),
    near AS MATERIALIZED ( -- read only where a word has to be guessed from them, and then given on, as reading them all takes long
        SELECT n.owner_kind, n.owner_id, n.likeness
        FROM recall_nearest(CASE WHEN NOT listed THEN recall_turns.vector END, recall_turns.model, recall_turns.dimensions, recall_turns.kinds, recall_turns.compared_up_to, 50) AS n
        WHERE n.likeness > 0.15
    ),
    around AS MATERIALIZED (
        SELECT DISTINCT x.lexeme AS form FROM turn_summaries AS s CROSS JOIN LATERAL unnest(s.search) AS x (lexeme, positions, weights)
        WHERE s.user_id = me AND s.turn_id = ANY (ARRAY(SELECT n.owner_id::uuid FROM near AS n WHERE n.owner_kind = 'turn'))
    ),
    guessed AS MATERIALIZED ( -- a word that nobody ever said is taken for the words most like it: of all, or of the nearest turns while not all are listed
        SELECT (24 + row_number() OVER ())::integer AS form, u.place AS word, recall_lexeme(g.form) AS lexeme,
               0.8 * g.likeness / max(g.likeness) OVER (PARTITION BY u.place) AS trust
        FROM strange AS u
        CROSS JOIN LATERAL (
            SELECT a.form, a.likeness
            FROM (SELECT l.form, similarity(u.word, l.form)::double precision AS likeness FROM around AS l WHERE similarity(u.word, l.form) >= 0.3
                  UNION ALL
                  SELECT w.form, w.likeness FROM user_words_like(CASE WHEN listed AND recall_turns.vector IS NOT NULL THEN me END, u.word) AS w) AS a
            ORDER BY 2 DESC, 1 LIMIT 3) AS g
    ),
    mended AS MATERIALIZED (
        SELECT g.form, h.*
        FROM guessed AS g
        CROSS JOIN LATERAL (
            SELECT s.session_id, s.turn_number, ts_rank(s.search, g.lexeme) AS frequency, length(s.search) AS size
            FROM turn_summaries AS s WHERE s.search @@ (mine && g.lexeme) AND s.user_id = me LIMIT 4000) AS h
    ),
    held AS NOT MATERIALIZED (SELECT * FROM said UNION ALL SELECT * FROM mended),
    forms AS MATERIALIZED (
        SELECT f.form, f.word, f.trust, avg(f.sizes / f.holders) OVER () AS size,
               recall_rarity(turns, f.holders) AS rarity, f.holders >= 4000 AND bool_or(f.holders < 4000) OVER () AS idle
        FROM (SELECT k.form, k.form AS word, 1.0::double precision AS trust, k.holders, k.sizes FROM known AS k
              UNION ALL
              SELECT g.form, g.word, g.trust, count(*)::double precision, sum(m.size)::double precision FROM guessed AS g JOIN mended AS m ON m.form = g.form GROUP BY 1, 2, 3) AS f
    ),
    dated AS MATERIALIZED ( -- a day that the question names counts like a word that its turns hold
        SELECT t.session_id, t.number AS turn_number, recall_turns.day * recall_rarity(turns, count(*) OVER ()) AS score
        FROM turns AS t
        WHERE t.user_id = me AND cardinality(recall_turns.since) > 0
          AND EXISTS (SELECT FROM unnest(recall_turns.since, recall_turns.until) AS d (since, until) WHERE t.created_at >= d.since AND t.created_at < d.until)
    ),
    whole AS MATERIALIZED (
        SELECT greatest(sum(coalesce(f.rarity, recall_rarity(turns, 0))) + coalesce((SELECT max(d.score) FROM dated AS d), 0), 1) AS score
        FROM unnest(asked) WITH ORDINALITY AS a (word, place) LEFT JOIN (SELECT g.word, max(g.rarity) AS rarity FROM forms AS g GROUP BY 1) AS f ON f.word = a.place
    ),
    own AS MATERIALIZED ( -- each turn once, by its words and by its day
        SELECT p.session_id, p.turn_number, sum(p.words) AS words, sum(p.dated) AS dated
        FROM (SELECT h.session_id, h.turn_number, f.trust * f.rarity * recall_presence(h.frequency, h.size, f.size) AS words, 0.0::double precision AS dated
              FROM held AS h JOIN forms AS f ON f.form = h.form AND NOT f.idle
              UNION ALL
              SELECT d.session_id, d.turn_number, 0, d.score FROM dated AS d) AS p
        GROUP BY 1, 2
    ),
    strong AS MATERIALIZED ( -- a turn below this, beside none that reaches it, is below lim others even with its neighbour's share
        SELECT o.session_id, o.turn_number FROM own AS o
        WHERE o.words + o.dated >= coalesce((
            SELECT l.words + l.dated FROM own AS l
            WHERE l.session_id IS DISTINCT FROM recall_turns.session OR l.turn_number < recall_turns.shown_from
            ORDER BY l.words + l.dated DESC LIMIT 1 OFFSET recall_turns.lim - 1), 0) / (1 + recall_turns.beside)
    ),
    ranked AS (
        SELECT o.session_id, o.turn_number,
               o.words + o.dated + recall_turns.beside * coalesce(max(o.words) OVER (
                   PARTITION BY o.session_id ORDER BY o.turn_number RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW), 0) AS score
        FROM own AS o
        WHERE (o.session_id, o.turn_number) IN (SELECT s.session_id, s.turn_number + d.away FROM strong AS s CROSS JOIN (VALUES (-1), (0), (1)) AS d (away))
    ),
    best AS (
        SELECT r.session_id, r.turn_number, r.score FROM ranked AS r
        WHERE r.session_id IS DISTINCT FROM recall_turns.session OR r.turn_number < recall_turns.shown_from
        ORDER BY 3 DESC, 2 DESC, 1 LIMIT recall_turns.lim
    )
    SELECT 'turn', t.id::text, b.score / w.score, NULL::double precision
    FROM best AS b CROSS JOIN whole AS w
    CROSS JOIN LATERAL (
        SELECT u.id FROM turns AS u
        WHERE u.session_id = b.session_id AND u.number = b.turn_number AND u.user_id = me AND u.status = 'succeeded' LIMIT 1) AS t
    UNION ALL
    SELECT n.owner_kind, n.owner_id, 0, n.likeness FROM near AS n WHERE EXISTS (SELECT FROM strange);
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION recall_turns IS 'The tenant''s past turns by the question''s words (BM25), a share of the score of the better turn beside each added, and by the days it names: 1 where all of the question is there; turns of the session from shown_from on are left out. A word that was never said is taken for the words most like it, if the question has a vector. While the user''s words are not listed, these are sought in what is nearest by vector, which is then returned too, of all kinds, with a likeness and no score. In no order.';

-- +goose StatementBegin
CREATE FUNCTION recall_rows(query text, kinds text[], shared boolean, model text, lim integer)
RETURNS TABLE (owner_kind text, owner_id text, score double precision)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 50
SET search_path = alfred, public, pg_temp
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    owner   uuid      := CASE WHEN NOT recall_rows.shared THEN tenant_id() END;
    mine    tsquery   := recall_lexeme(' ' || coalesce(owner::text, ''));
    wanted  text[]    := array_remove(recall_rows.kinds, 'turn'); -- their words stand in turn_summaries
    asked   text[]    := (tsvector_to_array(to_tsvector('english', left(recall_rows.query, 1000))))[:24];
    lexemes tsquery[] := ARRAY(SELECT recall_lexeme(w.word) FROM unnest(asked) WITH ORDINALITY AS w (word, place) ORDER BY w.place);
    texts   double precision;
BEGIN
    IF cardinality(wanted) = 0 OR cardinality(asked) = 0 OR owner IS NULL AND NOT recall_rows.shared THEN
        RETURN;
    END IF;
    texts := (SELECT sum(few.texts) FROM unnest(wanted) AS k (kind) CROSS JOIN LATERAL (
                  SELECT count(*) AS texts FROM (
                      SELECT FROM embeddings AS e WHERE e.user_id = owner AND e.model = recall_rows.model AND e.owner_kind = k.kind
                      UNION ALL
                      SELECT FROM embeddings AS e WHERE recall_rows.shared AND e.user_id IS NULL AND e.model = recall_rows.model AND e.owner_kind = k.kind
                      LIMIT 10000) AS rows) AS few);
    RETURN QUERY
    WITH held AS MATERIALIZED (
        SELECT a.word, h.*
        FROM unnest(asked, lexemes) AS a (word, lexeme)
        CROSS JOIN LATERAL (
            SELECT e.owner_kind, e.owner_id, ts_rank(e.search, a.lexeme) AS frequency, length(e.search) AS size
            FROM embeddings AS e
            WHERE e.search @@ (mine && a.lexeme) AND e.owner_kind = ANY (wanted) AND e.model = recall_rows.model LIMIT 4000) AS h
    ),
    forms AS MATERIALIZED (
        SELECT h.word, recall_rarity(texts, count(*)) AS rarity, avg(h.size)::double precision AS size FROM held AS h GROUP BY 1
    ),
    whole AS (
        SELECT greatest(sum(coalesce(f.rarity, recall_rarity(texts, 0))), 1) AS score FROM unnest(asked) AS a (word) LEFT JOIN forms AS f ON f.word = a.word
    )
    SELECT h.owner_kind, h.owner_id, sum(f.rarity * recall_presence(h.frequency, h.size, f.size)) / w.score
    FROM held AS h JOIN forms AS f ON f.word = h.word CROSS JOIN whole AS w
    GROUP BY h.owner_kind, h.owner_id, w.score
    ORDER BY 3 DESC, 1, 2 LIMIT recall_rows.lim;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION recall_rows IS 'The tenant''s rows of the types, or the shared ones, by the question''s words (BM25) in the texts that have vectors of the model; best first, 1 where all of the question is there.';

-- +goose StatementBegin
CREATE FUNCTION recall_names(kinds text[], sources text[], key_columns text[], owner_columns text[], name_columns text[], query text, lim integer)
RETURNS TABLE (owner_kind text, owner_id text, score double precision)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 50
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

-- Up to a number of a user's vectors all are compared. Above, the user's own HNSW index answers. Its scan goes on until enough rows
-- have passed the filter by kind.
-- +goose StatementBegin
CREATE FUNCTION recall_nearest(vector text, model text, dimensions integer, kinds text[], compared_up_to integer, lim integer)
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
COMMENT ON FUNCTION recall_nearest IS 'The tenant''s rows and turns with the nearest vectors, with their cosine; none without a vector. compared_up_to has no effect; programs of the previous version pass it.';

-- +goose StatementBegin
CREATE FUNCTION recall_found(query text, kinds text[], since timestamptz[], until timestamptz[], session uuid, shown_from integer,
    named_kinds text[], named_sources text[], named_keys text[], named_owners text[], named_names text[],
    vector text, model text, dimensions integer, compared_up_to integer, meaning double precision, beside double precision, day double precision, lim integer)
RETURNS TABLE (kind text, id text, score double precision)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 50
SET search_path = alfred, public, pg_temp
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    me     uuid   := tenant_id();
    wanted vector := recall_found.vector::vector;
BEGIN
    RETURN QUERY
    WITH worded AS MATERIALIZED (
        SELECT t.kind, t.id, t.score, t.likeness
        FROM recall_turns(CASE WHEN 'turn' = ANY (recall_found.kinds) THEN recall_found.query ELSE '' END,
                          recall_found.vector, recall_found.model, recall_found.dimensions, recall_found.kinds, recall_found.compared_up_to,
                          recall_found.since, recall_found.until, recall_found.session, recall_found.shown_from, recall_found.beside, recall_found.day, 50) AS t
        UNION ALL
        SELECT r.owner_kind, r.owner_id, r.score, NULL FROM recall_rows(recall_found.query, recall_found.kinds, false, recall_found.model, 50) AS r
        UNION ALL
        SELECT m.owner_kind, m.owner_id, m.score, NULL
        FROM recall_names(recall_found.named_kinds, recall_found.named_sources, recall_found.named_keys, recall_found.named_owners, recall_found.named_names,
                          recall_found.query, 50) AS m
    ),
    found AS (
        SELECT w.kind, w.id, w.score AS words, coalesce(w.likeness, e.likeness) AS likeness
        FROM worded AS w
        LEFT JOIN LATERAL (
            SELECT 1 - (v.embedding <=> wanted) AS likeness FROM embeddings AS v
            WHERE v.owner_kind = w.kind AND v.owner_id = w.id AND v.model = recall_found.model AND v.user_id = me AND v.dimensions = recall_found.dimensions AND w.likeness IS NULL LIMIT 1) AS e ON true
        UNION ALL -- a vector alone scores no more than meaning: where so many words score more, none is looked for
        SELECT n.owner_kind, n.owner_id, 0, n.likeness
        FROM recall_nearest(CASE WHEN (SELECT count(DISTINCT (w.kind, w.id)) FROM worded AS w WHERE w.score >= recall_found.meaning) < least(recall_found.lim, 50)
                                 AND NOT EXISTS (SELECT FROM worded AS w WHERE w.likeness IS NOT NULL) THEN recall_found.vector END,
                            recall_found.model, recall_found.dimensions, recall_found.kinds, recall_found.compared_up_to, 50) AS n
        WHERE n.likeness > 0.15
    )
    SELECT f.kind, f.id, max(f.words) + recall_found.meaning * greatest(max(f.likeness), 0)
    FROM found AS f GROUP BY f.kind, f.id ORDER BY 3 DESC, f.kind <> 'turn', f.id LIMIT recall_found.lim;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION recall_found IS 'What a question finds of the tenant''s turns and rows, best first: words by their rarity, names by their letters, vectors by their angle, the latter with a weight.';

-- +goose StatementBegin
CREATE FUNCTION recall_order(query text, kind text, shared boolean, vector text, model text, dimensions integer, weight double precision, lim integer)
RETURNS TABLE (owner_id text)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = alfred, public, pg_temp
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    me     uuid   := CASE WHEN NOT recall_order.shared THEN tenant_id() END;
    wanted vector := recall_order.vector::vector; -- once, not at each row
BEGIN
    RETURN QUERY
    WITH alike AS MATERIALIZED ( -- without it the planner joins, and sorts, rows with their vectors
        SELECT o.owner_id, coalesce(recall_order.weight * (1 - (o.embedding <=> wanted)), 0) AS score FROM embeddings AS o
        WHERE o.user_id = me AND o.model = recall_order.model AND o.dimensions = recall_order.dimensions AND o.owner_kind = recall_order.kind
        UNION ALL
        SELECT o.owner_id, coalesce(recall_order.weight * (1 - (o.embedding <=> wanted)), 0) FROM embeddings AS o
        WHERE recall_order.shared AND o.user_id IS NULL
          AND o.model = recall_order.model AND o.dimensions = recall_order.dimensions AND o.owner_kind = recall_order.kind
    )
    SELECT a.owner_id
    FROM alike AS a
    LEFT JOIN recall_rows(recall_order.query, ARRAY[recall_order.kind], recall_order.shared, recall_order.model, 2000) AS w ON w.owner_id = a.owner_id
    ORDER BY coalesce(w.score, 0) + a.score DESC, a.owner_id
    LIMIT recall_order.lim;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION recall_order IS 'All of the tenant''s rows of a type that have vectors, or the shared ones, by words and likeness to a question, best first: the order of a semantic read, whatever filters it has besides.';

-- +goose Down
DROP FUNCTION recall_order;
DROP FUNCTION recall_found;
DROP FUNCTION recall_nearest;
DROP FUNCTION recall_names;
DROP FUNCTION recall_rows;
DROP FUNCTION recall_turns;
DROP FUNCTION recall_presence;
DROP FUNCTION recall_rarity;
DROP FUNCTION recall_lexeme;
DROP FUNCTION recall_changes;
DROP FUNCTION user_words_like;
DROP TRIGGER user_words_forgotten ON sessions;
DROP FUNCTION user_words_forget;
DROP FUNCTION user_words_gather;
DROP TRIGGER user_words_stored_anew ON embeddings;
DROP TRIGGER user_words_stored ON embeddings;
DROP FUNCTION user_words_add;
DROP FUNCTION user_words_list;
DROP TABLE user_words;
DROP FUNCTION embedding_indexes_due;
DROP FUNCTION embedding_index;
DROP FUNCTION embedding_models;
DROP TABLE embedded_models;
DROP TABLE embeddings;
