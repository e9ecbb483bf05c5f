package domain_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
)

// Rules that compare columns are told beside the column they begin with, if they are no more than that.
func TestComparisonsAreDescribed(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, library)
	exec(t, tx, `
ALTER TABLE library.loans ADD starts_at timestamptz, ADD "Ends" timestamptz, ADD least numeric, ADD most double precision, ADD paid integer, ADD secret integer,
	ADD CHECK ("Ends" > starts_at), ADD CHECK (least IS NULL OR most IS NULL OR least <= most), ADD CHECK (paid <> secret),
	ADD CHECK (paid < least AND paid < most), ADD CHECK (paid IS NULL OR starts_at IS NOT NULL), ADD CHECK (least + most < paid),
	ADD CHECK (starts_at IS NULL OR (starts_at > due_on AND "Ends" > due_on)), ADD CHECK (paid > book_id), ADD CHECK (returned OR paid > 0);
GRANT UPDATE (starts_at, "Ends", least, most, due_on) ON library.loans TO alfred_tenant`)
	d, err := bindText(t, tx, strings.Replace(libraryYAML, "    aliases: [borrowing]\n", "    aliases: [borrowing]\n    hidden: [secret]\n    writes: [update]\n    columns: [starts_at, Ends, least, most, due_on]\n", 1))
	require.NoError(t, err)
	require.Equal(t, []string{
		"- due_on: date (2026-01-31)",
		"- starts_at: timestamp (2026-01-31T18:00)",
		"- Ends: timestamp (2026-01-31T18:00), Ends > starts_at",
		"- least: number, least <= most, paid < least",
		"- most: number, paid < most",
		"- paid: whole number, never written",
	}, linesOf(d.ByType("loan"), "due_on", "starts_at", "Ends", "least", "most", "paid"))
}

// linesOf are the lines of these columns in a type's description.
func linesOf(e *domain.Entity, names ...string) []string {
	var found []string
	for line := range strings.Lines(e.Describe()) {
		for _, name := range names {
			if strings.HasPrefix(line, "- "+name+":") {
				found = append(found, strings.TrimSuffix(line, "\n"))
			}
		}
	}

	return found
}
