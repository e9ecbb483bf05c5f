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

	"alfred/internal/domain"
	"alfred/internal/pg"
)

// merge adds rows to existing ones that mean the same thing (the shopping list's eggs), and inserts the rest. Equal
// rows within one call are combined.
func (d *decision) merge(ctx context.Context, tx pgx.Tx, e *domain.Entity, rows []map[string]any) (*saved, error) {
	if err := d.lockMerges(ctx, tx); err != nil {
		return nil, err
	}
	unique, at := unite(e, rows)
	existing, err := d.sameAs(ctx, tx, e, unique)
	if err != nil {
		return nil, err
	}
	keys := make([]string, len(unique))
	var fresh, added []map[string]any
	for i, row := range unique {
		at := slices.IndexFunc(existing.Rows, func(other map[string]any) bool { return sameThing(e, row, other) })
		if at < 0 {
			fresh = append(fresh, row)

			continue
		}
		keys[i] = keyText(existing.Rows[at], e)
		more := maps.Clone(row)
		more[e.Key.Name] = keys[i]
		added = append(added, more)
	}
	if err := d.addUp(ctx, tx, e, added); err != nil {
		return nil, err
	}
	inserted, err := d.insert(ctx, tx, e, fresh)
	if err != nil {
		return nil, err
	}
	merged := make([]bool, len(unique))
	for i := range unique {
		if merged[i] = keys[i] != ""; !merged[i] {
			keys[i], inserted = inserted[0], inserted[1:]
		}
	}
	result := &saved{}
	for _, i := range at {
		result.keys = append(result.keys, keys[i])
		result.merged = append(result.merged, merged[i])
		result.written = append(result.written, unique[i])
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

	return lock.Later(ctx, tx)
}

// unite combines equal rows; at says where each row ended up.
func unite(e *domain.Entity, rows []map[string]any) ([]map[string]any, []int) {
	var unique []map[string]any
	at := make([]int, len(rows))
	for i, row := range rows {
		n := slices.IndexFunc(unique, func(other map[string]any) bool { return takesPart(e, row) && sameThing(e, row, other) })
		if n < 0 {
			n = len(unique)
			unique = append(unique, row)
		} else {
			unique[n][e.Merge.Sum] = sum(unique[n][e.Merge.Sum], row[e.Merge.Sum])
			for _, name := range e.Merge.Join {
				unique[n][name] = joined(unique[n][name], row[name])
			}
		}
		at[i] = n
	}

	return unique, at
}

func takesPart(e *domain.Entity, row map[string]any) bool {
	return e.Merge.Unless == "" || row[e.Merge.Unless] != true
}

// sameThing reports whether the merge rule makes two rows one. Two rows linked to the same canonical row have the same
// name, whatever their text.
func sameThing(e *domain.Entity, a, b map[string]any) bool {
	if !takesPart(e, a) || !takesPart(e, b) {
		return false
	}

	return !slices.ContainsFunc(e.Merge.By, func(name string) bool {
		if e.Match != nil && name == e.Match.Column {
			linkA, linkB := a[e.Match.Link.Name], b[e.Match.Link.Name]
			if linkA != nil && linkB != nil {
				return fmt.Sprint(linkA) != fmt.Sprint(linkB) // a number from the database, its text from a lookup
			}
		}

		return folded(a[name]) != folded(b[name])
	})
}

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

	return json.Number(decimal(new(big.Rat).Add(x, y), storedDigits))
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

// sameAs reads and locks the rows that any of the given ones may duplicate.
func (d *decision) sameAs(ctx context.Context, tx pgx.Tx, e *domain.Entity, rows []map[string]any) (*loaded, error) {
	by := e.Column(e.Merge.By[0])
	var names, links []string
	for _, row := range rows {
		names = append(names, folded(row[by.Name]))
		if e.Match != nil && row[e.Match.Link.Name] != nil {
			links = append(links, fmt.Sprint(row[e.Match.Link.Name]))
		}
	}

	return d.tools.load(ctx, tx, e, &query{sel: ownColumns(e), lock: true, where: func(s *statement) {
		s.add("(lower(", by.SQL(), "::text) = ANY(", s.value(names), "::text[])")
		if len(links) > 0 {
			s.add(" OR ")
			s.in(e.Match.Link.SQL(), links, e.Match.Link.Type)
		}
		s.add(")")
		if e.Merge.Unless != "" {
			s.add(" AND ", quoted(e.Merge.Unless), " IS NOT TRUE")
		}
	}})
}

// addUp adds the sums to existing rows and fills their empty columns. The database does the addition, so that
// concurrent ones both count.
func (d *decision) addUp(ctx context.Context, tx pgx.Tx, e *domain.Entity, rows []map[string]any) error {
	if len(rows) == 0 {
		return nil
	}
	raw, err := jsonRows(rows)
	if err != nil {
		return err
	}
	keys := make([]string, len(rows))
	for i, row := range rows {
		keys[i] = keyText(row, e)
	}
	own := func(name string) string { return pgx.Identifier{e.Table, name}.Sanitize() }
	names := columnsOf(rows)
	var sets []string
	for _, name := range names {
		switch {
		case name == e.Merge.Sum:
			sets = append(sets, fmt.Sprintf("%s = coalesce(%s + r.%s, %s, r.%s)", quoted(name), own(name), quoted(name), own(name), quoted(name)))
		case slices.Contains(e.Merge.Join, name):
			sets = append(sets, fmt.Sprintf("%[1]s = CASE WHEN coalesce(%[2]s, '') = '' THEN r.%[1]s WHEN coalesce(r.%[1]s, '') = '' OR strpos(lower(%[2]s), lower(r.%[1]s)) > 0 THEN %[2]s ELSE %[2]s || ', ' || r.%[1]s END",
				quoted(name), own(name)))
		case name != e.Key.Name && name != e.Merge.Unless:
			sets = append(sets, fmt.Sprintf("%s = coalesce(%s, r.%s)", quoted(name), own(name), quoted(name)))
		}
	}
	s := &statement{}
	into := table(d.tools.domain, e)
	s.add("UPDATE ", into, " SET ", strings.Join(sets, ", "), " FROM jsonb_array_elements(", s.value(string(raw)), "::text::jsonb) AS j (value)",
		" CROSS JOIN LATERAL jsonb_populate_record(NULL::", into, ", j.value) AS r WHERE ", own(e.Key.Name), " = r.", quoted(e.Key.Name), " AND ", e.Owned())
	if err := d.journal.updating(ctx, tx, e, keys, names); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, s.String(), s.args...); err != nil {
		return fmt.Errorf("add to %s: %w", e.Table, d.tools.suspectRows(err, e, rows))
	}

	return nil
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
