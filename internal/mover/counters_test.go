package mover_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Rows whose keys an import gave, and a counter set behind them that has given none itself yet.
func TestCountersThatHaveGivenNothingMoveOn(t *testing.T) {
	t.Parallel()
	d := openDesk(t)
	d.exec("a", `INSERT INTO desk.notes (id, user_id, title) SELECT n, $1, 'imported ' || n FROM generate_series(50, 52) AS n`, d.user)
	d.exec("a", `SELECT setval('desk.notes_id_seq', 53, false)`)

	_, err := d.move("b", true, false)
	require.NoError(t, err)
	require.Equal(t, "true", d.text("b", `SELECT (nextval('desk.notes_id_seq') > 52)::text`), "the next notes would get keys of the imported ones")
}
