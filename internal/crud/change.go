package crud

import (
	"encoding/json"
	"strconv"
	"strings"

	"alfred/internal/domain"
	"alfred/internal/exact"
	"alfred/registry"
)

// changeArgs describes a changed row in the form that a constrained model writes: no free-form keys, and null does not
// have to mean both "not given" and "clear". Rows may also come as objects by column (data, patch, content); object
// converts both to one form.
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

func (c *changeArgs) empty() bool { return len(c.Set)+len(c.Children)+len(c.Clear) == 0 }

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
	for _, given := range r.Children {
		child := e.Child(given.Table)
		if child == nil {
			return nil, failColumn(CodeBadArgument, given.Table, "Rows of %q do not stand in a %s.", registry.Scrub(given.Table), e.Name)
		}
		one, err := assigned(child.Entity, given.Set)
		if err != nil {
			return nil, err
		}
		if given.Position == 0 {
			if at, byPosition := row[given.Table].(map[string]any); byPosition {
				at[strconv.Itoa(afterAll+len(at))] = one

				continue
			}
			rows, _ := row[given.Table].([]any)
			row[given.Table] = append(rows, one)

			continue
		}
		if at := placed(row, given.Table); len(one) > 0 {
			at[strconv.Itoa(given.Position)] = one
		} else {
			at[strconv.Itoa(given.Position)] = nil
		}
	}

	return row, nil
}

// placed returns child rows as an object by position. Rows without a position are appended.
func placed(row map[string]any, table string) map[string]any {
	at, ok := row[table].(map[string]any)
	if ok {
		return at
	}
	at = map[string]any{}
	if rows, isList := row[table].([]any); isList {
		for i, one := range rows {
			at[strconv.Itoa(afterAll+i)] = one
		}
	}
	row[table] = at

	return at
}

// afterAll is a position beyond the end of any draft's list.
const afterAll = 1_000_000

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
	isList, isObject := strings.HasPrefix(text, "["), strings.HasPrefix(text, "{")
	if fits := c != nil && (c.Kind == domain.KindJSON && (isList || isObject) || c.Kind == domain.KindArray && isList); !fits {
		return value
	}
	var inner any
	if exact.Decode(json.RawMessage(text), &inner) != nil {
		return value
	}

	return inner
}

// build normalizes a create: data holds rows, patch changes a draft.
func (a *createArgs) build(e *domain.Entity) *Error {
	if len(a.Rows) > 0 {
		if a.Data != nil {
			return fail(CodeBadArgument, "db_create takes rows once.")
		}
		rows := make([]any, len(a.Rows))
		for i := range a.Rows {
			row, err := a.Rows[i].object(e)
			if err != nil {
				return rowFault(err, i, len(rows))
			}
			rows[i] = row
		}
		a.Data = rows
	}
	if a.empty() {
		return nil
	}
	change, err := a.object(e)
	switch {
	case err != nil:
		return err
	case a.FromRef != "" && a.Patch == nil:
		a.Patch = change
	case a.FromRef == "" && a.Data == nil:
		a.Data = change
	default:
		return fail(CodeBadArgument, "set, clear and children change a draft that from_ref names; a new row stands in rows.")
	}

	return nil
}

// oneForm returns a change as an object by column, in whichever form it came; twice is the message if both forms came.
func oneForm(e *domain.Entity, object map[string]any, change *changeArgs, twice string) (map[string]any, *Error) {
	switch {
	case change.empty():
		return object, nil
	case len(object) > 0:
		return nil, fail(CodeBadArgument, "%s", twice)
	default:
		return change.object(e)
	}
}
