-- name: Metrics :many
-- The figures of /metrics that any process can tell, because they stand in rows, each with its labels: names and values in turn.
-- What happened lately is found by the time in UUIDs, which makes ranges of primary keys.
WITH since AS (SELECT uuid_v7_floor(clock_timestamp() - @lately::interval) AS id),
w AS (
    SELECT count(*) AS alive, coalesce(max(abs(extract(epoch FROM clock_skew))), 0) AS skew, coalesce(max(cardinality(differences)), 0) AS differences
    FROM workers WHERE beat_at BETWEEN clock_timestamp() - interval '3 seconds' AND clock_timestamp() + interval '3 seconds'),
q AS (
    SELECT queue::text AS queue, state::text AS state, count(*) AS jobs, greatest(extract(epoch FROM clock_timestamp() - min(scheduled_at)), 0) AS age
    FROM queue_rows() GROUP BY 1, 2),
t AS (
    SELECT ARRAY['status', status::text] AS labels, count(*) AS turns,
           percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY extract(epoch FROM finished_at - created_at)) AS took
    FROM turns WHERE id >= (SELECT s.id FROM since AS s) GROUP BY status),
n AS (
    SELECT ARRAY['node', node] AS labels, count(*) AS runs, percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY duration_ms / 1000.0) AS took
    FROM node_runs WHERE turn_id >= (SELECT s.id FROM since AS s) GROUP BY node),
c AS (
    SELECT ARRAY['node', node, 'model', model] AS labels, count(*) AS calls, count(error_code) AS errors,
           sum(input_tokens) AS input, sum(output_tokens) AS output, sum(cached_tokens) AS cached, sum(cost_usd) AS cost
    FROM llm_calls WHERE id >= (SELECT s.id FROM since AS s) GROUP BY node, model)
SELECT 'alfred.workers'::text AS name, '{}'::text[] AS labels, w.alive::double precision AS value FROM w
UNION ALL SELECT 'alfred.worker.clock_skew', '{}', w.skew FROM w
UNION ALL SELECT 'alfred.domain.differences', '{}', w.differences FROM w
UNION ALL SELECT 'alfred.queue.jobs', ARRAY['queue', q.queue, 'state', q.state], q.jobs FROM q
UNION ALL SELECT 'alfred.queue.age', ARRAY['queue', q.queue], q.age FROM q WHERE q.state = 'available'
UNION ALL SELECT 'alfred.recent.turns', t.labels, t.turns FROM t
UNION ALL SELECT 'alfred.recent.turn.duration', t.labels || ARRAY['quantile', '0.5'], t.took[1] FROM t WHERE t.took[2] > 0
UNION ALL SELECT 'alfred.recent.turn.duration', t.labels || ARRAY['quantile', '0.95'], t.took[2] FROM t WHERE t.took[2] > 0
UNION ALL SELECT 'alfred.recent.node.runs', n.labels, n.runs FROM n
UNION ALL SELECT 'alfred.recent.node.duration', n.labels || ARRAY['quantile', '0.5'], n.took[1] FROM n
UNION ALL SELECT 'alfred.recent.node.duration', n.labels || ARRAY['quantile', '0.95'], n.took[2] FROM n
UNION ALL SELECT 'alfred.recent.calls', c.labels, c.calls FROM c
UNION ALL SELECT 'alfred.recent.call.errors', c.labels, c.errors FROM c
UNION ALL SELECT 'alfred.recent.cost_usd', c.labels, c.cost FROM c
UNION ALL SELECT 'alfred.recent.tokens', c.labels || ARRAY['kind', 'input'], c.input FROM c
UNION ALL SELECT 'alfred.recent.tokens', c.labels || ARRAY['kind', 'output'], c.output FROM c
UNION ALL SELECT 'alfred.recent.tokens', c.labels || ARRAY['kind', 'cached'], c.cached FROM c;
