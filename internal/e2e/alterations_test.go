package e2e_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
	"alfred/internal/llm"
	"alfred/internal/llm/script"
)

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

	table := "" // read by the next turn
	m := &stepwise{call: func(*llm.Request) llm.ToolCall {
		return llm.ToolCall{Name: "db_read", Args: fmt.Appendf(nil, `{"table": %q}`, table)}
	}}
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
	for _, altered := range alteredTables(kit) {
		column := kit.ByTable(altered).Key.Name
		if named := kit.ByTable(altered).Label.Columns(); len(named) > 0 && kit.ByTable(altered).Column(named[0]).Expr == "" {
			column = named[0]
		}
		for i, a := range []struct{ do, undo, missing string }{
			{"ALTER TABLE kitchen." + altered + " RENAME TO other", "ALTER TABLE kitchen.other RENAME TO " + altered, altered + " "},
			{"REVOKE SELECT ON kitchen." + altered + " FROM alfred_tenant", "GRANT SELECT ON kitchen." + altered + " TO alfred_tenant", altered + " "},
			{"ALTER TABLE kitchen." + altered + " RENAME COLUMN " + column + " TO other", "ALTER TABLE kitchen." + altered + " RENAME COLUMN other TO " + column, altered + "." + column + " "},
		} {
			if !picked[altered][i] {
				continue
			}
			alter(a.do)
			table = altered
			affected := said(c.say("Read it"))
			table = unrelated(altered)
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
