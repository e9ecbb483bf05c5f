package e2e_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
	"alfred/internal/llm/script"
	"alfred/internal/testfactory"
)

// rentalReview is what the owner adds to what init writes.
var rentalReview = strings.NewReplacer(
	"\n  - type: hire\n", "\n  - type: hire\n    writes: [update]\n    columns: [street]\n",
	"\nsnapshot:", `
operations:
  - {name: cancel_hire, function: cancel_hire, on: hire, confirm: always, preview: cancel_preview, changes: [refund], trusted: true}
  - {name: exchange_tool, function: exchange_tool, on: hire, confirm: never, changes: [hire_line], trusted: true}
  - {name: return_tools, function: return_tools, on: hire, confirm: never, changes: [hire_line], trusted: true}

snapshot:`)

// rowLevelSecurity is what another owner of the same tables adds: policies for their own program.
const rowLevelSecurity = `
DO $$ DECLARE t text; BEGIN
	FOREACH t IN ARRAY ARRAY['customers', 'hires', 'hire_lines', 'refunds'] LOOP
		EXECUTE format('ALTER TABLE rental.%I ENABLE ROW LEVEL SECURITY', t);
		EXECUTE format('CREATE POLICY program ON rental.%I TO rental_app USING (true)', t);
	END LOOP;
END $$`

// W03, W06: tables with only composite keys and their own row-level security: init, review, probe, and a conversation
// with a change of address, an exchange, a return and a cancellation by the owner's functions. The owner's program sees
// no difference before, during and after.
func TestW03CompositeKeysInConversation(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)
	hireTools(t, "")
}

func TestW03RowLevelSecurityInConversation(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)
	hireTools(t, rowLevelSecurity)
}

func hireTools(t *testing.T, besides string) {
	t.Helper()
	c := talkOver(t, "testdata/rental.sql")
	_, err := c.pool.Exec(t.Context(), besides)
	require.NoError(t, err)
	catalog := strings.ReplaceAll(ownersView, "retail", "rental")
	if besides != "" { // the owner adds the policies for the views' role
		catalog = strings.Replace(catalog, "SELECT polname FROM pg_policy", "SELECT polname FROM pg_policy WHERE polname <> 'alfred_views'", 1)
	}
	owners, before := c.plain(catalog), c.rentalProgram()
	d, decl := rentalOf(t, c)
	require.Equal(t, owners, c.plain(catalog), "nothing of the owner's is altered")
	require.Equal(t, before, c.rentalProgram())

	c.exec(`INSERT INTO rental_alfred.alfred_accounts VALUES ($1, 'C1')`)
	proof, err := domain.Probe(t.Context(), c.pool, decl)
	require.NoError(t, err)
	require.Empty(t, proof.Broken)

	model, err := script.Parse([]byte(`
turns:` + act("read", "read", "hires", `{tool: db_read, args: {table: hires, detail: full}}`) +
		act("write", "write", "hires", `{tool: db_update, args: {table: hires, filters: [{field: id, op: "=", value: hire_3}], data: {street: 2 New Street}}}`) +
		act("write", "write", "hires", `{tool: exchange_tool, args: {this: hire_1, line: 1, wanted: 2}}`) +
		act("write", "write", "hires", `{tool: return_tools, args: {this: hire_2}}`) +
		act("write", "write", "hires", `{tool: cancel_hire, args: {this: hire_3, reason: no time}}`) + `
  - understand: {intent: confirm, answers_question: true}
    reply: Cancelled.`))
	require.NoError(t, err)
	c.work(d, model)
	c.ask("What have I hired?")
	c.fact("Floor, Roof, Shelf", `SELECT string_agg(label, ', ' ORDER BY ref) FROM entity_refs WHERE session_id = $1 AND entity_type = 'hire' AND state = 'stored'`)
	c.ask("Send the shelf's to 2 New Street")
	c.fact("2 New Street", `SELECT street FROM rental.hires WHERE title = 'Shelf'`)
	c.fact("rental_owner", `SELECT DISTINCT by_role FROM rental.books`)
	c.ask("A larger drill for the floor, please")
	c.fact("exchange asked exchange for Large drill", `SELECT status || ' ' || wish FROM rental.hires JOIN rental.hire_lines USING (branch) WHERE title = 'Floor' AND hire = number`)
	c.ask("The roof is done")
	c.fact("returned returned", `SELECT status || ' ' || wish FROM rental.hires JOIN rental.hire_lines USING (branch) WHERE title = 'Roof' AND hire = number`)
	require.Equal(t, before, c.rentalProgram(), "meanwhile")
	c.asked("Cancel the shelf")
	require.Contains(t, c.one(`SELECT payload->>'text' FROM questions WHERE session_id = $1 AND status = 'open'`), "Shelf would be cancelled and 12.50 refunded.")
	c.fact("booked", `SELECT status FROM rental.hires WHERE title = 'Shelf'`)
	c.ask("Yes")
	c.fact("cancelled 12.50", `SELECT status || ' ' || amount FROM rental.hires AS h JOIN rental.refunds AS r ON (r.branch, r.hire) = (h.branch, h.number) WHERE title = 'Shelf'`)
	c.fact("1 0", `SELECT count(*) || ' ' || sum(sent) FROM rental.outbox`)

	require.Equal(t, owners, c.plain(catalog))
	require.NoError(t, domain.Drop(t.Context(), c.pool, decl))
	require.Equal(t, owners, c.plain(catalog))
	require.Equal(t, before, c.rentalProgram(), "after")
}

// policyFor matches a statement that a note of Views suggests to the owner.
var policyFor = regexp.MustCompile(`CREATE POLICY alfred_views .*`)

// rentalOf opens the tools for hire in their owner's state, declared by init and the owner's review.
func rentalOf(t *testing.T, c *talk) (*domain.Domain, *domain.Declaration) {
	t.Helper()

	v := testfactory.Views(t, c.pool, "rental", rentalReview)
	for _, note := range v.Notes {
		_, err := c.pool.Exec(t.Context(), policyFor.FindString(note))
		require.NoError(t, err, note)
	}

	return v.Domain, v.Decl
}

// rentalProgram is what the owner's program sees of another customer, and what it can do.
func (c *talk) rentalProgram() string {
	c.t.Helper()
	tx, err := c.pool.Begin(c.bg())
	require.NoError(c.t, err)
	defer func() { require.NoError(c.t, tx.Rollback(c.bg())) }()
	_, err = tx.Exec(c.bg(), `SET LOCAL ROLE rental_app`)
	require.NoError(c.t, err)
	var seen []string
	for _, sql := range []string{
		`SELECT count(*)::text FROM rental.hires`, `SELECT string_agg(h::text, ' ') FROM rental.hires AS h WHERE customer_id = 'C2'`,
		`SELECT string_agg(l::text, ' ') FROM rental.hire_lines AS l WHERE branch = 'S'`,
		`UPDATE rental.hires SET street = '6 Side Street' WHERE customer_id = 'C2' RETURNING street`,
		`INSERT INTO rental.hires VALUES ('S', 8, 'C2', 'Gate', 'booked', 'x') RETURNING title`,
		`DELETE FROM rental.hires WHERE branch = 'S' AND number = 8 RETURNING status`,
	} {
		rows, err := tx.Query(c.bg(), sql)
		require.NoError(c.t, err, sql)
		found, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(c.t, err, sql)
		seen = append(seen, strings.Join(found, "; "))
	}

	return strings.Join(seen, "\n")
}
