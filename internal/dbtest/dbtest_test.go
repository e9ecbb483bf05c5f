package dbtest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func TestPoolsAreApart(t *testing.T) {
	t.Parallel()

	one, two := dbtest.Pool(t), dbtest.Pool(t)
	_, err := one.Exec(t.Context(), `INSERT INTO alfred.users (name) VALUES ('only in one')`)
	require.NoError(t, err)

	var count int
	require.NoError(t, two.QueryRow(t.Context(), `SELECT count(*) FROM alfred.users WHERE name = 'only in one'`).Scan(&count))
	require.Zero(t, count)
}

func TestTransactionsLeaveNothing(t *testing.T) {
	t.Parallel()

	for range 2 {
		t.Run("TheSameName", func(t *testing.T) {
			t.Parallel()

			tx := dbtest.Tx(t)
			_, err := tx.Exec(t.Context(), `INSERT INTO users (name) VALUES ('rolled back')`)
			require.NoError(t, err)
		})
	}
}

func BenchmarkPool(b *testing.B) {
	for b.Loop() {
		pool := dbtest.Pool(b)
		pool.Close()
	}
}
