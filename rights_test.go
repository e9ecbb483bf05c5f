package alfred_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred"
	"alfred/internal/dbtest"
)

// A program's own role needs what docs/operations.md grants it, and gets no more.
func TestHostOfARoleOfItsOwn(t *testing.T) {
	t.Parallel()

	address := dbtest.URL(t)
	owner := host(t, address)
	role, shop := another(t, owner, address)
	start := func(user string) (session uuid.UUID, err error) {
		return session, pgx.BeginFunc(t.Context(), shop, func(tx pgx.Tx) error {
			session, err = alfred.StartSession(t.Context(), tx, user, "")

			return err
		})
	}
	_, err := start("ada")
	requireDenied(t, err)
	_, err = owner.Exec(t.Context(), strings.ReplaceAll(documentedGrants(t), " shop;", " "+role+";"))
	require.NoError(t, err)

	session, err := start("ada")
	require.NoError(t, err)
	var turn *alfred.Enqueued
	enqueue := func(tx pgx.Tx) error {
		turn, err = alfred.Enqueue(t.Context(), tx, alfred.EnqueueParams{SessionID: session, Message: "Hello", Limits: alfred.Limits{Turns: 9}})

		return err
	}
	require.NoError(t, pgx.BeginFunc(t.Context(), shop, enqueue))
	done, err := open(t, alfred.Config{URL: address}).Turn(t.Context(), turn.TurnID)
	require.NoError(t, err)
	require.EqualValues(t, "running", done.Status)
	require.NoError(t, pgx.BeginFunc(t.Context(), shop, func(tx pgx.Tx) error {
		cancelled, err := alfred.Cancel(t.Context(), tx, turn.TurnID)
		require.True(t, cancelled)

		return err
	}))
	require.ErrorIs(t, pgx.BeginFunc(t.Context(), shop, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), `SELECT set_config('alfred.user_id', $1, true)`, uuid.NewString())
		require.NoError(t, err)

		return enqueue(tx)
	}), alfred.ErrSessionNotFound, "a transaction that names a user acts for that one alone")
	for _, table := range []string{"users", "sessions", "turns", "v_turns", "river_job"} {
		_, err := shop.Exec(t.Context(), `SELECT FROM alfred.`+table)
		requireDenied(t, err)
	}
}

func requireDenied(t *testing.T, err error) {
	t.Helper()
	var refused *pgconn.PgError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, pgerrcode.InsufficientPrivilege, refused.Code)
}

// documentedGrants is the statement that docs/operations.md gives to the owner.
func documentedGrants(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("docs/operations.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(page), "```sql\nGRANT USAGE ON SCHEMA alfred TO shop;\n")
	require.True(t, found, "the grants are gone")
	grants, _, _ := strings.Cut(rest, "```")

	return "GRANT USAGE ON SCHEMA alfred TO shop;\n" + grants
}

// another makes a role that owns nothing, and a pool that connects as it.
func another(t *testing.T, owner *pgxpool.Pool, address string) (role string, pool *pgxpool.Pool) {
	t.Helper()
	role = "alfred_host_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	_, err := owner.Exec(t.Context(), fmt.Sprintf(`CREATE ROLE %[1]s LOGIN PASSWORD '%[1]s'`, role))
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := owner.Exec(context.Background(), fmt.Sprintf(`DROP OWNED BY %[1]s; DROP ROLE %[1]s`, role)) // the test's own context is done
		require.NoError(t, err)
	})
	as, err := url.Parse(address)
	require.NoError(t, err)
	as.User = url.UserPassword(role, role)

	return role, host(t, as.String())
}
