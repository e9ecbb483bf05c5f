package crud

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"alfred/internal/domain"
	"alfred/internal/exact"
	"alfred/registry"
)

// changeArgs describes a changed row in the form that a constrained model writes: no free-form keys, and null does not
// have to mean both "not given" and "clear". Rows may also come as objects by column (data, patch, content), which
// is the form that everything else works with.
type changeArgs struct {
	rowArgs

	Clear []string `json:"clear"`
}

type rowArgs struct {
	Set      []assignment `json:"set"`
	Children []childArgs  `json:"children"`
}

type childArgs struct {
	Table string       `json:"table"`
	Set   []assignment `json:"set"`
	// Position selects one of a draft's child rows, from 1; 0 if all are given.
	Position int `json:"position"`
}

type assignment struct {
	Column string `json:"column"`
	Value  any    `json:"value"`
}

// object returns the change as an object by column, with null for cleared columns.
func (c *changeArgs) object(e *domain.Entity) (map[string]any, *Error) {
	row, err := c.rowArgs.object(e)
	if err != nil {
		return nil, err
	}
	for _, name := range c.Clear {
		if _, twice := row[name]; twice {
			return nil, failColumn(CodeBadArgument, name, "%s is both set and cleared.", registry.Scrub(name))
		}
		row[name] = nil
	}

	return row, nil
}

// object returns the row as an object by column, with children under their table's name.
func (r *rowArgs) object(e *domain.Entity) (map[string]any, *Error) {
	row, err := assigned(e, r.Set)
	if err != nil {
		return nil, err
	}
	for i, given := range r.Children {
		child := e.Child(given.Table)
		if child == nil {
			return nil, failColumn(CodeBadArgument, given.Table, "Rows of %q do not stand in a %s.", registry.Scrub(given.Table), e.Name)
		}
		one, err := assigned(child.Entity, given.Set)
		if err != nil {
			return nil, err
		}
		if !r.byPosition(given.Table) {
			rows, _ := row[given.Table].([]any)
			row[given.Table] = append(rows, one)

			continue
		}
		rows, _ := row[given.Table].(map[string]any)
		if rows == nil {
			rows = map[string]any{}
		}
		at := strconv.Itoa(cmp.Or(given.Position, afterAll+i))
		if rows[at] = one; given.Position > 0 && len(one) == 0 {
			rows[at] = nil
		}
		row[given.Table] = rows
	}

	return row, nil
}

// afterAll is a position beyond the end of any draft's list, for rows that are given without one beside others.
const afterAll = 1_000_000

// byPosition reports whether some rows of a table are selected among a draft's; otherwise they are all there are.
func (r *rowArgs) byPosition(table string) bool {
	return slices.ContainsFunc(r.Children, func(c childArgs) bool { return c.Table == table && c.Position != 0 })
}

// dropPositions takes the parts for all there are: models number those of new rows, too.
func (r *rowArgs) dropPositions() {
	for i := range r.Children {
		r.Children[i].Position = 0
	}
}

func assigned(e *domain.Entity, set []assignment) (map[string]any, *Error) {
	row := map[string]any{}
	for _, one := range set {
		if _, twice := row[one.Column]; twice {
			return nil, failColumn(CodeBadArgument, one.Column, "%s is set twice.", registry.Scrub(one.Column))
		}
		row[one.Column] = fromText(e.Column(one.Column), one.Value)
	}

	return row, nil
}

// fromText parses the value of a JSON column from a text: a constrained value's schema has no objects, and models write them
// so elsewhere too. The value of a list may be a text as well.
func fromText(c *domain.Column, value any) any {
	text, _ := value.(string)
	text = strings.TrimSpace(text)
	if fits := c != nil && (c.Kind == domain.KindJSON && structured(text) || c.Kind == domain.KindArray && strings.HasPrefix(text, "[")); !fits {
		return value
	}
	var inner any
	if exact.Decode(json.RawMessage(text), &inner) != nil {
		return value
	}

	return inner
}

// structured reports whether a text is meant as an object or a list of JSON.
func structured(text string) bool {
	return strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{")
}

// oneForm returns a change as an object by column, in whichever form it came; twice is the message if both forms came.
func (c *changeArgs) oneForm(e *domain.Entity, object map[string]any, twice string) (map[string]any, *Error) {
	switch {
	case len(c.Set)+len(c.Children)+len(c.Clear) == 0:
		return object, nil
	case len(object) > 0:
		return nil, fail(CodeBadArgument, "%s", twice)
	default:
		return c.object(e)
	}
}

// rows returns the new rows, or none for a draft, whose change it puts into Patch.
func (a *createArgs) rows(e *domain.Entity) (rows []map[string]any, err *Error) {
	const ofDraft = "set, clear and children change a draft that from_ref names; a new row stands in rows."
	listed := len(a.Rows) > 0 || a.Data != nil
	if a.FromRef != "" {
		if listed {
			return nil, fail(CodeBadArgument, "db_create takes rows or from_ref, not both; set and clear change a draft.")
		}
		a.Patch, err = a.oneForm(e, a.Patch, ofDraft)

		return nil, err
	}
	a.dropPositions()
	single, err := a.oneForm(e, nil, ofDraft)
	switch {
	case err != nil:
		return nil, err
	case a.Patch != nil:
		return nil, fail(CodeBadArgument, "A patch goes with from_ref.")
	case single != nil && listed:
		return nil, fail(CodeBadArgument, ofDraft)
	case single != nil:
		return []map[string]any{single}, nil
	case len(a.Rows) > 0 && a.Data != nil:
		return nil, fail(CodeBadArgument, "db_create takes rows once.")
	case len(a.Rows) == 0:
		return rowList(a.Data)
	}
	list := make([]any, len(a.Rows))
	for i := range a.Rows {
		a.Rows[i].dropPositions()
		if list[i], err = a.Rows[i].object(e); err != nil {
			return nil, rowFault(err, i, len(list))
		}
	}

	return rowList(list)
}
