package domain_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
	"alfred/internal/testfactory"
)

// office is a program that a company's staff share: no row is anybody's own.
const office = `CREATE SCHEMA office;
	CREATE TABLE office.staff (id serial PRIMARY KEY, name text NOT NULL UNIQUE);
	CREATE TABLE office.customers (id serial PRIMARY KEY, name text NOT NULL, city text);
	CREATE TABLE office.orders (id serial PRIMARY KEY, customer_id integer NOT NULL REFERENCES office.customers, taken_by integer NOT NULL REFERENCES office.staff, note text);
	CREATE TABLE office.lines (id serial PRIMARY KEY, order_id integer NOT NULL REFERENCES office.orders ON DELETE CASCADE, what text NOT NULL, pieces integer NOT NULL DEFAULT 1);
	INSERT INTO office.staff (name) VALUES ('ada'), ('eve');
	INSERT INTO office.customers (name) VALUES ('Acme'), ('Bolt'); INSERT INTO office.orders (customer_id, taken_by) VALUES (1, 2);
	INSERT INTO office.lines (order_id, what) VALUES (1, 'Nuts')`

// staffed declares the office with what its staff may write, and attaches the views.
func staffed(t *testing.T, tx pgx.Tx, accounts string) *testfactory.Viewed {
	t.Helper()

	return testfactory.ViewsOf(t, tx, domain.InitSource{Schemas: domain.Schemas{"office"}, Accounts: accounts, Everybody: true}, strings.NewReplacer(
		"# read only; to allow more: writes: [create, update, delete] and columns:", "writes: [create, update, delete]\n    columns:",
		" [those that may be set]", " [name]"))
}

// What a company's staff share, each of them reads and writes: without an owner's column, rows could only be read.
func TestEverybodyHasTheRows(t *testing.T) {
	t.Parallel()
	for name, accounts := range map[string]string{"with accounts": "staff", "without": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tx := dbtest.Tx(t)
			exec(t, tx, office)
			d := staffed(t, tx, accounts)
			require.Contains(t, d.Text, "      - type: line\n", "the parts of an order")
			require.NotContains(t, d.Text, "reference: true")
			require.NotContains(t, d.Text, "no column that tells tenants apart")
			require.NotContains(t, d.Text, `- name: "lines"`, "are planned with orders")
			taken, by := d.ByType("order").Column("taken_by"), ", taken_by"
			require.False(t, taken.Hidden)
			require.Equal(t, accounts == "", taken.Required(), "an account fills it")

			values := "2, 1"
			if accounts != "" {
				exec(t, tx, `INSERT INTO office_alfred.alfred_accounts VALUES ('`+adaID+`', 1), ('`+eveID+`', 2)`)
				values, by = "2", ""
			}
			exec(t, tx, `SELECT set_config('role', 'alfred_tenant', true), set_config('alfred.user_id', '`+adaID+`', true);
				INSERT INTO office_alfred.orders (customer_id`+by+`) VALUES (`+values+`); UPDATE office_alfred.orders SET note = 'hers' WHERE id = 1;
				INSERT INTO office_alfred.lines (order_id, what) VALUES (1, 'Bolts'); DELETE FROM office_alfred.lines WHERE what = 'Nuts'; RESET ROLE`)
			const seen = `SELECT string_agg(concat_ws(' ', o.id, c.name, s.name, note, l.what), ', ' ORDER BY o.id) FROM office_alfred.orders AS o
				JOIN office_alfred.customers AS c ON c.id = customer_id JOIN office_alfred.staff AS s ON s.id = taken_by LEFT JOIN office_alfred.lines AS l ON l.order_id = o.id`
			for _, user := range []string{adaID, eveID} {
				require.Equal(t, "1 Acme eve hers Bolts, 2 Bolt ada", as(t, tx, user, seen))
			}
			stranger := "0"
			if accounts == "" {
				stranger = "2"
			}
			require.Equal(t, stranger, as(t, tx, uuid.NewString(), `SELECT count(*)::text FROM office_alfred.orders`))
			require.Equal(t, "0", as(t, tx, "", `SELECT count(*)::text FROM office_alfred.orders`), "nobody is not everybody")

			if accounts != "" { // the probe maps accounts itself
				exec(t, tx, `DELETE FROM office_alfred.alfred_accounts`)
			}
			proof, err := domain.Probe(t.Context(), tx, d.Decl)
			require.NoError(t, err)
			require.Empty(t, proof.Broken)
			require.Empty(t, proof.Untried)
			require.Equal(t, []string{"customer", "line", "order", "staff"}, proof.Everybodys)
		})
	}
}

// Rows that everybody has are not somebody's as well, and no table without views has such.
func TestEverybodyContradicted(t *testing.T) {
	t.Parallel()
	tx := dbtest.Tx(t)
	exec(t, tx, office)
	decl := staffed(t, tx, "").Decl
	for field, set := range map[string]func(e *domain.EntityDecl){
		"reference": func(e *domain.EntityDecl) { e.Reference = true },
		"owned_by":  func(e *domain.EntityDecl) { e.OwnedBy = []string{"order_id"} },
	} {
		e := &decl.Entities[1]
		was := *e
		set(e)
		_, _, err := domain.Views(t.Context(), tx, decl)
		require.ErrorContains(t, err, "line: everybody: not beside reference, members or owned_by", field)
		*e = was
	}
	decl.Entities[0].Everybody = false
	_, _, err := domain.Views(t.Context(), tx, decl)
	require.ErrorContains(t, err, "no owner and no accounts: every type is reference: true or everybody: true then")
	decl.Entities[0].Everybody, decl.Schema, decl.Source = true, "office", domain.SourceDecl{}
	_, err = domain.Bind(t.Context(), tx, decl)
	require.ErrorContains(t, err, "everybody: only views of Alfred's give rows to all users")
}
