package crud

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"alfred/internal/domain"
)

// mergeSingle creates the only row that a user may have of a type, or adds to it: lists grow by what they lack, objects
// are merged by key, other columns are set. Omitted columns stay, so that today's wish does not erase yesterday's.
func (d *decision) mergeSingle(ctx context.Context, tx pgx.Tx, e *domain.Entity, rows []map[string]any) (*saved, error) {
	if len(rows) != 1 {
		return nil, fail(CodeBadArgument, "There can be one row of %s; give one.", e.Table)
	}
	if err := d.lockMerges(ctx, tx); err != nil {
		return nil, err
	}
	there, err := d.tools.load(ctx, tx, e, &query{sel: ownColumns(e), lock: true, where: func(s *statement) { s.add("TRUE") }})
	if err != nil {
		return nil, err
	}
	if len(there.Rows) == 0 {
		keys, err := d.insert(ctx, tx, e, rows)

		return &saved{keys: keys, merged: make([]bool, len(keys)), written: rows}, err
	}
	added := map[string]any{}
	for name, value := range rows[0] {
		if value != nil {
			added[name] = addTo(e.Column(name), there.Rows[0][name], value)
		}
	}
	keys := there.keys()[:1]
	if len(added) > 0 {
		_, err = d.update(ctx, tx, e, keys, added)
	}

	return &saved{keys: keys, merged: []bool{true}, written: []map[string]any{added}}, err
}

// addTo returns a column's value after adding value to it.
func addTo(c *domain.Column, was, value any) any {
	switch more := value.(type) {
	case []any:
		list, _ := was.([]any)
		list = slices.Clone(list)
		for _, item := range more {
			if !slices.ContainsFunc(list, func(one any) bool { return sameItem(c, one, item) }) {
				list = append(list, item)
			}
		}

		return list
	case map[string]any:
		object, _ := was.(map[string]any)
		whole := maps.Clone(object)
		if whole == nil {
			whole = map[string]any{}
		}
		maps.Copy(whole, more)

		return whole
	default:
		return value
	}
}

func sameItem(c *domain.Column, one, item any) bool {
	if c.Kind == domain.KindArray && c.Elem == domain.KindText {
		return folded(one) == folded(item)
	}

	return sameJSON(one, item)
}
