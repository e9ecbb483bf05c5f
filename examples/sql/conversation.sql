-- A conversation with psql alone. A worker must run (make run starts one):
--
--   psql "$(scripts/postgres url)" -f examples/sql/conversation.sql
\set ON_ERROR_STOP on
SET search_path = alfred, public;

SELECT start_session('demo', 'From psql') AS session \gset

-- The turn starts when this commits.
BEGIN;
SELECT enqueue_turn(:'session', 'What is in my pantry?') AS turn \gset
COMMIT;

-- Wait for it, 15 s at most, as any SQL client may.
SELECT set_config('example.turn', :'turn', false) AS waiting_for \gset
DO $$
BEGIN
    FOR i IN 1..150 LOOP
        EXIT WHEN (SELECT finished_at IS NOT NULL FROM alfred.turns WHERE id = current_setting('example.turn')::uuid);
        COMMIT;
        PERFORM pg_sleep(0.1);
    END LOOP;
END
$$;

SELECT status, reply FROM turns WHERE id = :'turn';

\echo What happened, in order:
SELECT seq, kind, node, ref, left(text, 70) AS text FROM v_timeline WHERE turn_id = :'turn' ORDER BY seq LIMIT 12;

\echo What it knows now, and why that would stand in a prompt:
SELECT ref, label, tier, action FROM active_entities(:'session') LIMIT 5;

\echo What each call of a model was shown:
SELECT node, section, count(*) AS items, sum(tokens) AS tokens FROM v_context WHERE turn_id = :'turn' GROUP BY node, section ORDER BY node, section;
