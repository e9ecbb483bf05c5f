-- A search compares vectors only where they can change what is found: a vector alone scores no more than its weight, so where enough
-- texts score more by their words, only those are compared. A word is guessed from the nearest turns, which are looked for only then.

-- +goose Up

DROP FUNCTION recall_turns(text, uuid[], timestamptz[], timestamptz[], uuid, integer, double precision, double precision, integer);
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
COMMENT ON FUNCTION recall_turns IS 'The tenant''s past turns by the question''s words (BM25), a share of the score of the better turn beside each added, and by the days it names: 1 where all of the question is there; turns of the session from shown_from on are left out. Where a word was never said, also what is nearest by vector, of all kinds, with a likeness and no score: words of the turns among it mend that word. In no order.';
REVOKE EXECUTE ON FUNCTION recall_turns(text, text, text, integer, text[], integer, timestamptz[], timestamptz[], uuid, integer, double precision, double precision, integer) FROM PUBLIC;

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

-- +goose Down

DROP FUNCTION recall_turns(text, text, text, integer, text[], integer, timestamptz[], timestamptz[], uuid, integer, double precision, double precision, integer);
-- +goose StatementBegin
CREATE FUNCTION recall_turns(query text, near uuid[], since timestamptz[], until timestamptz[], session uuid, shown_from integer, beside double precision, day double precision, lim integer)
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
COMMENT ON FUNCTION recall_turns IS 'The tenant''s past turns by the question''s words (BM25), a share of the score of the better turn beside each added, and by the days it names; best first, 1 where all of the question is there. near are turns alike by vector, whose words mend misspelt ones; turns of the session from shown_from on are left out.';
REVOKE EXECUTE ON FUNCTION recall_turns(text, uuid[], timestamptz[], timestamptz[], uuid, integer, double precision, double precision, integer) FROM PUBLIC;

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

-- recall_nearest may stay: it finds the same or more.
