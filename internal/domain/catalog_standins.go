package domain

import "slices"

// leadToStandIns redirects foreign keys into another schema to the table of this one that has a row for each of those
// rows, under the same key: a Supabase project's accounts are in auth.users, and its own tables hold their profiles.
func (c *catalog) leadToStandIns() {
	stands := map[string]*catalogTable{}
	for _, t := range c.tables {
		for _, fk := range t.foreignKeys {
			if slices.Equal(fk.Columns, t.primary) && c.leavesSchema(fk) && (stands[fk.target()] == nil || slices.Contains(peopleNames, t.word())) {
				stands[fk.target()] = t
			}
		}
	}
	for _, t := range c.tables {
		for i, fk := range t.foreignKeys {
			if stand := stands[fk.target()]; stand != nil && stand != t && c.leavesSchema(fk) {
				t.foreignKeys[i] = catalogFK{Columns: fk.Columns, Schema: c.schema, Table: stand.Name, Targets: stand.primary, OnDelete: "no action"}
			}
		}
	}
}

// leavesSchema reports whether a foreign key of one column leads out of the schema.
func (c *catalog) leavesSchema(fk catalogFK) bool {
	return len(fk.Columns) == 1 && fk.Schema != c.schema
}

func (fk catalogFK) target() string { return quote(fk.Schema, fk.Table, fk.Targets[0]) }
