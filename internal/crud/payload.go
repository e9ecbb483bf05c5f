package crud

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"

	"alfred/internal/domain"
	"alfred/internal/vocab"
	"alfred/registry"
)

// newRow checks a row to be created and returns it in stored form, children under their tables' names. Whether what it
// references exists is checked elsewhere.
func newRow(e *domain.Entity, data map[string]any, parent *domain.Child) (map[string]any, *Error) {
	row, bad := map[string]any{}, map[string]bool{}
	var wrong faults
	for _, name := range slices.Sorted(maps.Keys(data)) {
		var fault *Error
		if child := e.Child(name); child != nil {
			row[name], fault = newChildRows(child, data[name])
		} else if !isAnnotation(e, name) {
			fault = setNew(row, e, parent, name, data[name])
		}
		bad[name] = fault != nil
		wrong.add(fault)
	}
	for _, c := range e.Columns {
		if required(e, c, parent) && row[c.Name] == nil && !bad[c.Name] {
			wrong.add(failColumn(CodeViolation, c.Name, "%s needs a value.", c.Name))
		}
	}

	return row, wrong.one()
}

// setNew puts a value into a new row. Null is left out if the column has a default, which then applies.
func setNew(row map[string]any, e *domain.Entity, parent *domain.Child, name string, value any) *Error {
	c, value, err := writable(e, name, value)
	switch {
	case err != nil:
		return err
	case parent != nil && c == parent.FK:
		return failColumn(CodeBadValue, name, "%s is set by the row above; leave it out.", name)
	case value != nil || !c.HasDefault:
		row[c.Name] = value
	}

	return nil
}

// newChildRows checks the rows that are created with their parent.
func newChildRows(child *domain.Child, value any) ([]any, *Error) {
	if err := allowed(child.Entity, domain.Create); err != nil {
		return nil, err
	}
	list, ok := value.([]any)
	if !ok && value != nil {
		return nil, failColumn(CodeBadArgument, child.Entity.Table, "%s has to be a list of rows.", child.Entity.Table)
	}
	rows := make([]any, 0, len(list))
	var wrong faults
	for i, item := range list {
		object, ok := item.(map[string]any)
		if !ok {
			wrong.add(failColumn(CodeBadArgument, child.Entity.Table, "Row %d of %s has to be an object.", i+1, child.Entity.Table))

			continue
		}
		row, err := newRow(child.Entity, object, child)
		if err != nil {
			wrong.add(failColumn(err.Code, err.Column, "Row %d of %s: %s", i+1, child.Entity.Table, err.Message))
		}
		rows = append(rows, row)
	}

	return rows, wrong.one()
}

// required reports whether a new row needs a value in a column.
func required(e *domain.Entity, c *domain.Column, parent *domain.Child) bool {
	filled := c == e.Key || c == e.Owner || c.Unfolded || parent != nil && c == parent.FK

	return c.Required() && !filled
}

// typedRow is a row and its type.
type typedRow struct {
	entity *domain.Entity
	row    map[string]any
}

// rowsWithin are a row and all rows that stand in it.
func rowsWithin(e *domain.Entity, row map[string]any) []typedRow {
	found := []typedRow{{e, row}}
	for _, child := range e.Children {
		for _, part := range rowsIn(row[child.Entity.Table]) {
			found = append(found, rowsWithin(child.Entity, part)...)
		}
	}

	return found
}

// rowsIn returns the rows in a list of rows, which a patch may give by position.
func rowsIn(list any) []map[string]any {
	var rows []map[string]any
	items, _ := list.([]any)
	if placed, isPatch := list.(map[string]any); isPatch {
		items = each(slices.Sorted(maps.Keys(placed)), func(at string) any { return placed[at] })
	}
	for _, item := range items {
		if row, ok := item.(map[string]any); ok {
			rows = append(rows, row)
		}
	}

	return rows
}

// isAnnotation reports whether a read adds this name to a row's columns, such as _recipe_id_label, which a model may
// send back.
func isAnnotation(e *domain.Entity, name string) bool {
	column := domain.Labelled(name)

	return column != name && e.Column(column) != nil
}

// writable checks that a model may write the column and converts the value to stored form.
func writable(e *domain.Entity, name string, value any) (*domain.Column, any, *Error) {
	c, err := writableColumn(e, name)
	if err != nil {
		return nil, nil, err
	}
	value, err = stored(c, value)

	return c, value, err
}

func writableColumn(e *domain.Entity, name string) (*domain.Column, *Error) {
	if name == domain.KeyField || name == e.Key.Name {
		return nil, failColumn(CodeBadArgument, name, "%s is set by the database; leave it out.", name)
	}
	c, err := column(e, name)
	if err != nil {
		return nil, failColumn(err.Code, name, "%s has no column %q to write."+columnsAre+"%s.", e.Table, registry.Scrub(name), writableNames(e))
	}
	switch {
	case c.Generated:
		return nil, failColumn(CodeNotAllowed, name, "%s is computed%s; write what it is made of, or leave it out.", name, commentOf(c))
	case !c.Writable:
		return nil, failColumn(CodeNotAllowed, name, "%s can be read, and not written."+columnsAre+"%s.", name, writableNames(e))
	}

	return c, nil
}

// commentOf is what a column's comment says, in brackets.
func commentOf(c *domain.Column) string {
	if blank(c.Comment) {
		return ""
	}

	return inBrackets(registry.CleanText(strings.TrimRight(c.Comment, "."), 2*longestValue))
}

func writableNames(e *domain.Entity) string {
	columns := only(visible(e), func(c *domain.Column) bool { return c.Writable })
	children := only(e.Children, func(child *domain.Child) bool { return child.Entity.May(domain.Create) })
	tables := each(children, func(child *domain.Child) string { return child.Entity.Table })

	return strings.Join(append(each(columns, columnName), tables...), ", ")
}

// compareStored checks that the database stored what was written: otherwise a value that it rounded or truncated would
// be saved as something the user never saw.
func compareStored(e *domain.Entity, written, read map[string]any) *Error {
	for _, name := range slices.Sorted(maps.Keys(written)) {
		c := e.Column(name)
		if c != nil && !c.Hidden && !sameStored(c, c.Kind, written[name], read[name]) {
			return failColumn(CodeValueChanged, name, "%s would be stored as %s, not as %s.", name, jsonExcerpt(read[name]), jsonExcerpt(written[name]))
		}
	}

	return nil
}

func jsonExcerpt(value any) string { return cut(registry.Scrub(string(encoded(value))), 80) }

// cut is the beginning of a text.
func cut(text string, most int) string {
	runes := []rune(text)

	return string(runes[:min(len(runes), most)])
}

// valueFaults says which values a call cannot write, though another call's fault kept it from being made: both are mended at once.
func (s *step) valueFaults() *Error {
	var wrong faults
	switch op := s.op.(type) {
	case *createOp:
		checkedRows(op.entity, op.rows, &wrong) // a draft's are not read yet
	case *updateOp:
		_, fault := changes(op.entity, op.args.Data)
		wrong.add(fault)
	}

	return wrong.one()
}

// refAfterName matches a ref in brackets after a name, as prompts show rows.
var refAfterName = regexp.MustCompile(`\s*\(` + vocab.Ref + `\)`)

// plainTexts replaces refs that a model wrote into texts by labels: a ref means nothing outside this conversation. A
// text that is only a ref, in a column that references nothing, is refused, and so is null as a word. The rows are changed
// in place.
func (d *decision) plainTexts(ctx context.Context, e *domain.Entity, rows ...map[string]any) error {
	var refs []string
	var wrong faults
	for _, row := range rows {
		replaceRowTexts(e, row, func(c *domain.Column, text string) string {
			if c.Kind == domain.KindText && strings.TrimSpace(text) == "null" { // Null is a name
				wrong.add(badValue(c, "would hold the word null. To empty it, name it in clear; in a new row, leave it out."))
			}
			refs = append(refs, registry.RefsIn(d.tools.domain, text)...)

			return text
		})
	}
	if len(refs) == 0 {
		return wrong.err()
	}
	known, err := d.registry.Lookup(ctx, refs)
	if err != nil {
		return err
	}
	for _, row := range rows {
		replaceRowTexts(e, row, func(c *domain.Column, text string) string {
			if entry, isRef := known[strings.TrimSpace(text)]; isRef {
				wrong.add(badValue(c, "holds a text, not a ref: write what %s is called (%s).", entry.Ref, entry.Label))
			}

			return withLabels(d.tools.domain, text, known)
		})
	}

	return wrong.err()
}

// replaceRowTexts replaces the free texts of a row and of the rows in it.
func replaceRowTexts(e *domain.Entity, row map[string]any, with func(c *domain.Column, text string) string) {
	for _, one := range rowsWithin(e, row) {
		for name, value := range one.row {
			c := one.entity.Column(name)
			if c == nil || one.entity.Child(name) != nil || c == one.entity.Key || c.FK != nil || len(c.Enum) > 0 || c.Kind != domain.KindText && c.Elem != domain.KindText {
				continue
			}
			one.row[name] = replaceTexts(value, func(text string) string { return with(c, text) })
		}
	}
}

// replaceTexts replaces the texts in a value: one, a list, or some by position.
func replaceTexts(value any, with func(string) string) any {
	switch v := value.(type) {
	case string:
		return with(v)
	case []any:
		for i := range v {
			v[i] = replaceTexts(v[i], with)
		}
	case map[string]any:
		for name := range v {
			v[name] = replaceTexts(v[name], with)
		}
	}

	return value
}

func withLabels(d *domain.Domain, text string, known map[string]*registry.Entry) string {
	for _, ref := range registry.RefsIn(d, text) {
		entry := known[ref]
		if entry == nil || entry.LabelIsPlaceholder {
			continue
		}
		if strings.Contains(text, entry.Label) {
			text = refAfterName.ReplaceAllStringFunc(text, func(found string) string {
				if strings.Trim(found, " ()") == ref {
					return ""
				}

				return found
			})
		}
		text = regexp.MustCompile(`\b`+regexp.QuoteMeta(ref)+`\b`).ReplaceAllLiteralString(text, entry.Label)
	}

	return text
}
