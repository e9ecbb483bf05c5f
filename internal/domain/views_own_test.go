package domain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
)

// figures are what owners make of their tables for reports, which no unique constraint describes.
const figures = `
CREATE SCHEMA figures;
CREATE TABLE figures.users (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE figures.sales (id integer PRIMARY KEY, user_id integer NOT NULL REFERENCES figures.users, sold_on date NOT NULL, amount numeric NOT NULL);
INSERT INTO figures.users VALUES (1, 'Ada'), (2, 'Eve');
INSERT INTO figures.sales VALUES (1, 1, '2026-01-05', 10), (2, 1, '2026-01-09', 5), (3, 2, '2026-01-09', 7);
CREATE MATERIALIZED VIEW figures.months AS SELECT user_id || to_char(sold_on, ' YYYY-MM') AS month, user_id, sum(amount) AS amount FROM figures.sales GROUP BY 1, 2;
CREATE UNIQUE INDEX ON figures.months (month);
CREATE VIEW figures.totals AS SELECT month, user_id, amount FROM figures.months`

// Views over views that are stored show their rows, too. Their columns have no constraints, so that the declaration names the key, as of any
// view that computes it.
func TestViewsOverStoredViews(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, figures)
	d := attached(t, tx, "figures",
		"entities:\n", "entities:\n  - {type: month, table: months, key: month, speakable: true, label: \"{code}\", display: \"{code} {amount}\"}\n  - {type: total, table: totals, key: month, speakable: true, label: \"{code}\"}\n",
		"subdomains:\n", "subdomains:\n  - {name: months, tables: [months, totals], description: By month.}\n")
	for _, name := range []string{"months", "totals"} {
		require.Contains(t, d.Text, "# left out, "+name+": no column is known to tell its rows apart; name one that does under key\n")
		require.Equal(t, "1 2026-01 15", as(t, tx, adaID, `SELECT string_agg(month || ' ' || amount, ',') FROM figures_alfred.`+name))
	}
}
