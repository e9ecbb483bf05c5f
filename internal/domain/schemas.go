package domain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/jackc/pgx/v5"
)

// Behind views may be tables of several schemas. The views stand in one, so that two tables of one name need two there, and whatever
// is behind the views is named as they are.

// Schemas are one or several, nil for none. One is written as its name alone.
type Schemas []string

// UnmarshalYAML reads a name or a list of names.
func (s *Schemas) UnmarshalYAML(source []byte) error {
	var one string
	list := []string{}
	if yaml.Unmarshal(source, &one) == nil {
		list = []string{one}
	} else if err := yaml.Unmarshal(source, &list); err != nil {
		return err
	}
	*s = append(Schemas(nil), nonEmpty(list...)...)

	return nil
}

func (s Schemas) String() string { return strings.Join(s, ", ") }

// before is a name in each of the schemas.
func (s Schemas) before(name string) string {
	return strings.Join(each(s, func(schema string) string { return schema + "." + name }), " or ")
}

func yamlSchemas(list Schemas) string {
	if len(list) == 1 {
		return yamlText(list[0])
	}

	return "[" + yamlNames(list) + "]"
}

// FullName is the table's with its schema, "" if there is only one.
func (e *initEntity) FullName() string {
	if len(e.cat.schemas) == 1 {
		return ""
	}

	return oneLine(e.Table.whole())
}

// whole is the table's name with its schema.
func (t *catalogTable) whole() string { return t.Schema + "." + t.Relation }

// named is a table by its name here, or by its own with its schema.
func (c *catalog) named(name string) *catalogTable {
	if t := c.table(name); t != nil {
		return t
	}

	return find(c.tables, func(t *catalogTable) bool { return t.whole() == name })
}

// emptySchema is one of the schemas without tables, if there is one.
func (c *catalog) emptySchema() (schema string, found bool) {
	at := slices.IndexFunc(c.schemas, func(schema string) bool {
		return !slices.ContainsFunc(c.tables, func(t *catalogTable) bool { return t.Schema == schema })
	})
	if at < 0 {
		return "", false
	}

	return c.schemas[at], true
}

// missing says that there is no such table, or what it is called.
func (c *catalog) missing(name string) error {
	var called []string
	for _, t := range c.tables {
		if !t.Beyond && (t.Relation == name || t.whole() == name) {
			called = append(called, t.Name)
		}
	}
	switch {
	case len(called) > 0:
		return fmt.Errorf("table %s is called %s here", name, strings.Join(called, " or "))
	case strings.Contains(name, "."):
		return fmt.Errorf("table %s does not exist", name)
	}

	return fmt.Errorf("table %s does not exist", c.schemas.before(name))
}

// shown are the schemas of which views may show a table.
func (c *catalog) shown() []string {
	return slices.DeleteFunc(slices.Clone([]string(c.schemas)), c.signsIn)
}

// signsIn reports whether a further schema is the one by which Supabase signs people in: it is part of no program, and what it knows of
// people opens doors.
func (c *catalog) signsIn(schema string) bool {
	lacks := func(name string) bool {
		return !slices.ContainsFunc(c.tables, func(t *catalogTable) bool { return t.Schema == schema && t.Relation == name })
	}

	return schema != c.schemas[0] && !slices.ContainsFunc([]string{"refresh_tokens", "audit_log_entries", "instances"}, lacks)
}

// leadsToPerson reports whether a foreign key holds keys of accounts: it leads to them or, where they are in another schema, to the table
// that stands in for theirs.
func (c *catalog) leadsToPerson(fk catalogFK, accounts *catalogTable) bool {
	stand := c.table(fk.Table)
	if accounts.Beyond && stand != nil && stand != accounts {
		own := slices.IndexFunc(stand.foreignKeys, func(up catalogFK) bool { return up.leadsTo(accounts) && slices.Equal(up.Columns, fk.Targets) })
		if own >= 0 {
			fk = stand.foreignKeys[own]
		}
	}

	return fk.leadsTo(accounts) && slices.Equal(fk.Targets, accounts.primary)
}

// storedIn is the relation whose rows a table is, or shows. What is behind a view of the owner's does not count.
func (b *binder) storedIn(t *catalogTable) pgx.Identifier {
	if b.decl.Source.Schema == nil {
		return pgx.Identifier{b.decl.Schema, t.Name}
	}
	shown := find(t.columns, func(c *Column) bool { return c.below != below{} })
	if shown == nil || t.nested || len(t.bases) > 1 {
		return pgx.Identifier{b.decl.Source.Schema[0], t.Name}
	}

	return pgx.Identifier{shown.below.schema, shown.below.table}
}

// settings are those of functions that run what the owner wrote in a schema: triggers and functions may name things without their
// schema, and take the session for one in UTC, to which Postgres also turns times that lose their zone.
func (s *source) settings(schema string) string {
	var schemas []string
	if slices.Contains(s.decl.Source.Schema, schema) {
		schemas = []string{schema}
	}
	schemas = appendNew(schemas, slices.Concat(s.decl.Source.Schema, []string{"public"}, s.cat.extensions, []string{"pg_temp"})...)
	set := "SET search_path = " + quoteAll(schemas)
	if s.decl.Source.UTC {
		set += " SET timezone = 'UTC'"
	}

	return set
}

// noteOwners notes what the owner of a table has to read of others' to write its rows.
func (v *viewedType) noteOwners() {
	for _, above := range v.Parents() {
		if v.ByFunction != "" && above.Owner != v.Table.Owner {
			v.notef("rows of %s are written with the rights of %s, which has to read %s too, a table of %s: GRANT SELECT on it, and USAGE on its schema",
				v.Table.Name, v.Table.Owner, above.sql(), above.Owner)
		}
	}
}
