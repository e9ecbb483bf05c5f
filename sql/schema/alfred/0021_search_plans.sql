-- Search plans its statements once a connection, not at every call: functions in SQL are planned anew each time, which took a third of
-- a search. Names and arguments are those of before. Found is what was found before; a row's score counts a word's rarity among rows
-- alone, no longer among rows and turns, and a turn below the 300 best by its own words may rank by its neighbours'.

-- +goose Up

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION recall_turns(query text, near uuid[], since timestamptz[], until timestamptz[], session uuid, shown_from integer, beside double precision, day double precision, lim integer)
RETURNS TABLE (turn_id uuid, score double precision)
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
    around AS MATERIALIZED (
        SELECT DISTINCT x.lexeme AS form FROM turn_summaries AS s CROSS JOIN LATERAL unnest(s.search) AS x (lexeme, positions, weights)
        WHERE s.user_id = me AND s.turn_id = ANY (recall_turns.near)
    ),
    guessed AS MATERIALIZED ( -- a word that nobody ever said is taken for the words most like it that the nearest turns hold
        SELECT (24 + row_number() OVER ())::integer AS form, u.place AS word, recall_lexeme(g.form) AS lexeme,
               0.8 * g.likeness / max(g.likeness) OVER (PARTITION BY u.place) AS trust
        FROM unnest(asked) WITH ORDINALITY AS u (word, place)
        CROSS JOIN LATERAL (
            SELECT l.form, similarity(u.word, l.form)::double precision AS likeness
            FROM around AS l WHERE similarity(u.word, l.form) >= 0.3 ORDER BY 2 DESC, 1 LIMIT 3) AS g
        WHERE char_length(u.word) > 3 AND u.word !~ '[0-9]' AND u.place <> ALL (ARRAY(SELECT DISTINCT s.form FROM said AS s))
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
        SELECT f.form, coalesce(g.word, f.form) AS word, coalesce(g.trust, 1) AS trust, avg(f.sizes / f.holders) OVER () AS size,
               recall_rarity(turns, f.holders) AS rarity, f.holders >= 4000 AND bool_or(f.holders < 4000) OVER () AS idle
        FROM (SELECT h.form, count(*)::double precision AS holders, sum(h.size)::double precision AS sizes FROM held AS h GROUP BY 1) AS f
        LEFT JOIN guessed AS g ON g.form = f.form
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
    SELECT t.id, b.score / w.score
    FROM best AS b CROSS JOIN whole AS w
    CROSS JOIN LATERAL (
        SELECT u.id FROM turns AS u
        WHERE u.session_id = b.session_id AND u.number = b.turn_number AND u.user_id = me AND u.status = 'succeeded' LIMIT 1) AS t;
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION recall_rows(query text, kinds text[], shared boolean, model text, lim integer)
RETURNS TABLE (owner_kind text, owner_id text, score double precision)
LANGUAGE plpgsql STABLE SECURITY DEFINER
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
    ELSIF NOT EXISTS (SELECT FROM embeddings AS e WHERE e.user_id = me AND e.model = recall_nearest.model
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

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION recall_found(query text, kinds text[], since timestamptz[], until timestamptz[], session uuid, shown_from integer,
    named_kinds text[], named_sources text[], named_keys text[], named_owners text[], named_names text[],
    vector text, model text, dimensions integer, compared_up_to integer, meaning double precision, beside double precision, day double precision, lim integer)
RETURNS TABLE (kind text, id text, score double precision)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = alfred, public, pg_temp
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH near AS MATERIALIZED (
        SELECT n.owner_kind, n.owner_id, n.likeness
        FROM recall_nearest(recall_found.vector, recall_found.model, recall_found.dimensions, recall_found.kinds, recall_found.compared_up_to, 50) AS n
        WHERE n.likeness > 0.15
    ),
    found AS (
        SELECT 'turn'::text AS kind, t.turn_id::text AS id, t.score AS words, 0.0::double precision AS meaning
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
    FROM found AS f GROUP BY f.kind, f.id ORDER BY 3 DESC, f.kind <> 'turn', f.id LIMIT recall_found.lim;
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

-- +goose Down

-- They may stay: those of 0006 have the same names and arguments, and it drops them.
