package jobs_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/pg"
	"alfred/jobs"
)

// The SQL functions write river_job by hand. This compares them with what River's own client writes.
func TestSeamWritesRiversRows(t *testing.T) {
	t.Parallel()

	pool := dbtest.Pool(t)
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Schema: pg.Schema})
	require.NoError(t, err)
	all := map[river.JobArgs]string{ // and their queues
		jobs.TurnArgs{Node: "embed", TurnID: uuid.New(), Position: 3, Version: 1}: "background",
		jobs.CompressArgs{SessionID: uuid.New(), FromTurn: 1, ToTurn: 4}:          "background",
	}
	for _, node := range []string{"understand", "think", "act", "reply", "summarize"} {
		all[jobs.TurnArgs{Node: node, TurnID: uuid.New(), Position: 3, Version: 1}] = "turns"
	}
	for args, queue := range all {
		t.Run(args.Kind(), func(t *testing.T) {
			t.Parallel()

			tx, err := pool.Begin(t.Context())
			require.NoError(t, err)
			defer tx.Rollback(t.Context())
			theirs, err := client.InsertTx(t.Context(), tx, args, &river.InsertOpts{MaxAttempts: 6, Queue: queue})
			require.NoError(t, err)
			encoded, err := json.Marshal(args)
			require.NoError(t, err)
			var ours int64
			require.NoError(t, tx.QueryRow(t.Context(), `SELECT job_insert($1, $2, $3)`, args.Kind(), encoded, queue).Scan(&ours))
			require.Equal(t, jobRow(t, tx, theirs.Job.ID), jobRow(t, tx, ours))
			if queue == "turns" {
				requireHandedOn(t, tx, args.Kind(), encoded, ours)
			}
		})
	}
}

// requireHandedOn: a handed-on job looks like the inserted one after a worker fetched it.
func requireHandedOn(t *testing.T, tx pgx.Tx, kind string, args []byte, inserted int64) {
	t.Helper()

	fetched := func(id int64) map[string]any {
		_, err := tx.Exec(t.Context(), `UPDATE river_job SET state = 'running', attempt = 1, attempted_by = '{me}' WHERE id = $1`, id)
		require.NoError(t, err)
		row := jobRow(t, tx, id)
		delete(row, "attempted_at")

		return row
	}
	want := fetched(inserted)
	var next int64
	require.NoError(t, tx.QueryRow(t.Context(), `SELECT job_hand_off($1, 1, 'me', $2, $3)`, inserted, kind, args).Scan(&next))
	got := jobRow(t, tx, next)
	require.NotNil(t, got["attempted_at"])
	delete(got, "attempted_at")
	require.Equal(t, want, got)
	require.Equal(t, "completed", jobRow(t, tx, inserted)["state"])
}

// Only the transaction in which a worker fetches jobs may commit before it has reached the disk.
func TestOnlyAFetchDoesNotWaitForTheDisk(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	waits := func() (waits string) {
		require.NoError(t, tx.QueryRow(t.Context(), `SELECT current_setting('synchronous_commit')`).Scan(&waits))

		return waits
	}
	_, err := tx.Exec(t.Context(), `SET LOCAL synchronous_commit = on`)
	require.NoError(t, err)
	var id int64
	require.NoError(t, tx.QueryRow(t.Context(), `SELECT job_insert('understand', '{}', 'turns')`).Scan(&id))
	_, err = tx.Exec(t.Context(), `UPDATE river_job SET state = 'available' WHERE id = $1`, id)
	require.NoError(t, err)
	require.Equal(t, "on", waits())
	fetched, err := riverpgxv5.New(nil).UnwrapExecutor(tx).JobGetAvailable(t.Context(), &riverdriver.JobGetAvailableParams{
		ClientID: "me", MaxAttemptedBy: 1, MaxToLock: 1, Queue: "turns", Schema: pg.Schema,
	})
	require.NoError(t, err)
	require.Len(t, fetched.Jobs, 1)
	require.Equal(t, id, fetched.Jobs[0].ID)
	require.Equal(t, "off", waits())
}

// jobRow is a job's row without its id and times.
func jobRow(t *testing.T, tx pgx.Tx, id int64) map[string]any {
	t.Helper()

	var row map[string]any
	require.NoError(t, tx.QueryRow(t.Context(),
		`SELECT to_jsonb(j) - 'id' - 'created_at' - 'scheduled_at' FROM river_job AS j WHERE id = $1`, id).Scan(&row))

	return row
}

// Verifies channel and payload of the notification: without it, a worker finds the job only at its next poll, up to a
// second later.
func TestIdleWorkerStartsAtOnce(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	h := setup(t, chat(5))
	h.start()
	h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID) // connections are warm from here on
	fastest := time.Hour
	for range 4 {
		time.Sleep(300 * time.Millisecond) // idle: between two polls
		turn := h.enqueue(jobs.EnqueueParams{})
		h.summarized(turn.TurnID)
		waits := column[float64](h, `SELECT extract(epoch FROM j.attempted_at - t.started_at)::float8
			FROM river_job AS j JOIN turns AS t ON t.id = $1 WHERE j.kind = 'understand' AND j.args @> jsonb_build_object('turn_id', t.id)`, turn.TurnID)
		fastest = min(fastest, time.Duration(waits[0]*float64(time.Second)))
	}
	require.Less(t, fastest, 100*time.Millisecond)
}
