-- The figures of /metrics that any process can tell, because they stand in rows. What happened lately is found by the
-- time in UUIDs, so that each query is a range of a primary key.

-- name: MetricsCalls :many
SELECT node, model, count(*)::bigint AS calls, count(error_code)::bigint AS errors, sum(input_tokens)::bigint AS input_tokens,
       sum(output_tokens)::bigint AS output_tokens, sum(cached_tokens)::bigint AS cached_tokens, sum(cost_usd)::double precision AS cost_usd
FROM llm_calls
WHERE id >= uuid_v7_floor(clock_timestamp() - @lately::interval)
GROUP BY node, model;

-- name: MetricsNodes :many
SELECT node, count(*)::bigint AS runs, (percentile_cont(0.5) WITHIN GROUP (ORDER BY duration_ms) / 1000)::double precision AS p50,
       (percentile_cont(0.95) WITHIN GROUP (ORDER BY duration_ms) / 1000)::double precision AS p95
FROM node_runs
WHERE turn_id >= uuid_v7_floor(clock_timestamp() - @lately::interval)
GROUP BY node;

-- name: MetricsQueue :many
SELECT queue::text AS queue, state::text AS state, count(*)::bigint AS jobs,
       greatest(extract(epoch FROM clock_timestamp() - min(scheduled_at)), 0)::double precision AS age
FROM queue_rows()
GROUP BY 1, 2;

-- name: MetricsTurns :many
SELECT status, count(*)::bigint AS turns,
       coalesce(percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM finished_at - created_at)), 0)::double precision AS p50,
       coalesce(percentile_cont(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM finished_at - created_at)), 0)::double precision AS p95
FROM turns
WHERE id >= uuid_v7_floor(clock_timestamp() - @lately::interval)
GROUP BY status;

-- name: MetricsWorkers :one
SELECT count(*)::bigint AS alive,
       coalesce(max(abs(extract(epoch FROM clock_skew))), 0)::double precision AS clock_skew,
       coalesce(max(cardinality(differences)), 0)::bigint AS differences
FROM workers WHERE beat_at BETWEEN clock_timestamp() - interval '3 seconds' AND clock_timestamp() + interval '3 seconds';
