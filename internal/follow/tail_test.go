package follow_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/follow"
	"alfred/internal/pg"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// Whoever was refused a read asks again from where they were.
func TestTailStaysWhereARefusedReadBegan(t *testing.T) {
	t.Parallel()
	pool := dbtest.Pool(t)
	var turn, user uuid.UUID
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT enqueue_turn(start_session('Ada'), 'hello')`).Scan(&turn))
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT user_id FROM turns WHERE id = $1`, turn).Scan(&user))
	_, err := pool.Exec(t.Context(), `SELECT turn_end($1, 'cancelled', 'cancelled', 'Done.')`, turn)
	require.NoError(t, err)

	refused := errors.New("not now")
	good := refused
	reader := &follow.Reader{Pool: pool, Listener: pg.NewListener(pool.Config().ConnConfig, slog.New(slog.DiscardHandler)), UserID: user, StillGood: func(context.Context) error { return good }}
	all := reader.Events(t.Context(), turn, 0, time.Second)
	for _, err := range all {
		require.ErrorIs(t, err, refused)
	}
	good = nil
	var seen []follow.Event
	for events, err := range all {
		require.NoError(t, err)
		seen = append(seen, events...)
	}
	require.NotEmpty(t, seen)
	require.EqualValues(t, 1, seen[0].Seq)
}

// Turns wait for a database that is away, and so does whoever reads them: the message is stored, and must not be sent again.
func TestReaderWaitsForTheDatabase(t *testing.T) {
	t.Parallel()
	pool := dbtest.Pool(t)
	var turn, user uuid.UUID
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT enqueue_turn(start_session('Ada'), 'hello')`).Scan(&turn))
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT user_id FROM turns WHERE id = $1`, turn).Scan(&user))

	away := 3
	reader := &follow.Reader{Pool: pool, UserID: user, StillGood: func(context.Context) error {
		if away--; away >= 0 {
			return &pgconn.PgError{Code: pgerrcode.AdminShutdown}
		}

		return nil
	}}
	found, err := reader.Turn(t.Context(), turn)
	require.NoError(t, err)
	require.Equal(t, turn, found.ID)

	away = 1 << 30
	short, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err = reader.Turn(short, turn)
	require.Error(t, err, "nobody waits longer than asked to")
}
