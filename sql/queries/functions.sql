-- DatabaseReadOnly reports a standby, or a database whose transactions are read-only by default.
-- name: DatabaseReadOnly :one
SELECT current_setting('transaction_read_only')::boolean AS read_only;

-- JobInsert does not wake a worker: QueueWake does, after the commit.
-- name: JobInsert :exec
SELECT job_insert(@kind::text, @args::jsonb, @queue::text, wake => false);

-- name: JobRelease :one
SELECT job_release(@job_id::bigint, @attempt::int, @state::text, @pause::double precision, sqlc.narg(error)::text)::boolean AS released;

-- JobRenew locks the turn.
-- name: JobRenew :one
SELECT job_renew(@turn_id::uuid)::boolean AS renewed;

-- name: JobSupersede :one
SELECT jobs_supersede(@client::text, @reason::text)::int AS superseded;

-- JobSupersedeStray replaces jobs that a worker fetched without receiving them, because the connection broke in
-- between. What was fetched that long ago would have arrived.
-- name: JobSupersedeStray :one
SELECT jobs_supersede(@client::text, 'fetched, but not delivered', @working::bigint[], interval '3 seconds')::int AS superseded;

-- LoadPlans is for a transaction that reads for a prompt, all of it by key. With partitioned tables, Postgres would
-- otherwise plan each query anew; and a plan cached while the tables were small must remain good when they no longer
-- are.
-- name: LoadPlans :exec
SELECT set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true);

-- PlansReset ends DecisionKeep's settings within its transaction.
-- name: PlansReset :exec
SELECT set_config('plan_cache_mode', NULL, true), set_config('enable_seqscan', NULL, true);

-- name: PartitionEnsure :one
SELECT partitions_ensure()::int AS made;

-- name: QueueWake :exec
SELECT queue_wake(@queue::text);

-- RowChangeKeep stores what a call wrote, in order, and records on the turn whether it can be undone.
-- name: RowChangeKeep :exec
SELECT row_changes_keep(@turn_id::uuid, @step::int, @call::int, @changes::jsonb);

-- SessionStart may run on a host program's connection, whose search path is its own.
-- name: SessionStart :one
SELECT alfred.start_session(@user_name::text, nullif(@title::text, ''))::uuid AS session_id;

-- name: SessionStartable :many
SELECT s::uuid AS session_id FROM sessions_to_start() AS s LIMIT 100;

-- name: SummaryAbandoned :many
SELECT t::uuid AS turn_id FROM summaries_abandoned() AS t LIMIT 100;

-- name: TurnAbandoned :many
SELECT t.turn_id::uuid AS turn_id FROM turns_abandoned() AS t (turn_id, job_state) LIMIT 100;

-- TurnCancel may run on a host program's connection, whose search path is its own.
-- name: TurnCancel :one
SELECT alfred.cancel_turn(@turn_id::uuid)::boolean AS cancelled;

-- TurnEnd locks the session, then the turn.
-- name: TurnEnd :one
SELECT turn_end(@turn_id::uuid, @status::turn_status, @code::text, @message::text)::boolean AS ended;

-- TurnEnqueue locks the session's row until the caller's transaction ends. It may run on a host program's connection, whose
-- search path is its own.
-- name: TurnEnqueue :one
SELECT e.turn_id::uuid AS turn_id, e.number::int AS number, e.status::text AS status, e.existing::boolean AS existing
FROM alfred.turn_enqueue(@session_id::uuid, @message::text, sqlc.narg(idempotency_key)::text, sqlc.narg(mode)::text, @if_busy::text,
                  @ui_changes::jsonb, @mentioned_entities::jsonb, sqlc.narg(answer)::jsonb) AS e;

-- TurnEventsAppendBeside appends events while a decision is being made; no row if the turn no longer waits for it. Losing
-- them is harmless, so the commit does not wait for the disk.
-- name: TurnEventsAppendBeside :execrows
SELECT turn_events_append(t.id, @events::jsonb), t.relaxed
FROM (SELECT w.id, set_config('synchronous_commit', 'off', true) AS relaxed FROM turns AS w
      WHERE w.id = @turn_id AND w.position = @position AND w.status = 'running' FOR NO KEY UPDATE) AS t;

-- name: TurnStartNext :exec
SELECT turn_start_next(@session_id::uuid);

-- name: TurnSummaryFinish :one
SELECT turn_summary_finish(@turn_id::uuid)::boolean AS finished;

-- UsageToday returns what the session's user has used today.
-- name: UsageToday :one
SELECT u.turns::bigint AS turns, u.tokens::bigint AS tokens, u.cost_usd::double precision AS cost_usd
FROM alfred.usage_today(@session_id::uuid, @until::timestamptz) AS u;
