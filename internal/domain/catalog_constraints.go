package domain

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// constraint is one of a table: for other kinds than foreign keys, only its columns and expression count.
type constraint struct {
	Relation   uint32
	Kind, Expr string
	Target     uint32
	catalogFK
}

// oids are those of the tables themselves.
func (c *catalog) oids() []uint32 {
	return each(c.tables, func(t *catalogTable) uint32 { return t.OID })
}

// relations are the schema's tables, and the tables below its views.
func (c *catalog) relations() []uint32 {
	var relations []uint32
	for _, t := range c.tables {
		relations = slices.AppendSeq(append(relations, t.OID), maps.Keys(t.bases))
	}

	return relations
}

// readFilled counts as defaults what triggers fill, such as an invoice's number.
func (c *catalog) readFilled(ctx context.Context, tx pgx.Tx) error {
	var (
		relation uint32
		column   string
	)

	return eachRow(ctx, tx, "triggers", filledSQL, []any{c.relations()}, []any{&relation, &column}, func() error {
		for _, t := range c.tables {
			names, _ := c.namesInView(t, relation, []string{column})
			if t.OID == relation {
				names = []string{column}
			}
			if t.lacks(names) {
				return errTorn
			}
			for _, name := range names {
				t.column(name).HasDefault = true
			}
		}

		return nil
	})
}

// readConstraints reads those of the schema's tables, and those of the tables below its views.
func (c *catalog) readConstraints(ctx context.Context, tx pgx.Tx) error {
	found, err := collect(ctx, tx, pgx.RowToAddrOfStructByPos[constraint], "constraints", constraintsSQL, c.relations())
	for _, k := range found {
		k.OnDelete = deleteAction(k.OnDelete)
		if to := c.byOID(k.Target); to != nil {
			k.Table = to.Name
		}
		for _, t := range c.tables {
			switch {
			case t.bases[k.Relation]:
				c.addFromTable(t, *k)
			case t.OID != k.Relation:
			case k.Kind != "c" && t.lacks(k.Columns): // a CHECK may concern a column of the system's
				return errTorn
			default:
				t.addConstraint(*k)
			}
		}
	}
	for _, t := range c.tables {
		if at := slices.IndexFunc(t.uniques, func(set []string) bool { return !t.mayBeNull(set) }); at >= 0 && len(t.primary) == 0 {
			t.primary = t.uniques[at]
		}
	}

	return err
}

func (t *catalogTable) addConstraint(k constraint) {
	switch k.Kind {
	case "p":
		t.primary = k.Columns
	case "u":
		t.uniques = append(t.uniques, k.Columns)
	case "f":
		t.foreignKeys = append(t.foreignKeys, k.catalogFK)
	case "c":
		t.addCheck(k.Columns, k.Expr)
	}
}

func deleteAction(code string) string {
	return map[string]string{"a": "no action", "r": "restrict", "c": "cascade", "n": "set null", "d": "set default"}[code]
}

var (
	// listCheck matches a closed list as Postgres prints it: col = ANY (ARRAY['a'::text, ...]), with casts around
	// either side.
	listCheck = regexp.MustCompile(`^(?:\(*"?\w+"?\)* IS NULL OR )?\(*"?\w+"?\)*(?:::[\w ]+)?\)* = ANY \(\(?ARRAY\[(.*)\]\)?(?:::[\w \[\]]+)?\)$`)
	typeValue = regexp.MustCompile(`\bVALUE\b`) // what a domain type's rule calls the value
	literal   = regexp.MustCompile(`'((?:[^']|'')*)'`)
)

// addCheck records what a CHECK on one column says: a closed list, or else its text. Checks of a text's length are of no use
// to a model.
func (t *catalogTable) addCheck(columns []string, expr string) {
	if len(columns) != 1 || strings.Contains(expr, "length(") {
		return
	}
	col := t.column(columns[0])
	if col == nil {
		return
	}
	if found := listCheck.FindStringSubmatch(expr); found != nil && len(col.Enum) == 0 {
		for _, value := range literal.FindAllStringSubmatch(found[1], -1) {
			col.Enum = append(col.Enum, strings.ReplaceAll(value[1], "''", "'"))
		}
		if len(col.Enum) > 0 {
			return
		}
	}
	if col.Check != "" {
		col.Check += " AND "
	}
	col.Check += expr
}

// leadToStandIns redirects foreign keys into another schema to the table that has a row for each of those
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
				t.foreignKeys[i] = catalogFK{Columns: fk.Columns, Table: stand.Name, Targets: stand.primary, OnDelete: "no action"}
			}
		}
	}
}

// leavesSchema reports whether a foreign key of one column leads out of the schemas.
func (c *catalog) leavesSchema(fk catalogFK) bool {
	to := c.table(fk.Table)

	return len(fk.Columns) == 1 && (to == nil || to.Beyond)
}

func (fk catalogFK) target() string { return quote(fk.Table, fk.Targets[0]) }
