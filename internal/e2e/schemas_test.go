package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/llm/script"
	"alfred/internal/testfactory"
)

// A conversation about the tables of three schemas, two of which have notes: what leads from one schema to another is read, written,
// deleted and undone as within one.
func TestTablesOfSeveralSchemas(t *testing.T) {
	t.Parallel()
	c := talkIn(t, testfactory.Works)
	d := testfactory.Views(t, c.pool, "Sales,Production,Person", testfactory.WorksReview).Domain
	c.exec(`INSERT INTO "Sales_alfred".alfred_accounts VALUES ($1, 1)`)
	model, err := script.Parse([]byte(`
turns:` + act("read", "read", "Order", `{tool: db_read, args: {table: Order, detail: full}}, {tool: db_read, args: {table: Address}}, {tool: db_read, args: {table: Product}}`) +
		act("write", "write", "Order", `{tool: db_create, args: {table: Order, data: {Title: Summer, ShipToID: address_1, OrderDetail: [{ProductID: product_1, OrderQty: 3}]}}}`) +
		act("write", "write", "Production_Note", `{tool: db_create, args: {table: Production_Note, data: {body: stable, ProductID: product_1}}}`) + `
  - understand: {intent: write}
    think: {goal: "", decision: plan, steps: [], calls: [{tool: db_read, table: Production_Note, filters: [{field: ProductID.Name, op: "=", value: Touring 1000}]}, {tool: db_read, table: Sales_Note}]}
    reply: These.` +
		act("write", "write", "Production_Note", `{tool: praise, args: {note: production_note_1, words: " indeed"}}`) +
		act("write", "write", "Order", `{tool: db_delete, args: {table: Order, filters: [{field: id, op: "=", value: order_1}]}}`) + `
  - understand: {intent: write}
    think: {goal: "", decision: plan, steps: [], calls: [{tool: undo}]}`))
	require.NoError(t, err)
	c.work(d, model)
	c.ask("Show my orders, addresses and products")
	c.ask("Three Touring 1000, to Ghent, for the summer")
	c.fact("Summer 1 1 3", `SELECT concat_ws(' ', o."Title", o."ShipToID", l."ProductID", l."OrderQty") FROM "Sales"."Order" AS o JOIN "Sales"."OrderDetail" AS l USING ("OrderID") WHERE o."Title" = 'Summer' AND $1::uuid IS NOT NULL`)
	c.ask("Note that the Touring 1000 is stable")
	c.fact("200 stable Production", `SELECT concat_ws(' ', n.id, n.body, x.what) FROM "Production"."Note" AS n, "Production"."Count" AS x WHERE n.id = 200 AND $1::uuid IS NOT NULL LIMIT 1`)
	c.ask("What notes are there?")
	c.ask("Praise the note on the Touring 1000")
	c.fact("stable indeed", `SELECT body FROM "Production"."Note" WHERE id = 200 AND $1::uuid IS NOT NULL`)
	before := c.one(worksRows)
	c.ask("Delete the order Spring")
	c.fact("Summer", `SELECT string_agg("Title", ', ') FROM "Sales"."Order" WHERE "PersonID" = 1 AND $1::uuid IS NOT NULL`)
	c.ask("Undo that")
	c.fact(before, worksRows)
	c.checkCommon()
}

const worksRows = `SELECT string_agg(x::text, ' ' ORDER BY x::text) FROM (SELECT to_jsonb(o) AS x FROM "Sales"."Order" AS o UNION ALL SELECT to_jsonb(l) FROM "Sales"."OrderDetail" AS l
	UNION ALL SELECT to_jsonb(n) FROM "Sales"."Note" AS n UNION ALL SELECT to_jsonb(n) FROM "Production"."Note" AS n) AS x WHERE $1::uuid IS NOT NULL`
