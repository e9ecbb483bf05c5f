package crud_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/dbtest"
	"alfred/internal/domain"
	"alfred/internal/vocab"
)

// alteration is a change to a table that its owner makes while the program runs.
type alteration struct {
	sql    string
	entity *domain.Entity
	column string // "" for the table itself
}

// alterations drop, rename, retype and revoke each column and table of the kitchen.
func alterations(kit *domain.Domain) []alteration {
	var all []alteration
	for _, e := range kit.Entities {
		table := "kitchen." + e.Table
		all = append(all,
			alteration{sprintf(`DROP TABLE %s CASCADE`, table), e, ""},
			alteration{sprintf(`ALTER TABLE %s RENAME TO other`, table), e, ""},
			alteration{sprintf(`REVOKE ALL ON %s FROM alfred_tenant`, table), e, ""},
		)
		for _, c := range e.Columns {
			if c.Expr != "" {
				continue
			}
			all = append(all,
				alteration{sprintf(`ALTER TABLE %s DROP COLUMN %q CASCADE`, table, c.Name), e, c.Name},
				alteration{sprintf(`ALTER TABLE %s RENAME COLUMN %q TO other`, table, c.Name), e, c.Name},
			)
			if c.FK == nil && c != e.Key && c != e.Owner && !c.Generated && c.Type != "jsonb" {
				all = append(all, alteration{sprintf(`ALTER TABLE %s ALTER COLUMN %q DROP DEFAULT, ALTER COLUMN %q TYPE jsonb USING NULL`, table, c.Name, c.Name), e, c.Name})
			}
		}
	}

	return all
}

// K01: whatever the owner does to a table while the program runs, calls that need what has changed fail with an error
// that names it, and other calls continue. One column's alteration in five is tried; `make nightly` tries all.
func TestK01TablesChangeUnderneath(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	b := setupApart(t)
	b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": {"title": "Call Ada"}}`)
	b.ok("write", vocab.ToolCreate, `{"table": "recipes", "data": {"name": "Toast"}}`)
	tried, picked := 0, dbtest.Sample(t, 5)
	for _, a := range alterations(b.kit) {
		if a.column != "" && !picked() {
			continue
		}
		if b.altered(a, func(inner *bundle) { inner.readAll(a) }) {
			tried++
		}
	}
	require.Greater(t, tried, 20)
	t.Logf("%d alterations", tried)
}

// altered runs work with the table changed; it returns false if Postgres refuses the change.
func (b *bundle) altered(a alteration, work func(inner *bundle)) bool {
	b.t.Helper()

	sp, err := b.tx.Begin(b.t.Context())
	require.NoError(b.t, err)
	defer func() { require.NoError(b.t, sp.Rollback(b.t.Context())) }()
	if _, err := sp.Exec(b.t.Context(), a.sql); err != nil {
		return false
	}
	inner := *b
	inner.tx = sp
	work(&inner)

	return true
}

// readAll reads every type. Failures name what has changed; reads of other tables succeed.
func (b *bundle) readAll(a alteration) {
	b.t.Helper()

	failed := false
	for _, e := range b.kit.Entities {
		result := b.decide("read", call(vocab.ToolRead, sprintf(`{"table": %q, "detail": "full"}`, e.Table))).Results[0]
		if result.ErrorCode == "" {
			continue
		}
		require.Equal(b.t, crud.CodeSchemaChanged, result.ErrorCode, "%s: %s: %s", a.sql, e.Table, result.ErrorMessage)
		require.Contains(b.t, result.ErrorMessage, a.entity.Table+map[bool]string{true: "", false: "."}[a.column == ""]+a.column+" ", "%s: %s", a.sql, e.Table)
		require.True(b.t, e == a.entity || needs(e, a.entity), "%s: %s does not need it", a.sql, e.Table)
		failed = failed || e == a.entity
	}
	if a.column == "" {
		require.True(b.t, failed, a.sql)
	}
}

// needs reports whether reading one type also reads the other: its children, the names of its rows, the source of its
// computed columns.
func needs(e, other *domain.Entity) bool {
	return slices.ContainsFunc(e.Children, func(c *domain.Child) bool { return c.Entity == other || needs(c.Entity, other) }) ||
		slices.ContainsFunc(e.Columns, func(c *domain.Column) bool { return c.Expr != "" || c.FK != nil && c.FK.Entity == other })
}
