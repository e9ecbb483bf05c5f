package domain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
)

// gym is as a phone's database leaves its tables: times are milliseconds since 1970, keys are made up, no foreign key says anything.
const gym = `CREATE SCHEMA gym;
	CREATE TABLE gym.users (id text PRIMARY KEY, name text NOT NULL, created_at bigint NOT NULL);
	CREATE TABLE gym.workouts (id text PRIMARY KEY, user_id text NOT NULL, title text NOT NULL, started_at bigint NOT NULL, ended_at bigint, duration_s integer, rest_time integer,
		"seenOn" double precision, created_at bigint DEFAULT (extract(epoch FROM now()) * 1000)::bigint, updated_at bigint, deleted_at bigint, _status text);
	CREATE TABLE gym.rounds (id text PRIMARY KEY, workout_id text NOT NULL, name text NOT NULL, shown_at bigint);
	INSERT INTO gym.users VALUES ('aB3dE6gH9jK2mN5p', 'Ada', 1764000000000), ('bB3dE6gH9jK2mN5p', 'Eve', 1764000000000);
	INSERT INTO gym.workouts VALUES ('cB3dE6gH9jK2mN5p', 'aB3dE6gH9jK2mN5p', 'Push day', 1764230400123, NULL, 2700, 90, 1764230400.5, 1764230400000, 1764230400000, NULL),
		('dB3dE6gH9jK2mN5p', 'aB3dE6gH9jK2mN5p', 'Old', 1764230400123, NULL, 2700, 90, 1764230400.5, 1764230400000, 1764230400000, 1764230400000)`

// Times that are numbers are times in the views, so that models can say "this week", and numbers again in the tables.
func TestTimesCountedSince1970(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, gym)
	d := attached(t, tx, "gym", "\n  - type: workout\n", "\n  - type: workout\n    writes: [create, update, delete]\n    columns: [title, started_at, ended_at]\n")
	require.Contains(t, d.Text, `epoch: {started_at: ms, ended_at: ms, "seenOn": s, created_at: ms, updated_at: ms, deleted_at: ms} # unsure`)
	require.Contains(t, d.Text, `fills: {create: {id: "left(replace(gen_random_uuid()::text, '-', ''), 16)"}, update: {updated_at: "now()"}}`)
	require.Contains(t, d.Text, `epoch: {shown_at: ms}`, "where no row tells, the others do")
	require.Contains(t, d.Text, "hidden: [_status]")
	workout := d.ByType("workout")
	require.Equal(t, domain.KindTimestamp, workout.Column("started_at").Kind)
	require.False(t, workout.Column("started_at").Nullable)
	exec(t, tx, `SET LOCAL timezone = 'UTC'; UPDATE gym_alfred.alfred_accounts SET account = 'aB3dE6gH9jK2mN5p' WHERE alfred_user = '`+adaID+`'`)
	require.Equal(t, "Push day 2025-11-27 08:00:00.123+00 2025-11-27 08:00:00.5+00", as(t, tx, adaID, `SELECT concat_ws(' ', title, started_at, "seenOn") FROM gym_alfred.workouts`))

	exec(t, tx, `SELECT set_config('role', 'alfred_tenant', true), set_config('alfred.user_id', '`+adaID+`', true);
		INSERT INTO gym_alfred.workouts (title, started_at) VALUES ('Run', '2026-01-02 08:00');
		UPDATE gym_alfred.workouts SET ended_at = '2026-01-02 09:00' WHERE title = 'Push day';
		CREATE TEMPORARY TABLE gone AS SELECT * FROM gym_alfred.workouts WHERE title = 'Push day';
		DELETE FROM gym_alfred.workouts WHERE title = 'Push day';
		RESET ROLE;
		DO $$ BEGIN
			ASSERT (SELECT started_at = 1764230400123 AND ended_at = 1767344400000 AND "seenOn" = 1764230400.5 AND deleted_at = (extract(epoch FROM now()) * 1000)::bigint FROM gym.workouts WHERE title = 'Push day'), 'a change and a deletion count';
			ASSERT (SELECT started_at = 1767340800000 AND ended_at IS NULL AND created_at = (extract(epoch FROM now()) * 1000)::bigint FROM gym.workouts WHERE title = 'Run'), 'a new row counts';
		END $$`)
	exec(t, tx, `SELECT set_config('role', 'alfred_undo', true);
		INSERT INTO gym_alfred.workouts (id, user_id, title, started_at, ended_at, duration_s, rest_time, "seenOn", created_at, updated_at, deleted_at)
			SELECT id, user_id, title, started_at, ended_at, duration_s, rest_time, "seenOn", created_at, updated_at, deleted_at FROM gone;
		RESET ROLE;
		DO $$ BEGIN ASSERT (SELECT started_at = 1764230400123 AND deleted_at IS NULL FROM gym.workouts WHERE title = 'Push day'), 'an undo brings back what was there'; END $$`)
}
