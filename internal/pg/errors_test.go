package pg_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/pg"
)

// K13: Postgres's message about a library that it can no longer load does not say that its package was upgraded.
func TestK13HintNamesAnUpgradedServer(t *testing.T) {
	t.Parallel()

	gone := &pgconn.PgError{Code: pgerrcode.UndefinedFile, Message: `could not load library "/usr/lib/postgresql/15/lib/plpgsql.so": undefined symbol: x`}
	require.Contains(t, pg.Hint(fmt.Errorf("start turn: %w", gone)), "restart Postgres")
	require.Empty(t, pg.Hint(&pgconn.PgError{Code: pgerrcode.UndefinedFile, Message: `could not open file "base/1"`}))
	require.Empty(t, pg.Hint(errors.New("could not load library")))
	require.Empty(t, pg.Hint(nil))
	require.Contains(t, pg.Hint(&pgconn.PgError{Code: pgerrcode.AmbiguousFunction}), "another schema")
}

// Whatever the reason why the server does not let us in, nothing was done, and the same may succeed later.
func TestRefusedConnectionIsTransient(t *testing.T) {
	t.Parallel()

	config := dbtest.Pool(t).Config().ConnConfig.Copy()
	config.User = "somebody_without_a_login"
	_, err := pgx.ConnectConfig(t.Context(), config)
	require.Error(t, err)
	require.NotEmpty(t, pg.Code(err))
	require.True(t, pg.IsTransient(fmt.Errorf("look up key: %w", err)), "%v", err)
}
