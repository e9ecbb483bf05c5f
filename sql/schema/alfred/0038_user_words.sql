-- The words of a user's turns are listed, so that a misspelt word is taken for the listed words most like it and no vectors are compared
-- for it. A list is whole once it holds the empty word; until then the words of the nearest turns are looked through.

-- +goose Up
CREATE TABLE user_words (
    user_id uuid             NOT NULL,
    word    text COLLATE "C" NOT NULL,
    CONSTRAINT user_words_pkey PRIMARY KEY (user_id, word),
    CONSTRAINT user_words_user_fkey FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
);
COMMENT ON TABLE user_words IS 'Words of a user''s turns, to find what a misspelt one stands for. When one of the user''s conversations is forgotten, all go, and a worker''s next sweep lists what remains.';
COMMENT ON COLUMN user_words.user_id IS 'The user.';
COMMENT ON COLUMN user_words.word IS 'A lexeme of turn_summaries.search without digits; the empty word says that none is missing.';
ALTER TABLE user_words ENABLE ROW LEVEL SECURITY; -- and no policy: no tenant reads it

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
REVOKE EXECUTE ON FUNCTION user_words_list(uuid[]), user_words_add(), user_words_gather(uuid), user_words_forget(), user_words_like(uuid, text) FROM PUBLIC;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION recall_turns(query text, vector text, model text, dimensions integer, kinds text[], compared_up_to integer, since timestamptz[], until timestamptz[],
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

-- +goose Down
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION recall_turns(query text, vector text, model text, dimensions integer, kinds text[], compared_up_to integer, since timestamptz[], until timestamptz[],
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
    near AS MATERIALIZED ( -- read only where a word has to be guessed, and then given on, as reading them all takes long
        SELECT n.owner_kind, n.owner_id, n.likeness
        FROM recall_nearest(recall_turns.vector, recall_turns.model, recall_turns.dimensions, recall_turns.kinds, recall_turns.compared_up_to, 50) AS n
        WHERE n.likeness > 0.15
    ),
    around AS MATERIALIZED (
        SELECT DISTINCT x.lexeme AS form FROM turn_summaries AS s CROSS JOIN LATERAL unnest(s.search) AS x (lexeme, positions, weights)
        WHERE s.user_id = me AND s.turn_id = ANY (ARRAY(SELECT n.owner_id::uuid FROM near AS n WHERE n.owner_kind = 'turn'))
    ),
    guessed AS MATERIALIZED ( -- a word that nobody ever said is taken for the words most like it that the nearest turns hold
        SELECT (24 + row_number() OVER ())::integer AS form, u.place AS word, recall_lexeme(g.form) AS lexeme,
               0.8 * g.likeness / max(g.likeness) OVER (PARTITION BY u.place) AS trust
        FROM strange AS u
        CROSS JOIN LATERAL (
            SELECT l.form, similarity(u.word, l.form)::double precision AS likeness
            FROM around AS l WHERE similarity(u.word, l.form) >= 0.3 ORDER BY 2 DESC, 1 LIMIT 3) AS g
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
COMMENT ON FUNCTION recall_turns IS 'The tenant''s past turns by the question''s words (BM25), a share of the score of the better turn beside each added, and by the days it names: 1 where all of the question is there; turns of the session from shown_from on are left out. Where a word was never said, also what is nearest by vector, of all kinds, with a likeness and no score: words of the turns among it mend that word. In no order.';
DROP TRIGGER user_words_forgotten ON sessions;
DROP TRIGGER user_words_stored_anew ON embeddings;
DROP TRIGGER user_words_stored ON embeddings;
DROP FUNCTION user_words_like(uuid, text);
DROP FUNCTION user_words_forget();
DROP FUNCTION user_words_gather(uuid);
DROP FUNCTION user_words_add();
DROP FUNCTION user_words_list(uuid[]);
DROP TABLE user_words;
