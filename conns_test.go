package alfred

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAddressBoundsTheConnections(t *testing.T) {
	t.Parallel()

	require.EqualValues(t, 20, maxConns("postgres://db/alfred"))
	require.Zero(t, maxConns("postgres://db/alfred?pool_max_conns=7"), "pgx reads it")
	require.Zero(t, maxConns("host=db pool_max_conns=7"), "pgx reads it")
}
