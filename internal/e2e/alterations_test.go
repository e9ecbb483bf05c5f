package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
	"alfred/internal/llm"
	"alfred/internal/llm/script"
)

// reader plans one step that reads a table, and reports the result or that it could not.
type reader struct {
	llm.Model

	table string // read by the next turn
}

func (m *reader) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	if req.Node != "act" {
		return m.Model.Generate(ctx, req)
	}
	calls := []llm.ToolCall{{Name: "db_read", Args: fmt.Appendf(nil, `{"table": %q}`, m.table)}, {Name: "step_complete", Args: []byte(`{"summary": "read"}`)}}
	if req.Call > 1 {
		calls = []llm.ToolCall{{Name: "blocked", Args: []byte(`{"code": "tool_failure", "details": "It cannot be read now.", "next": "fail"}`)}}
	}

	return &llm.Response{ToolCalls: calls, Model: "reader", Provider: "test"}, nil
}

// subdomainOf is a subdomain in which a plan's step may read the table.
func subdomainOf(t *testing.T, kit *domain.Domain, table string) string {
	t.Helper()
	for _, s := range kit.Subdomains {
		if slices.Contains(s.Tables, table) || slices.Contains(s.Readable, table) {
			return s.Name
		}
	}
	t.Fatalf("no subdomain reads %s", table)

	return ""
}

// K01: whole turns while each table of the kitchen is renamed, revoked or has a column renamed, and back: a turn that
// reads it names it, and a turn that reads another is unaffected, whatever its prompt queries from the altered one. One of each table's alterations is made; `make nightly` makes all.
func TestK01WholeTurnsWhileTablesChange(t *testing.T) {
	t.Parallel()

	m := &reader{}
	var kit *domain.Domain
	sample, picked := dbtest.Sample(t, 3), map[string][3]bool{}
	h := openHouse(t, fixtures{model: func(d *domain.Domain) llm.Model {
		kit = d
		const turn = `
  - understand: {intent: read}
    think: {goal: g, decision: plan, steps: [{type: read, subdomain: %s, description: Read}]}
    reply: There.
    summarize: {response_summary: s}`
		text := "turns:"
		for _, table := range alteredTables(d) {
			chosen := [3]bool{sample(), sample(), sample()}
			picked[table] = chosen
			for range slices.DeleteFunc(chosen[:], func(is bool) bool { return !is }) {
				text += fmt.Sprintf(turn, subdomainOf(t, d, table)) + fmt.Sprintf(turn, subdomainOf(t, d, unrelated(table)))
			}
		}
		played, err := script.Parse([]byte(text))
		require.NoError(t, err)
		m.Model = played

		return m
	}})
	c := h.resident("ada").talk()
	alter := func(sql string) {
		_, err := h.pool.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	said := func(turn *turn) string {
		return c.one(`SELECT string_agg(e.error_code || ': ' || e.error_message, ', ') FROM turn_step_results AS e WHERE e.turn_id = '` + turn.ID.String() + `' AND e.error_code IS NOT NULL AND $1 IS NOT NULL`)
	}
	for _, table := range alteredTables(kit) {
		column := kit.ByTable(table).Key.Name
		if named := kit.ByTable(table).Label.Columns(); len(named) > 0 && kit.ByTable(table).Column(named[0]).Expr == "" {
			column = named[0]
		}
		for i, a := range []struct{ do, undo, missing string }{
			{"ALTER TABLE kitchen." + table + " RENAME TO other", "ALTER TABLE kitchen.other RENAME TO " + table, table + " "},
			{"REVOKE SELECT ON kitchen." + table + " FROM alfred_tenant", "GRANT SELECT ON kitchen." + table + " TO alfred_tenant", table + " "},
			{"ALTER TABLE kitchen." + table + " RENAME COLUMN " + column + " TO other", "ALTER TABLE kitchen." + table + " RENAME COLUMN other TO " + column, table + "." + column + " "},
		} {
			if !picked[table][i] {
				continue
			}
			alter(a.do)
			m.table = table
			affected := said(c.say("Read it"))
			m.table = unrelated(table)
			require.Empty(t, said(c.say("Read the other")), a.do)
			alter(a.undo)
			require.Contains(t, affected, "schema_changed: ", a.do)
			require.Contains(t, affected, a.missing, a.do)
		}
	}
}

func alteredTables(kit *domain.Domain) []string {
	var tables []string
	for _, e := range kit.Entities {
		if e.Type != "ri" { // a part of recipes
			tables = append(tables, e.Table)
		}
	}

	return tables
}

// unrelated is a table whose rows reference none of the given table.
func unrelated(table string) string {
	if table == "preferences" {
		return "cooking_log"
	}

	return "preferences"
}
