-- A search weighs neighbours only of turns that can be among the best, and what stands around its ranking is planned once a connection.

-- +goose Up

-- Names are bound when it is made, so it needs no search_path of its own; with one, each of a statement's calls parsed and planned it anew.
CREATE OR REPLACE FUNCTION tenant_id() RETURNS uuid
LANGUAGE sql STABLE PARALLEL SAFE
RETURN nullif(current_setting('alfred.user_id', true), '')::uuid;

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

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION recall_order(query text, kind text, shared boolean, vector text, model text, dimensions integer, weight double precision, lim integer)
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

-- With the thousand rows that the planner expects of a function it takes every plan for other arguments to be dearer, and plans at every call.
ALTER FUNCTION recall_found(text, text[], timestamptz[], timestamptz[], uuid, integer, text[], text[], text[], text[], text[], text, text, integer, integer, double precision, double precision, double precision, integer) ROWS 50;
ALTER FUNCTION recall_turns(text, text, text, integer, text[], integer, timestamptz[], timestamptz[], uuid, integer, double precision, double precision, integer) ROWS 100;
ALTER FUNCTION recall_rows(text, text[], boolean, text, integer) ROWS 50;
ALTER FUNCTION recall_names(text[], text[], text[], text[], text[], text, integer) ROWS 50;

-- +goose Down

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION recall_order(query text, kind text, shared boolean, vector text, model text, dimensions integer, weight double precision, lim integer)
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
    SELECT e.owner_id
    FROM (SELECT o.owner_id, o.embedding FROM embeddings AS o
          WHERE o.user_id = me AND o.model = recall_order.model AND o.dimensions = recall_order.dimensions AND o.owner_kind = recall_order.kind
          UNION ALL
          SELECT o.owner_id, o.embedding FROM embeddings AS o
          WHERE recall_order.shared AND o.user_id IS NULL
            AND o.model = recall_order.model AND o.dimensions = recall_order.dimensions AND o.owner_kind = recall_order.kind) AS e
    LEFT JOIN recall_rows(recall_order.query, ARRAY[recall_order.kind], recall_order.shared, recall_order.model, 2000) AS w ON w.owner_id = e.owner_id
    ORDER BY coalesce(w.score, 0) + coalesce(recall_order.weight * (1 - (e.embedding <=> wanted)), 0) DESC, e.owner_id
    LIMIT recall_order.lim;
END
$$;
-- +goose StatementEnd

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
    own AS ( -- each turn once, by its words and by its day
        SELECT p.session_id, p.turn_number, sum(p.words) AS words, sum(p.dated) AS dated
        FROM (SELECT h.session_id, h.turn_number, f.trust * f.rarity * recall_presence(h.frequency, h.size, f.size) AS words, 0.0::double precision AS dated
              FROM held AS h JOIN forms AS f ON f.form = h.form AND NOT f.idle
              UNION ALL
              SELECT d.session_id, d.turn_number, 0, d.score FROM dated AS d) AS p
        GROUP BY 1, 2
    ),
    ranked AS (
        SELECT o.session_id, o.turn_number,
               o.words + o.dated + recall_turns.beside * coalesce(max(o.words) OVER (
                   PARTITION BY o.session_id ORDER BY o.turn_number RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW), 0) AS score
        FROM own AS o
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
ALTER FUNCTION recall_found(text, text[], timestamptz[], timestamptz[], uuid, integer, text[], text[], text[], text[], text[], text, text, integer, integer, double precision, double precision, double precision, integer) ROWS 1000;
ALTER FUNCTION recall_rows(text, text[], boolean, text, integer) ROWS 1000;
ALTER FUNCTION recall_names(text[], text[], text[], text[], text[], text, integer) ROWS 1000;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION tenant_id() RETURNS uuid
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT nullif(current_setting('alfred.user_id', true), '')::uuid
$$;
-- +goose StatementEnd
