package pg_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

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
}
