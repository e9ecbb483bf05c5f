package crud_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/dbtest"
	"alfred/internal/testfactory"
	"alfred/internal/vocab"
)

// Amounts that a program keeps in cents are sought, added up, written and taken back as people say them.
func TestAmountsKeptInCents(t *testing.T) {
	t.Parallel()

	tx := dbtest.OwnTx(t)
	_, err := tx.Exec(t.Context(), `CREATE SCHEMA kiosk; CREATE TABLE kiosk.users (id serial PRIMARY KEY, name text NOT NULL);
CREATE TABLE kiosk.fees (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES kiosk.users, title text NOT NULL, price_cents integer NOT NULL CHECK (price_cents > 0), pieces integer NOT NULL DEFAULT 1);
INSERT INTO kiosk.users (name) VALUES ('Ada'); INSERT INTO kiosk.fees (user_id, title, price_cents) VALUES (1, 'Boat', 9500), (1, 'Towel', 29)`)
	require.NoError(t, err)
	d := testfactory.Views(t, tx, "kiosk", strings.NewReplacer("    # read only; to allow more: writes: [create, update, delete] and columns: [title, price, pieces]",
		"    writes: [create, update, delete]\n    columns: [title, price, pieces]"))
	_, err = tx.Exec(t.Context(), `INSERT INTO kiosk_alfred.alfred_accounts VALUES ($1, 1)`, demoUser)
	require.NoError(t, err)
	b := setupOn(t, tx, uuid.MustParse(demoUser), d.Domain)
	held := func() string {
		return query[string](b, `SELECT string_agg(title || ' ' || price_cents, ', ' ORDER BY id) FROM kiosk.fees`)
	}

	before := held()
	dear := b.rows(b.ok("read", vocab.ToolRead, `{"table": "fees", "filters": [{"field": "price", "op": ">", "value": 50}]}`))
	require.Equal(t, []string{"Boat"}, column[string](dear, "title"))
	require.Equal(t, "- fee_1: Boat price:95.00 pieces:1", "- fee_1: "+d.ByType("fee").Display.Render(dear[0]))
	b.scope.Call++
	sum := b.rows(b.ok("analyze", vocab.ToolAnalyze, `{"table": "fees", "filters": [], "aggregates": [{"fn": "sum", "column": "price * pieces"}]}`))
	require.Equal(t, []float64{95.29}, column[float64](sum, "sum_price_pieces"))
	b.scope.Call++
	require.Contains(t, b.refused("write", vocab.ToolCreate, `{"table": "fees", "data": {"title": "Odd", "price": 4.505}}`, crud.CodeValueChanged), "4.505")
	b.scope.Call++
	require.Contains(t, b.refused("write", vocab.ToolCreate, `{"table": "fees", "data": {"title": "Free"}}`, crud.CodeViolation), "price needs a value")
	b.scope.Call++
	require.Equal(t, "price_cents has to be more than 0.", b.refused("write", vocab.ToolCreate, `{"table": "fees", "data": {"title": "Free", "price": 0}}`, crud.CodeViolation))
	b.nextTurn()
	b.ok("write", vocab.ToolCreate, `{"table": "fees", "data": {"title": "Mast", "price": 4.5}}`)
	b.scope.Call++
	b.ok("write", vocab.ToolUpdate, `{"table": "fees", "filters": [{"field": "title", "op": "=", "value": "Boat"}], "set": [{"column": "price", "value": 12.34}]}`)
	b.scope.Call++
	b.ok("write", vocab.ToolDelete, `{"table": "fees", "filters": [{"field": "title", "op": "=", "value": "Towel"}]}`)
	require.Equal(t, "Boat 1234, Mast 450", held())
	b.agreed(b.scope.TurnID, b.scope.Turn)
	require.Equal(t, before, held())
}
