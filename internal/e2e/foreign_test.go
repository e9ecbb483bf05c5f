package e2e_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
	"alfred/internal/engine"
	"alfred/internal/llm"
	"alfred/internal/llm/lexical"
	"alfred/internal/llm/script"
	"alfred/internal/prompt"
	"alfred/internal/recall"
	"alfred/jobs"
)

// foreign is a conversation about a schema that no line of Go knows: it is declared by domain.Init alone, and turns are
// enqueued by SQL.
func foreign(t *testing.T, name, yaml string, facts ...string) *talk {
	t.Helper()
	c := talkOver(t, filepath.Join("testdata", name+".sql"))

	text, err := domain.Init(t.Context(), c.pool, name)
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(text), 0o600))
	d, err := domain.Open(t.Context(), c.pool, os.DirFS(dir), name+".yaml")
	require.NoError(t, err, text)

	for _, sql := range facts {
		c.exec(sql)
	}
	model, err := script.Parse([]byte(yaml))
	require.NoError(t, err)
	c.work(d, model)
	t.Cleanup(func() {
		if !t.Failed() {
			c.checkCommon()
		}
	})

	return c
}

// talkOver is a conversation on a database with a file's tables. No worker is running yet.
func talkOver(t *testing.T, file string) *talk {
	t.Helper()
	tables, err := os.ReadFile(file)
	require.NoError(t, err)

	return talkIn(t, string(tables))
}

// talkIn is talkOver with the tables' SQL.
func talkIn(t *testing.T, tables string) *talk {
	t.Helper()
	pool := dbtest.Pool(t)
	_, err := pool.Exec(t.Context(), tables)
	require.NoError(t, err)
	c := &talk{person: &person{house: &house{t: t, pool: pool}}}
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT start_session('ada')`).Scan(&c.session))
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT user_id FROM sessions WHERE id = $1`, c.session).Scan(&c.user))

	return c
}

// work runs a worker until the test ends.
func (c *talk) work(d *domain.Domain, model llm.Model) {
	c.t.Helper()
	search := recall.New(d, lexical.Embedder{})
	config := jobs.Config{
		CompareCarried: true, Pool: c.pool, Domain: d, Logger: testLogger(c.t), Models: func(string) llm.Model { return model },
		RetentionDecayTurns: engine.RetentionDecay, Version: "e2e",
	}
	engine.Complete(&config, search, prompt.DefaultConfig())
	runner, err := jobs.NewRunner(config)
	require.NoError(c.t, err)
	require.NoError(c.t, runner.Start(c.t.Context()))
	c.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), dbtest.Patience)
		defer cancel()
		require.NoError(c.t, runner.Stop(ctx))
	})
}

// ask enqueues a message by SQL and waits until everything that follows from it is done.
func (c *talk) ask(text string) {
	c.t.Helper()
	var id uuid.UUID
	require.NoError(c.t, c.pool.QueryRow(c.t.Context(), `SELECT enqueue_turn($1, $2)`, c.session, text).Scan(&id))
	require.Eventually(c.t, func() bool {
		return c.one(`SELECT 1 FROM turns WHERE session_id = $1 AND id = '`+id.String()+`' AND (summarized_at IS NOT NULL OR status IN ('failed', 'cancelled'))`) != ""
	}, dbtest.Patience, 30*time.Millisecond, text)
	c.fact("succeeded ", `SELECT status || ' ' || coalesce(error_message, '') FROM turns WHERE session_id = $1 AND id = '`+id.String()+`'`)
	c.fact("", `SELECT string_agg(r.tool || ': ' || r.error_message, '; ') FROM turn_step_results r
		WHERE r.turn_id = '`+id.String()+`' AND r.error_code IS NOT NULL AND r.step > 0 AND $1 IS NOT NULL`)
}

// hidden requires that no prompt, result or reply of the session matches a pattern.
func (c *talk) hidden(pattern string) {
	c.t.Helper()
	c.fact("0", `SELECT count(*) FROM v_llm_calls WHERE session_id = $1 AND request::text ~ '`+pattern+`'`)
	c.fact("0", `SELECT count(*) FROM turn_step_results r JOIN turns t ON t.id = r.turn_id
		WHERE t.session_id = $1 AND concat(r.rows, r.error_message, r.refs) ~ '`+pattern+`'`)
	c.fact("0", `SELECT count(*) FROM turns WHERE session_id = $1 AND concat(reply, error_message, goal) ~ '`+pattern+`'`)
	c.fact("0", `SELECT count(*) FROM turn_events e JOIN turns t ON t.id = e.turn_id WHERE t.session_id = $1 AND e.data::text ~ '`+pattern+`'`)
}

// act is a turn of one step.
func act(kind, intent, subdomain, calls string) string {
	return `
  - understand: {intent: ` + intent + `}
    think: {goal: Do it, decision: plan, steps: [{type: ` + kind + `, subdomain: ` + subdomain + `, description: Do it}]}
    act: {calls: [` + calls + `, {tool: step_complete, args: {summary: done}}]}
    reply: Done.`
}

// A shop with integer keys and its own accounts: read, create with lines, draft and save, change and delete by refs.
func TestForeignShop(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)
	c := foreign(t, "shop", `
turns:`+act("read", "read", "orders", `{tool: db_read, args: {table: products}}, {tool: db_read, args: {table: orders, detail: full}}`)+
		act("write", "write", "orders", `{tool: db_create, args: {table: orders, data: {title: Office coffee, placed_on: "2026-03-02", address_id: address_1,
      order_lines: [{product_id: product_1, pieces: 4}, {product_id: product_2, pieces: 2, note: white ones}]}}}`)+
		act("generate", "explore", "orders", `{tool: generate, args: {creates: [{type: order, content: {title: Tea for guests, placed_on: "2026-03-09",
      order_lines: [{product_id: product_3, pieces: 1}]}}]}}`)+
		act("write", "write", "orders", `{tool: db_create, args: {table: orders, from_ref: gen_order_1}}`)+
		`
  - understand: {intent: write}
    think: {goal: Do it, decision: plan, steps: [{type: write, subdomain: orders, description: Do it, refs: [order_2], needs: rows}]}
    act: {step: 2, calls: [{tool: db_update, args: {table: orders, filters: [{field: id, op: "=", value: order_2}], data: {status: paid}}},
      {tool: db_update, args: {table: order_lines, filters: [{field: order_id, op: "=", value: order_2}, {field: product_id, op: "=", value: product_2}], data: {pieces: 3}}}, {tool: step_complete, args: {summary: done}}]}
    reply: Done.`+
		act("write", "write", "orders", `{tool: db_delete, args: {table: orders, filters: [{field: id, op: in, value: [order_1, gen_order_1]}]}}`),
		`INSERT INTO shop.accounts (alfred_user, email) VALUES ($1, 'ada@example.org'), (gen_random_uuid(), 'eve@example.org')
			RETURNING nullif($1, $1)`,
		`INSERT INTO shop.addresses (account_id, label, street, city) SELECT id, 'Office', 'Dam 1', 'Amsterdam' FROM shop.accounts WHERE alfred_user = $1 OR true`,
		`INSERT INTO shop.orders (account_id, address_id, title, placed_on) SELECT a.account_id, a.id, 'Beans', '2026-01-05' FROM shop.addresses a WHERE $1::uuid IS NOT NULL`)

	own := c.one(`SELECT o.id FROM shop.orders o JOIN shop.accounts a ON a.id = o.account_id WHERE a.alfred_user = $2`)
	other := c.one(`SELECT o.id FROM shop.orders o JOIN shop.accounts a ON a.id = o.account_id WHERE a.alfred_user <> $2`)
	c.ask("What can I buy, and what is in @[Beans](order:" + own + ") and @[Her beans](order:" + other + ")?")
	require.Contains(t, c.prompt(1, "think", 1), "Beans (order_1)")
	c.refs("product", "product_1 stored read Espresso beans", "product_2 stored read Filter papers", "product_3 stored read Green tea")
	c.refs("order", "order_1 stored read Beans")
	c.refs("address", "address_1 stored linked Office")

	c.ask("Order coffee for the office")
	c.fact("Espresso beans 4, Filter papers 2", `SELECT string_agg(p.name || ' ' || l.pieces, ', ' ORDER BY l.id) FROM shop.orders o
		JOIN shop.accounts a ON a.id = o.account_id JOIN shop.order_lines l ON l.order_id = o.id AND l.account_id = o.account_id
		JOIN shop.products p ON p.id = l.product_id WHERE o.title = 'Office coffee' AND a.alfred_user = $2`)
	c.refs("order", "order_1 stored read Beans", "order_2 stored created Office coffee")

	c.ask("Draft a tea order")
	c.fact("0", `SELECT count(*) FROM shop.orders WHERE title LIKE 'Tea%'`)
	c.ask("Save it")
	c.refs("order", "order_1 stored read Beans", "order_2 stored created Office coffee", "gen_order_1 promoted created Tea for guests")
	c.fact("Green tea", `SELECT p.name FROM shop.order_lines l JOIN shop.products p ON p.id = l.product_id JOIN shop.orders o ON o.id = l.order_id WHERE o.title = 'Tea for guests'`)

	c.ask("The office order is paid, and make it three filter papers")
	c.fact("paid 3", `SELECT o.status || ' ' || l.pieces FROM shop.orders o JOIN shop.order_lines l ON l.order_id = o.id
		JOIN shop.products p ON p.id = l.product_id WHERE o.title = 'Office coffee' AND p.name = 'Filter papers'`)

	c.ask("Delete the beans and the tea")
	c.fact("Office coffee", `SELECT string_agg(o.title, ', ') FROM shop.orders o JOIN shop.accounts a ON a.id = o.account_id WHERE a.alfred_user = $2`)
	c.fact("1", `SELECT count(*) FROM shop.orders o JOIN shop.accounts a ON a.id = o.account_id WHERE a.alfred_user <> $2`)
	c.refs("order", "order_1 deleted deleted Beans", "order_2 stored updated Office coffee", "gen_order_1 deleted deleted Tea for guests")
	c.hidden(`(44|55|66|77|88|99)01000[0-9]`)
}

// An asset register with text keys and organisations identified by a text.
func TestForeignAssets(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)
	c := foreign(t, "assets", `
turns:`+act("read", "read", "assets", `{tool: db_read, args: {table: rooms}}, {tool: db_read, args: {table: vendors}}`)+
		act("write", "write", "assets", `{tool: db_create, args: {table: assets, data: [
        {tag: LAP-07, name: Laptop, room_key: room_2, vendor_key: vendor_1, value: 1299.95, keywords: [Mobile, it], condition: good, bought_on: "2025-11-02",
         services: [{done_on: "2026-02-01", work: New battery, cost: 89}, {done_on: "2026-02-09", work: Cleaned}]},
        {tag: DOCK-01, name: Docking station, room_key: room_1}]}}`)+
		act("write", "write", "assets", `{tool: db_update, args: {table: assets, filters: [{field: id, op: "=", value: asset_2}], data: {part_of_key: asset_1, room_key: room_2}}}`)+
		act("read", "read", "assets", `{tool: db_read, args: {table: assets, filters: [{field: room_key, op: "=", value: room_2}, {field: keywords, op: contains, value: it}], detail: full}},
      {tool: db_read, args: {table: assets, filters: [{field: part_of_key, op: in, value: [asset_1]}]}}`)+
		act("write", "write", "assets", `{tool: db_update, args: {table: assets, filters: [{field: id, op: "=", value: asset_2}], data: {part_of_key: null}}},
      {tool: db_delete, args: {table: assets, filters: [{field: id, op: "=", value: asset_1}]}}`),
		`INSERT INTO assets.memberships (alfred_user, org) VALUES ($1, 'ORG-KQ7ZX')`,
		`INSERT INTO assets.rooms (org, name, floor) SELECT o.org, r.name, r.floor
			FROM (VALUES ('ORG-KQ7ZX'), ('ORG-KQ8ZX')) AS o (org), (VALUES ('Archive', 0), ('Studio', 2)) AS r (name, floor) WHERE $1::uuid IS NOT NULL`)

	c.ask("Which rooms are there?")
	c.refs("room", "room_1 stored read Archive", "room_2 stored read Studio")

	c.ask("Add the laptop and the dock")
	c.refs("asset", "asset_1 stored created Laptop", "asset_2 stored created Docking station")
	c.refs("service", "service_1 stored created Feb 1, 2026 · Laptop", "service_2 stored created Feb 9, 2026 · Laptop")
	c.fact("ORG-KQ7ZX Studio Initech 1299.95 {Mobile,it} good 2", `SELECT concat_ws(' ', a.org, r.name, v.name, a.value, a.keywords, a.condition,
		(SELECT count(*) FROM assets.services s WHERE s.asset_key = a.key)) FROM assets.assets a
		JOIN assets.rooms r ON r.key = a.room_key JOIN assets.vendors v ON v.key = a.vendor_key WHERE a.tag = 'LAP-07'`)

	c.ask("The dock belongs to the laptop")
	c.fact("Laptop", `SELECT p.name FROM assets.assets a JOIN assets.assets p ON p.key = a.part_of_key WHERE a.tag = 'DOCK-01'`)

	c.ask("What is in the studio, and what is part of the laptop?")
	c.fact("Laptop, Docking station", `SELECT string_agg(x ->> 'name', ', ' ORDER BY r.call) FROM turn_step_results r JOIN turns t ON t.id = r.turn_id,
		jsonb_array_elements(r.rows) x WHERE t.session_id = $1 AND t.number = 4`)

	c.ask("Take the dock off and delete the laptop")
	c.fact("Docking station", `SELECT string_agg(name, ', ') FROM assets.assets`)
	c.refs("asset", "asset_1 deleted deleted Laptop", "asset_2 stored updated Docking station")
	c.refs("service", "service_1 deleted deleted Feb 1, 2026 · Laptop", "service_2 deleted deleted Feb 9, 2026 · Laptop")
	c.hidden(`KQ[0-9]+ZX`)
}
