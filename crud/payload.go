package crud

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"alfred/domain"
	"alfred/registry"
)

// payload is one row to be written: columns checked and in stored form, children
// by child type.
type payload struct {
	columns  map[string]any
	children map[*domain.Child][]*payload
}

// newPayload checks a row to be created. Refs have been replaced by keys.
func newPayload(e *domain.Entity, data map[string]any, parent *domain.Child) (*payload, *Error) {
	p := &payload{columns: map[string]any{}, children: map[*domain.Child][]*payload{}}
	for _, name := range sortedNames(data) {
		if child := childNamed(e, name); child != nil {
			rows, err := childPayloads(child, data[name])
			if err != nil {
				return nil, err
			}
			p.children[child] = rows

			continue
		}
		if isAnnotation(e, name) {
			continue
		}
		c, value, err := writable(e, name, data[name])
		if err != nil {
			return nil, err
		}
		if parent != nil && c == parent.FK {
			return nil, failColumn(CodeBadValue, name, "%s is set by the row above; leave it out.", name)
		}
		if value == nil && c.HasDefault {
			continue // left out, so that the default applies
		}
		p.columns[c.Name] = value
	}

	return p, missing(e, p, parent)
}

func childNamed(e *domain.Entity, name string) *domain.Child {
	for _, child := range e.Children {
		if child.Entity.Table == name {
			return child
		}
	}

	return nil
}

func childPayloads(child *domain.Child, value any) ([]*payload, *Error) {
	list, ok := value.([]any)
	if !ok && value != nil {
		return nil, failColumn(CodeBadArgument, child.Entity.Table, "%s has to be a list of rows.", child.Entity.Table)
	}
	rows := make([]*payload, 0, len(list))
	for i, item := range list {
		object, ok := item.(map[string]any)
		if !ok {
			return nil, failColumn(CodeBadArgument, child.Entity.Table, "Row %d of %s has to be an object.", i+1, child.Entity.Table)
		}
		row, err := newPayload(child.Entity, object, child)
		if err != nil {
			return nil, failColumn(err.Code, err.Column, "Row %d of %s: %s", i+1, child.Entity.Table, err.Message)
		}
		rows = append(rows, row)
	}

	return rows, nil
}

// isAnnotation says that a name is one that reads add beside the columns, such as
// _recipe_id_label, which a model may hand back.
func isAnnotation(e *domain.Entity, name string) bool {
	inner, ok := strings.CutPrefix(name, "_")
	inner, isLabel := strings.CutSuffix(inner, "_label")

	return ok && isLabel && e.Column(inner) != nil
}

// writable checks that a model may write the column and brings the value to
// stored form.
func writable(e *domain.Entity, name string, value any) (*domain.Column, any, *Error) {
	c, err := column(e, name)
	if err != nil {
		err.Message = strings.Replace(err.Message, strings.Join(visibleNames(e), ", "), strings.Join(writableNames(e), ", "), 1)

		return nil, nil, err
	}
	if c == e.Key || c.Generated {
		return nil, nil, failColumn(CodeBadArgument, name, "%s is set by the database; leave it out.", name)
	}
	stored, err := stored(c, value)

	return c, stored, err
}

func writableNames(e *domain.Entity) []string {
	var names []string
	for _, c := range visible(e) {
		if c != e.Key && !c.Generated {
			names = append(names, c.Name)
		}
	}
	for _, child := range e.Children {
		names = append(names, child.Entity.Table)
	}

	return names
}

// missing names the first column that has to have a value and has none.
func missing(e *domain.Entity, p *payload, parent *domain.Child) *Error {
	for _, c := range e.Columns {
		needed := !c.Nullable && !c.HasDefault && !c.Generated && c != e.Key && c != e.Owner && (parent == nil || c != parent.FK)
		if needed && p.columns[c.Name] == nil {
			return failColumn(CodeViolation, c.Name, "%s needs a value.", c.Name)
		}
	}

	return nil
}

func sortedNames(data map[string]any) []string {
	names := make([]string, 0, len(data))
	for name := range data {
		names = append(names, name)
	}
	slices.Sort(names)

	return names
}

// compareStored checks that what the database holds is what was written: a value
// that it rounded or cut would otherwise be saved as something the user never saw.
func compareStored(e *domain.Entity, written, read map[string]any) *Error {
	for _, name := range sortedNames(written) {
		c := e.Column(name)
		if c == nil || c.Hidden || c.Kind == domain.KindVector {
			continue
		}
		if !same(c, c.Kind, written[name], read[name]) {
			return failColumn(CodeValueChanged, name, "%s would be stored as %s, not as %s.", name, shown(read[name]), shown(written[name]))
		}
	}

	return nil
}

func shown(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		return registry.Scrub(fmt.Sprint(value))
	}
	text := []rune(registry.Scrub(string(raw)))

	return string(text[:min(len(text), 80)])
}
