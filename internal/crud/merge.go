package crud

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"alfred/internal/arithmetic"
	"alfred/internal/domain"
	"alfred/internal/pg"
)

// merge adds rows to existing ones that mean the same thing (the shopping list's eggs), and inserts the rest. Equal
// rows within one call are combined.
func (d *decision) merge(ctx context.Context, tx pgx.Tx, e *domain.Entity, rows []map[string]any) (*saved, error) {
	if err := d.lockMerges(ctx, tx); err != nil {
		return nil, err
	}
	existing, err := lockDuplicates(ctx, tx, e, rows)
	if err != nil {
		return nil, err
	}
	there := len(existing.Rows)
	at, whole := unite(e, existing.Rows, rows)
	added, err := d.writeMerged(ctx, tx, existing, columnsOf(rows...), at)
	if err != nil {
		return nil, err
	}
	inserted, err := d.insert(ctx, tx, e, whole[there:])
	if err != nil {
		return nil, err
	}
	keys, result := slices.Concat(existing.keys()[:there], inserted), &saved{}
	for _, i := range at {
		written := whole[i]
		if i < there {
			written = added[keys[i]]
		}
		result.keys = append(result.keys, keys[i])
		result.merged = append(result.merged, i < there)
		result.written = append(result.written, written)
	}

	return result, nil
}

// lockMerges makes the user's other sessions wait until this transaction ends: they may add the same thing, and no row
// exists yet that could be locked. There is no unique key, since bought items may repeat. One lock covers all tables,
// so that two decisions cannot deadlock.
func (d *decision) lockMerges(ctx context.Context, tx pgx.Tx) error {
	if d.merging {
		return nil
	}
	d.merging = true
	lock := &pg.Batch{}
	lock.Exec("lock merges", `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, "alfred.merge."+d.scope.UserID.String())

	return lock.Defer(ctx, tx)
}

// merges reports whether the call may add to rows that others add to.
func (s *step) merges() bool {
	_, creates := s.op.(*createOp)

	return creates && (s.entity.Merge != nil || s.entity.Singleton)
}

// unite adds rows to those that are there or came before them and mean the same thing, and appends the others. at says
// where each row ended up in whole.
func unite(e *domain.Entity, there, rows []map[string]any) (at []int, whole []map[string]any) {
	whole = there
	for _, row := range rows {
		i := slices.IndexFunc(whole, func(other map[string]any) bool { return sameThing(e, row, other) })
		if i < 0 {
			i, whole = len(whole), append(whole, row)
		} else {
			unify(e.Merge, whole[i], row)
		}
		at = append(at, i)
	}

	return at, whole
}

// unify adds one row to another: sums are added up, texts joined, and columns that have been read and are empty filled.
func unify(m *domain.Merge, row, more map[string]any) {
	for name, value := range more {
		was, read := row[name]
		switch {
		case name == m.Sum:
			row[name] = sum(was, value)
		case slices.Contains(m.Join, name):
			row[name] = joined(was, value)
		case read && was == nil && name != m.Unless:
			row[name] = value
		}
	}
}

func mayMerge(e *domain.Entity, row map[string]any) bool {
	return e.Merge.Unless == "" || row[e.Merge.Unless] != true
}

// sameThing reports whether the merge rule makes two rows one. Two rows linked to the same canonical row have the same
// name, whatever their text.
func sameThing(e *domain.Entity, a, b map[string]any) bool {
	if !mayMerge(e, a) || !mayMerge(e, b) {
		return false
	}

	return !slices.ContainsFunc(e.Merge.By, func(name string) bool {
		if e.Match != nil && name == e.Match.Column {
			linkA, linkB := a[e.Match.Link.Name], b[e.Match.Link.Name]
			if linkA != nil && linkB != nil {
				return fmt.Sprint(linkA) != fmt.Sprint(linkB) // a number from the database, its text from a lookup
			}
		}

		return folded(e.Units.Visible(name, a[name])) != folded(e.Units.Visible(name, b[name]))
	})
}

// folded is a text for comparisons, however people and models write it.
func folded(value any) string {
	if value == nil {
		return ""
	}

	return strings.ToLower(strings.TrimSpace(fmt.Sprint(value)))
}

func sum(a, b any) any {
	x, okX := rat(a)
	y, okY := rat(b)
	switch {
	case !okX:
		return b
	case !okY:
		return a
	}

	return json.Number(arithmetic.Decimal(new(big.Rat).Add(x, y), storedDigits))
}

// joined keeps both texts, unless the first already contains the second.
func joined(a, b any) any {
	x, _ := a.(string)
	y, _ := b.(string)
	switch {
	case x == "":
		return b
	case y == "" || strings.Contains(strings.ToLower(x), strings.ToLower(y)):
		return a
	default:
		return x + ", " + y
	}
}

// lockDuplicates reads and locks the rows that any of the given ones may duplicate.
func lockDuplicates(ctx context.Context, tx pgx.Tx, e *domain.Entity, rows []map[string]any) (*loaded, error) {
	by := e.Column(e.Merge.By[0])
	names := each(rows, func(row map[string]any) string { return folded(row[by.Name]) })

	return load(ctx, tx, e, &query{sel: ownColumns(e), lock: true, where: func(s *statement) string {
		same := "lower(" + by.SQL() + "::text) = ANY(" + s.value(names) + "::text[])"
		if e.Match != nil {
			same += " OR " + s.in(e.Match.Link.SQL(), textsIn(rows, e.Match.Link), e.Match.Link.Type)
		}
		if e.Merge.Unless != "" {
			return "(" + same + ") AND " + quoted(e.Merge.Unless) + " IS NOT TRUE"
		}

		return "(" + same + ")"
	}})
}

// writeMerged writes the existing rows that others were added to, and returns what it wrote by key: at says which, names which
// columns these had. The rows are locked, so that concurrent additions both count.
func (d *decision) writeMerged(ctx context.Context, tx pgx.Tx, existing *loaded, names []string, at []int) (map[string]map[string]any, error) {
	e, written := existing.Entity, map[string]map[string]any{}
	var keys []string
	var rows []map[string]any
	for i, row := range existing.Rows {
		if !slices.Contains(at, i) {
			continue
		}
		added := maps.Clone(row)
		maps.DeleteFunc(added, func(name string, _ any) bool { return name == e.Merge.Unless || !slices.Contains(names, name) })
		keys, rows = append(keys, keyText(row, e)), append(rows, added)
		written[keyText(row, e)] = added
	}
	if len(keys) == 0 {
		return nil, nil
	}

	return written, suspectRows(updateEach(ctx, tx, d.journal, e, keys, rows), e, rows)
}

// mergeSingle creates the only row that a user may have of a type, or adds to it: lists grow by what they lack, objects
// are merged by key, other columns are set. Omitted columns stay, so that today's wish does not erase yesterday's.
func (d *decision) mergeSingle(ctx context.Context, tx pgx.Tx, e *domain.Entity, rows []map[string]any) (*saved, error) {
	if len(rows) != 1 {
		return nil, fail(CodeBadArgument, "There can be one row of %s; give one.", e.Table)
	}
	if err := d.lockMerges(ctx, tx); err != nil {
		return nil, err
	}
	there, err := load(ctx, tx, e, &query{sel: ownColumns(e), lock: true})
	if err != nil {
		return nil, err
	}
	if len(there.Rows) == 0 {
		return d.saveNew(ctx, tx, e, rows)
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
		whole := copied(was)
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
