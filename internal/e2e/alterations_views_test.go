package e2e_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/dbtest"
	"alfred/internal/domain"
	"alfred/internal/httpapi"
	"alfred/internal/llm"
	"alfred/internal/llm/lexical"
	"alfred/internal/llm/script"
	"alfred/internal/pg"
	"alfred/internal/recall"
)

// shopSteps are the steps of a turn that reads each table that the shop's orders need; the next turn sends order_2
// elsewhere.
var shopSteps = []string{"orders", "fulfillments", "order_items", "payments", "items", "payment_methods"}

// rounds plays turns of these steps alternating with a write. A call that fails twice ends its step.
type rounds struct{ llm.Model }

func (m rounds) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	if req.Node != "act" {
		return m.Model.Generate(ctx, req)
	}
	call := llm.ToolCall{Name: "db_read", Args: fmt.Appendf(nil, `{"table": %q}`, shopSteps[req.Step-1])}
	if req.Turn%2 == 0 {
		call = llm.ToolCall{Name: "db_update", Args: fmt.Appendf(nil, `{"table": "orders", "filters": [{"field": "id", "op": "=", "value": "order_2"}], "data": {"address1": "%d New Street"}}`, req.Turn)}
	}
	calls := []llm.ToolCall{call, {Name: "step_complete", Args: []byte(`{"summary": "done"}`)}}
	if req.Call > 2 { // a row that it has not seen is shown to it first
		calls = []llm.ToolCall{{Name: "blocked", Args: []byte(`{"code": "tool_failure", "details": "It cannot be done now.", "next": "fail"}`)}}
	}

	return &llm.Response{ToolCalls: calls, Model: "rounds", Provider: "test"}, nil
}

// shopRounds is a conversation of the shop's customer, over views, in turns of shopSteps.
func shopRounds(t *testing.T) (*talk, *domain.Domain, *domain.Declaration) {
	t.Helper()
	dbtest.Whole(t)
	c := talkOver(t, shopTables)
	d, decl := shopOf(t, c.pool)
	c.exec(`INSERT INTO retail_alfred.alfred_accounts VALUES ($1, 'yusuf_rossi_9620')`)
	plan := make([]string, len(shopSteps))
	for i, table := range shopSteps {
		plan[i] = fmt.Sprintf("{type: read, subdomain: %s, description: Step %d}", subdomainOf(t, d, table), i+1)
	}
	turn := func(intent string, steps ...string) string {
		return fmt.Sprintf(`
  - understand: {intent: %s}
    think: {goal: g, decision: plan, steps: [%s]}
    reply: There.
    summarize: {response_summary: s}`, intent, strings.Join(steps, ", "))
	}
	played, err := script.Parse([]byte("turns:" + strings.Repeat(turn("read", plan...)+turn("write", "{type: write, subdomain: orders, description: Send it elsewhere}"), 60)))
	require.NoError(t, err)
	m := rounds{played}
	c.work(d, m)

	return c, d, decl
}

// round reads everything and then writes. It returns what was said, by what was to be done; steps that succeed are not
// in it.
func (c *talk) round() map[string]string {
	c.t.Helper()
	said := map[string]string{}
	for _, steps := range [][]string{shopSteps, {"the address"}} {
		c.asked("Do all of it")
		rows, err := c.pool.Query(c.t.Context(), `SELECT s.step, coalesce(string_agg(r.error_code || ': ' || r.error_message, ' '), s.outcome::text)
			FROM turns AS t JOIN turn_steps AS s ON s.turn_id = t.id LEFT JOIN turn_step_results AS r ON r.turn_id = t.id AND r.step = s.step AND r.error_code IS NOT NULL
			WHERE t.session_id = $1 AND t.number = (SELECT max(number) FROM turns WHERE session_id = $1) AND s.outcome <> 'ok' GROUP BY s.step, s.outcome`, c.session)
		require.NoError(c.t, err)
		for rows.Next() {
			var step int
			var text string
			require.NoError(c.t, rows.Scan(&step, &text))
			said[steps[step-1]] = text
		}
		require.NoError(c.t, rows.Err())
	}
	c.fact("0", `SELECT count(*) FROM turns WHERE session_id = $1 AND status <> 'succeeded'`)
	c.fact("0", `SELECT count(*) FROM river_job WHERE queue = 'turns' AND attempt > 1 AND $1::uuid IS NOT NULL`) // nothing had to be retried

	return said
}

// K01: while whole turns run, each table below the views is revoked or renamed, or has its columns renamed. A step that
// needs it says what is missing, the rest of the same turn is done, and worker and API name it. One alteration in three is
// made; `make nightly` makes all.
func TestK01WholeTurnsWhileTablesBelowViewsChange(t *testing.T) {
	t.Parallel()
	c, d, _ := shopRounds(t)
	ready := c.readyz(d)
	require.Empty(t, c.round())
	require.Equal(t, "200 ok", ready())
	const role = `"alfred_views_retail_alfred"`
	below := map[string][]string{"items": {"items"}, "payment_methods": {"payment_methods"}, "order_items": {"order_items"},
		"payments": {"payments"}, "fulfillments": {"fulfillments"}, "orders": {"orders", "order_items", "payments", "fulfillments", "the address"}}
	column := map[string]string{"users": "city", "products": "name", "items": "price", "payment_methods": "source", "order_items": "price", "payments": "amount", "fulfillments": "tracking_id", "orders": "city"}
	type alteration struct {
		do, undo, missing string
		affected          []string
	}
	picked := dbtest.Sample(t, 3)
	for _, e := range d.Entities {
		table, named := "retail."+e.Table, column[e.Table]
		closed := alteration{"REVOKE SELECT ON " + table + " FROM " + role, "GRANT SELECT ON " + table + " TO " + role, e.Table + " may not be read any more", below[e.Table]}
		moved := alteration{"ALTER TABLE " + table + " RENAME TO other", "ALTER TABLE retail.other RENAME TO " + e.Table, e.Table + " is other now", nil}
		called := alteration{"ALTER TABLE " + table + " RENAME COLUMN " + named + " TO other", "ALTER TABLE " + table + " RENAME COLUMN other TO " + named, e.Table + "." + named + " is other now", nil}
		alterations := []alteration{closed, {called.do + ";" + moved.do, moved.undo + ";" + called.undo, "", nil}}
		switch table {
		case "retail.audit": // a trigger of the owner's names it
			alterations = []alteration{closed}
		case "retail.orders": // which a function writes
			moved.affected, called.affected = []string{"the address"}, []string{"the address"}
			alterations = []alteration{closed, moved, called}
		}
		for _, a := range alterations {
			if !picked() {
				continue
			}
			c.plainly(a.do)
			said := c.round()
			for step, text := range said {
				require.Contains(t, text, "schema_changed: ", "%s: %s", a.do, step)
				require.Contains(t, text, a.missing, "%s: %s", a.do, step)
			}
			require.ElementsMatch(t, a.affected, slices.Collect(maps.Keys(said)), a.do)
			if len(a.affected) > 0 {
				require.Eventually(t, func() bool { return strings.HasPrefix(ready(), "503 ") && strings.Contains(ready(), a.missing) }, dbtest.Patience, 100*time.Millisecond, a.do)
			}
			c.plainly(a.undo)
		}
	}
	require.Empty(t, c.round(), "all is as before")
	require.Eventually(t, func() bool { return ready() == "200 ok" }, dbtest.Patience, 100*time.Millisecond)

	c.plainly("REVOKE SELECT ON retail.orders FROM " + role)
	require.Eventually(t, func() bool {
		return strings.Contains(c.one(`SELECT array_to_string(differences, ', ') FROM workers WHERE $1 IS NOT NULL LIMIT 1`), "orders may not be read any more")
	}, dbtest.Patience, 100*time.Millisecond, "what doctor and the metric show")
}

// K01: what a view depends on cannot be dropped or retyped beneath it. If it is dropped together with its view, or
// retyped while the views are detached, it is named; everything that does not need it continues.
// Turns are played after one table in three; `make nightly` plays them after each.
func TestK01WholeTurnsWhileColumnsBelowViewsAreDropped(t *testing.T) {
	t.Parallel()
	c, d, decl := shopRounds(t)
	require.Empty(t, c.round())
	refused := func(sql string) {
		t.Helper()
		_, err := c.pool.Exec(t.Context(), sql)
		require.Error(t, err, sql)
		require.Regexp(t, "depend|used by a view", err.Error(), sql)
	}
	gone, picked := []string{}, dbtest.Sample(t, 3)
	for _, a := range []struct{ table, column string }{{"fulfillments", "item_ids"}, {"payments", "amount"}, {"order_items", "price"}, {"payment_methods", "brand"}, {"items", "price"}, {"orders", "city"}} {
		for _, sql := range []string{"DROP TABLE retail." + a.table, "ALTER TABLE retail." + a.table + " DROP COLUMN " + a.column, "ALTER TABLE retail." + a.table + " ALTER COLUMN " + a.column + " TYPE bytea USING NULL"} {
			refused(sql)
		}
		require.NoError(t, domain.Detach(t.Context(), c.pool, decl))
		c.plainly("ALTER TABLE retail." + a.table + " ALTER COLUMN " + a.column + " TYPE bytea USING ''")
		sql, _, err := domain.Views(t.Context(), c.pool, decl)
		require.NoError(t, err)
		require.NoError(t, domain.Attach(t.Context(), c.pool, decl, sql), sql)
		for _, table := range gone {
			c.plainly("DROP VIEW retail_alfred." + table + " CASCADE")
		}
		differences, err := domain.Drift(t.Context(), c.pool, d)
		require.NoError(t, err)
		require.Contains(t, fmt.Sprint(differences), a.table+"."+a.column+" is bytea now", "retyped")

		c.plainly("ALTER TABLE retail." + a.table + " DROP COLUMN " + a.column + " CASCADE")
		c.plainly("ALTER TABLE retail." + a.table + " ADD COLUMN " + a.column + " text") // so that the views can be attached again
		gone = append(gone, a.table)
		if !picked() {
			continue
		}
		said := c.round()
		affected := slices.Clone(gone)
		if a.table == "orders" {
			affected = append(affected, "the address")
		}
		require.ElementsMatch(t, affected, slices.Collect(maps.Keys(said)), a)
		for step, text := range said {
			require.Contains(t, text, "schema_changed: ", "%s: %s", a, step)
			require.Contains(t, text, map[bool]string{true: "orders", false: step}[step == "the address"]+" is gone", "%s: %s", a, step)
		}
	}
}

// plainly runs a statement without values.
func (c *talk) plainly(sql string) {
	c.t.Helper()
	_, err := c.pool.Exec(c.t.Context(), sql)
	require.NoError(c.t, err, sql)
}

// readyz serves an API over the domain; what it returns asks it whether it is ready.
func (c *talk) readyz(d *domain.Domain) func() string {
	c.t.Helper()
	search := recall.New(d, lexical.Embedder{})
	server := httptest.NewServer(httpapi.New(httpapi.Config{
		Pool: c.pool, Listener: pg.NewListener(c.pool.Config().ConnConfig, testLogger(c.t)), Rows: crud.New(d, search), Search: search, Domain: d, Logger: testLogger(c.t), Version: "e2e",
	}))
	c.t.Cleanup(server.Close)

	return func() string {
		c.t.Helper()
		response, err := server.Client().Get(server.URL + "/readyz")
		require.NoError(c.t, err)
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		require.NoError(c.t, err)

		return fmt.Sprint(response.StatusCode, " ", strings.TrimSpace(string(text)))
	}
}
