package crud_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/pg"
	"alfred/internal/vocab"
)

// received counts what a connection receives.
type received struct {
	net.Conn

	n *atomic.Int64
}

func (r received) Read(into []byte) (int, error) {
	n, err := r.Conn.Read(into)
	r.n.Add(int64(n))

	return n, err //nolint:wrapcheck // as it comes
}

// What goes with the rows of a deletion is counted for the question, and not read: it may be most of what the user has.
func TestWhatGoesWithADeletionIsNotReadForTheQuestion(t *testing.T) {
	t.Parallel()

	config, err := pgx.ParseConfig(dbtest.URL(t))
	require.NoError(t, err)
	config.RuntimeParams["search_path"] = pg.SearchPath
	var bytes atomic.Int64
	config.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)

		return received{conn, &bytes}, err
	}
	conn, err := pgx.ConnectConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	b := setupIn(t, tx, uuid.MustParse(demoUser))
	b.exec(`INSERT INTO kitchen.recipe_ingredients (user_id, recipe_id, name, notes) SELECT r.user_id, r.id, 'pea ' || n, repeat('x', 200)
		FROM generate_series(1, 1000) AS n, (SELECT id, user_id FROM kitchen.recipes WHERE user_id = $1 LIMIT 1) AS r`, b.scope.UserID)
	before := bytes.Load()
	asked := b.decide(vocab.StepWrite, call(vocab.ToolDelete, `{"table": "recipes", "filters": []}`)).Approval
	require.Contains(t, asked.Text, "recipe ingredients")
	require.Less(t, bytes.Load()-before, int64(200_000))
}
