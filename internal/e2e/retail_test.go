package e2e_test

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
	"alfred/internal/llm/script"
	"alfred/internal/testfactory"
	"alfred/internal/vocab"
)

// shopTables is the shop of a public benchmark, as its owner has it.
const shopTables = "../eval/suites/shop/tables.sql"

// reviewed is what an owner adds to the shop's declaration written by init: what may be written, and the shop's own
// functions as operations.
var reviewed = strings.NewReplacer(
	"\n  - type: order\n", "\n  - type: order\n    writes: [update]\n    columns: [address1, address2, city, state, country, zip]\n",
	"\n  - type: user\n", "\n  - type: user\n    writes: [update]\n    columns: [address1, address2, city, state, country, zip]\n",
	"\nsnapshot:", `
operations:
  - {name: cancel_order, function: cancel_order, on: order, confirm: always, preview: cancel_preview, changes: [payment, payment_method], trusted: true}
  - name: exchange_item
    function: exchange_item
    on: order
    confirm: {when: "status = 'pending'"}
    arguments: {wanted: item}
    changes: [order_item]
    description: Asks for an exchange of one line of a delivered order for another item of the same product.
    trusted: true
  - {name: return_items, function: return_items, on: order, confirm: always, arguments: {refund_to: payment_method}, changes: [order_item], description: Asks to return lines., trusted: true}

snapshot:`)

// ownersView is the catalog's description of the owner's objects, except for the grants to the views' role: nothing in
// it may change.
const ownersView = `
SELECT md5(string_agg(line, E'\n' ORDER BY line)) FROM (
	SELECT concat_ws('|', c.oid::regclass, c.relkind, c.relowner::regrole, c.relrowsecurity, a.attname, a.atttypid::regtype, a.attnotnull, pg_get_expr(d.adbin, d.adrelid)) AS line
	FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum WHERE c.relnamespace = 'retail'::regnamespace
	UNION ALL SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'retail'::regnamespace
	UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'retail'::regnamespace)
	UNION ALL SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'retail'::regnamespace
	UNION ALL SELECT concat_ws('|', c.oid::regclass, x.grantee::regrole, x.privilege_type) FROM pg_class c, aclexplode(c.relacl) x
		WHERE c.relnamespace = 'retail'::regnamespace AND x.grantee <> 0 AND x.grantee::regrole::text !~ 'alfred_views_'
	UNION ALL SELECT polname FROM pg_policy) AS lines`

// shopOf opens the shop in its owner's state, declared by init and the owner's review, accessed through views.
func shopOf(t *testing.T, pool *pgxpool.Pool) (*domain.Domain, *domain.Declaration) {
	t.Helper()
	v := testfactory.Views(t, pool, "retail", reviewed)
	require.Contains(t, v.Text, "# left out, outbox: no foreign key connects it")
	require.Empty(t, v.Notes)

	return v.Domain, v.Decl
}

// W03, W06, W07, W08: the shop of a public benchmark, unaltered: looking, a change of address, cancelling, an exchange
// and a return by the shop's own functions; other users' rows are unreachable, and the owner's own program sees no
// difference.
func TestW03ShopThroughViews(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)
	c := talkOver(t, shopTables)
	owners, before := c.plain(ownersView), ownersProgram(t, c.pool)
	d, decl := shopOf(t, c.pool)
	stop := whileTheOwnersProgramRuns(t, c.pool, before)
	require.Equal(t, owners, c.plain(ownersView), "nothing of the owner's is altered")

	c.exec(`INSERT INTO retail_alfred.alfred_accounts VALUES ($1, 'yusuf_rossi_9620')`)
	model, err := script.Parse([]byte(`
turns:` + act("read", "read", "orders", `{tool: db_read, args: {table: orders, detail: full}}, {tool: db_read, args: {table: payment_methods}}`) +
		act("write", "write", "orders", `{tool: db_update, args: {table: orders, filters: [{field: code, op: "=", value: "#W4776164"}], data: {address1: "1 New Street", city: Philadelphia, zip: "19122"}}}`) +
		act("write", "write", "orders", `{tool: cancel_order, args: {this: order_3, reason: no longer needed}}`) + `
  - understand: {intent: confirm, answers_question: true}
    reply: The order is cancelled, and the refund is booked.` +
		act("read", "read", "orders", `{tool: db_read, args: {table: items, filters: [{field: code, op: "=", value: "7706410293"}]}}`) +
		act("write", "write", "orders", `{tool: exchange_item, args: {this: order_1, line: 3, wanted: item_11}}`)))
	require.NoError(t, err)
	c.work(d, model)
	c.ask("What did I order?")
	c.fact("order_1 #W2378156, order_2 #W4776164, order_3 #W6247578, order_4 #W6679257, order_5 #W9711842",
		`SELECT string_agg(ref || ' ' || label, ', ' ORDER BY ref) FROM entity_refs WHERE session_id = $1 AND entity_type = 'order' AND state = 'stored'`)
	c.fact("0", `SELECT count(*) FROM entity_refs WHERE session_id = $1 AND entity_id LIKE '#W1267569%'`)

	c.ask("Send #W4776164 to 1 New Street")
	c.fact("1 New Street", `SELECT address1 FROM retail.orders WHERE order_id = '#W4776164'`)
	c.fact("retail_owner", `SELECT by_role FROM retail.audit WHERE order_id = '#W4776164'`)

	c.asked("Cancel #W6247578")
	c.fact("true", `SELECT (payload ->> 'text' LIKE '%Cancel order cannot be taken back. Shall I?')::text FROM questions WHERE session_id = $1 ORDER BY created_at DESC LIMIT 1`)
	c.fact("pending", `SELECT status FROM retail.orders WHERE order_id = '#W6247578'`)
	require.Contains(t, c.one(`SELECT payload->>'text' FROM questions WHERE session_id = $1 AND status = 'open'`), "Order #W6247578 would be cancelled")
	c.ask("Yes")
	c.fact("The order is cancelled, and the refund is booked.\n\nCancel order cannot be taken back.", `SELECT reply FROM turns WHERE session_id = $1 ORDER BY number DESC LIMIT 1`)
	c.fact("cancelled no longer needed", `SELECT status || ' ' || cancel_reason FROM retail.orders WHERE order_id = '#W6247578'`)
	c.fact("1", `SELECT count(*) FROM retail.outbox WHERE key = 'cancelled #W6247578'`)
	c.fact("payment created assistant", `SELECT string_agg(DISTINCT r.entity_type || ' ' || e.action || ' ' || e.actor, ', ') FROM entity_events e JOIN entity_refs r USING (session_id, ref)
		WHERE session_id = $1 AND r.entity_type = 'payment' AND e.action = 'created'`)

	c.ask("Show me the clicky keyboard")
	c.ask("I want that in place of my keyboard")
	c.fact("exchange requested exchange 7706410293", `SELECT concat_ws(' ', o.status, i.wish, i.wanted_item_id) FROM retail.orders o JOIN retail.order_items i USING (order_id)
		WHERE o.order_id = '#W2378156' AND i.line = 3`)

	require.Equal(t, owners, c.plain(ownersView))
	require.Positive(t, stop(), "it has run while the conversation did")

	require.NoError(t, domain.Drop(t.Context(), c.pool, decl))
	require.Equal(t, owners, c.plain(ownersView))
	require.Equal(t, before, ownersProgram(t, c.pool), "nor afterwards")
	require.Equal(t, "0", c.plain(`SELECT count(*)::text FROM pg_class c, aclexplode(c.relacl) x WHERE c.relnamespace = 'retail'::regnamespace AND x.grantee <> 0 AND x.grantee::regrole::text ~ 'alfred'`))
}

// Whoever has no account among the shop's hears that, instead of that there are no orders.
func TestStrangersHearWhyNothingIsThere(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)
	c := talkOver(t, shopTables)
	d, _ := shopOf(t, c.pool)
	model, err := script.Parse([]byte(`
turns:
  - understand: {intent: read, quick: order, calls: [{step: 0, tool: db_read, table: orders}]}`))
	require.NoError(t, err)
	c.work(d, model)
	c.ask("What did I order?")
	c.fact(vocab.NoAccount, `SELECT reply FROM turns WHERE session_id = $1`)
}

// asked is ask for a message that ends in a question, so its calls are not carried out.
func (c *talk) asked(text string) {
	c.t.Helper()
	var id string
	require.NoError(c.t, c.pool.QueryRow(c.bg(), `SELECT enqueue_turn($1, $2)::text`, c.session, text).Scan(&id))
	require.Eventually(c.t, func() bool {
		return c.one(`SELECT 1 FROM turns WHERE session_id = $1 AND id = '`+id+`' AND summarized_at IS NOT NULL`) != ""
	}, dbtest.Patience, 30*time.Millisecond, text)
}

// plain runs a query that concerns no session.
func (c *talk) plain(sql string) string {
	c.t.Helper()
	var value string
	require.NoError(c.t, c.pool.QueryRow(c.t.Context(), sql).Scan(&value))

	return value
}
