package chaos_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A server that cannot be followed is detected before anything is done. The message names --off, and with --off its
// users move.
func TestMovesRefuseToFollow(t *testing.T) {
	t.Parallel()
	f := openFleet(t, openLab(t), 1)
	who, source := f.movers[0], f.servers["two"]
	f.finish(who)
	for _, c := range []struct{ setting, says string }{
		{"-c wal_level=replica", "wal_level = replica"},
		{"-c max_wal_senders=0", "max_wal_senders"},
		{"-c max_replication_slots=1", "max_replication_slots"},
	} {
		require.NoError(t, source.crash())
		source.settings = c.setting
		require.NoError(t, source.start(t.Context()))
		if c.says == "max_replication_slots" {
			require.NoError(t, source.sql(t.Context(), `SELECT pg_create_physical_replication_slot('of_somebody')`))
		}
		f.pools["two"].Reset()
		who.off = false
		_, moved, problem := f.move(t.Context(), who)
		require.False(t, moved, c.says)
		require.Contains(t, problem, c.says)
		require.Contains(t, problem, "--off")
		f.requireAlone(who, "two")
		var published int
		require.NoError(t, f.pools["two"].QueryRow(t.Context(), `SELECT count(*) FROM pg_publication`).Scan(&published))
		require.Zero(t, published)
	}
	who.off = true
	f.finish(who)
	f.requireAlone(who, "one")
}
