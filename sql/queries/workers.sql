-- WorkerAlive reports whether any worker is alive.
-- name: WorkerAlive :one
SELECT EXISTS (SELECT FROM workers WHERE beat_at BETWEEN clock_timestamp() - interval '3 seconds' AND clock_timestamp() + interval '3 seconds')::boolean AS alive;

-- WorkerBeat renews a lease and returns the database's time, and whether others live, who may have taken over what this one let
-- expire. It deletes workers that have been dead for long.
-- name: WorkerBeat :one
WITH gone AS (DELETE FROM workers WHERE beat_at < clock_timestamp() - interval '10 minutes' AND id <> @id)
INSERT INTO workers (id, version, host, domain, clock_skew) VALUES (@id, @version, @host, @domain, sqlc.arg(host_time)::timestamptz - clock_timestamp())
ON CONFLICT (id) DO UPDATE SET beat_at = clock_timestamp(), clock_skew = EXCLUDED.clock_skew
RETURNING beat_at, EXISTS (SELECT FROM workers AS o WHERE o.id <> @id AND o.beat_at > clock_timestamp() - interval '3 seconds')::boolean AS others;

-- WorkerDead returns the dead workers that still have jobs.
-- name: WorkerDead :many
SELECT c::text AS id FROM clients_dead(@self::text) AS c;

-- name: WorkerDelete :exec
DELETE FROM workers WHERE id = @id;

-- WorkerDiffers records differences between this worker's declaration and the domain's tables.
-- name: WorkerDiffers :exec
UPDATE workers SET differences = @differences::text[] WHERE id = @id AND differences <> @differences::text[];

-- WorkerOtherDomains names the declarations, other than one, that living workers run.
-- name: WorkerOtherDomains :one
SELECT coalesce(string_agg(DISTINCT domain, ', '), '')::text AS names FROM workers
WHERE beat_at > clock_timestamp() - interval '3 seconds' AND domain NOT IN ('', @domain);

-- SettingSet tells SQL what the workers count by.
-- name: SettingSet :exec
INSERT INTO settings AS s (name, value) VALUES (@name, @value)
ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value WHERE s.value <> EXCLUDED.value;
