package domain_test

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
)

// altering alters a table before the first query that contains a text.
type altering struct {
	pgx.Tx

	before string
	alter  *string
}

func (a altering) Begin(ctx context.Context) (pgx.Tx, error) {
	tx, err := a.Tx.Begin(ctx)

	return altering{tx, a.before, a.alter}, err
}

func (a altering) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if strings.Contains(sql, a.before) {
		alter := *a.alter
		*a.alter = ""
		if _, err := a.Exec(ctx, alter); err != nil {
			return nil, err
		}
	}

	return a.Tx.Query(ctx, sql, args...)
}

// A running worker looks at tables that others may be altering: what it reads is from before or after, and never ends it.
func TestTablesAlteredWhileTheyAreRead(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	for before, alter := range map[string]string{
		"k.contype IN": `ALTER TABLE torn.things ADD COLUMN code text NOT NULL UNIQUE`,
		"g.tgtype & 7": `ALTER TABLE torn.things ADD COLUMN code text NOT NULL;
CREATE FUNCTION torn.fill() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.code := md5(NEW.name); RETURN NEW; END';
CREATE TRIGGER fill BEFORE INSERT ON torn.things FOR EACH ROW EXECUTE FUNCTION torn.fill()`,
	} {
		exec(t, tx, `CREATE SCHEMA torn; CREATE TABLE torn.things (name text NOT NULL)`)
		once := alter
		read, err := domain.InitViews(t.Context(), altering{tx, before, &once}, domain.InitSource{Schemas: domain.Schemas{"torn"}})
		require.NoError(t, err)
		require.Empty(t, once)
		exec(t, tx, alter) // the first one was rolled back
		again, err := domain.InitViews(t.Context(), tx, domain.InitSource{Schemas: domain.Schemas{"torn"}})
		require.NoError(t, err)
		require.Equal(t, again, read)
		exec(t, tx, `DROP SCHEMA torn CASCADE`)
	}
}
