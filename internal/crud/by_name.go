package crud

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"alfred/internal/domain"
	"alfred/internal/pg"
	"alfred/internal/vocab"
	"alfred/registry"
)

// refLike is a value in a column of references that can only be meant as a ref, or a range of them.
var refLike = regexp.MustCompile(`^(?:gen_)?` + vocab.Ref)

// nameKeys puts keys in the place of what names the rows that a column points to, in a filter such as product_id = "Ground Coffee":
// without it, a model reads products to get a ref that it needs for nothing else. A name counts only if exactly one row of the
// user's has it or, if none has, only one has it among its words. A filter with another name stays, for the registry says what is like it.
func nameKeys(ctx context.Context, tx pgx.Tx, e *domain.Entity, filter registry.Filter) (registry.Filter, error) {
	target, names := namedTarget(e, filter)
	if target == nil {
		return filter, nil
	}
	named, err := findNamed(ctx, tx, target, names)
	if err != nil {
		return filter, err
	}
	var keys []any
	for i, name := range names {
		key, fault := named[name].key(target, filter.Field, asList(filter.Value)[i], true)
		if fault != nil {
			return filter, fault
		}
		if key != "" {
			keys = append(keys, registry.Key(key))
		}
	}
	if len(keys) == len(names) {
		filter.Op, filter.Value = listOp(filter), keys
	}

	return filter, nil
}

// putKeysForNames puts keys in the place of what names the row that a column points to, in rows and in those that are part of them: a
// model that is to plan a dish had to read the dish first, in a step of its own. A name counts only if exactly one row has it;
// that several have it is wrong. Names of a column are looked up together, however many rows.
func putKeysForNames(ctx context.Context, tx pgx.Tx, e *domain.Entity, wrong *faults, rows ...map[string]any) error {
	if len(rows) == 0 {
		return nil
	}
	for _, c := range e.Columns {
		if err := putKeysInColumn(ctx, tx, e, c, wrong, rows); err != nil {
			return err
		}
	}
	for _, child := range e.Children {
		var parts []map[string]any
		for _, row := range rows {
			parts = append(parts, rowsIn(row[child.Entity.Table])...)
		}
		if err := putKeysForNames(ctx, tx, child.Entity, wrong, parts...); err != nil {
			return err
		}
	}

	return nil
}

// putKeysInColumn is putKeysForNames for one column.
func putKeysInColumn(ctx context.Context, tx pgx.Tx, e *domain.Entity, c *domain.Column, wrong *faults, rows []map[string]any) error {
	var (
		target *domain.Entity
		names  []string
		naming []map[string]any // the row of each name
	)
	for _, row := range rows {
		if of, said := namedTarget(e, registry.Filter{Field: c.Name, Op: opEqual, Value: row[c.Name]}); len(said) == 1 {
			target, names, naming = of, append(names, said[0]), append(naming, row)
		}
	}
	if target == nil {
		return nil
	}
	named, err := findNamed(ctx, tx, target, names)
	if err != nil {
		return err
	}
	for i, row := range naming {
		key, fault := named[names[i]].key(target, c.Name, row[c.Name], false)
		switch {
		case fault != nil:
			wrong.add(fault)
			delete(row, c.Name)
		case key != "": // else the registry says which refs are similar
			row[c.Name] = registry.Key(key)
		}
	}

	return nil
}

// nameRefs puts refs in the place of names in a draft, whose columns hold refs, and in rows that are part of it.
func (d *decision) nameRefs(ctx context.Context, tx pgx.Tx, e *domain.Entity, draft map[string]any) error {
	var wrong faults
	if err := putKeysForNames(ctx, tx, e, &wrong, draft); err != nil {
		return err
	}
	var naming []map[string]any // rows with names
	var keys []registry.Result  // what each of them names, alone
	for _, one := range rowsWithin(e, draft) {
		found := map[string]any{}
		for name, value := range one.row {
			if key, isKey := value.(registry.Key); isKey {
				found[name] = string(key)
			}
		}
		if len(found) > 0 {
			naming = append(naming, one.row)
			keys = append(keys, registry.Result{Entity: one.entity, Rows: []map[string]any{found}, Action: registry.ActionRead})
		}
	}
	if err := wrong.err(); err != nil || len(keys) == 0 {
		return err
	}

	return pg.AsEngine(ctx, tx, func(engine pgx.Tx) error {
		translated, err := d.translate(ctx, engine, keys...)
		if err != nil {
			return err
		}
		for i, row := range naming {
			for name := range keys[i].Rows[0] {
				row[name] = translated[i].Rows[0][name]
			}
		}

		return nil
	})
}

// namedTarget is the type that a filter names rows of, and their names, in the words of [naming]; nil if it does not.
func namedTarget(e *domain.Entity, filter registry.Filter) (*domain.Entity, []string) {
	c := e.ColumnOrPath(filter.Field)
	if c == nil || c.FK == nil || c.FK.Entity == nil || c.Kind == domain.KindArray || !slices.Contains([]string{opEqual, opNotEqual, opIn, opNotIn}, filter.Op) {
		return nil, nil
	}
	said := namingOf(c.FK.Entity)
	var names []string
	for _, value := range asList(filter.Value) {
		name, isText := value.(string)
		if !isText || said.sql == "" && len(said.codes) == 0 || blank(name) || refLike.MatchString(name) {
			return nil, nil
		}
		words := said.words(name)
		if words == "" {
			return nil, nil
		}
		names = append(names, words)
	}
	if len(names) == 0 {
		return nil, nil
	}

	return c.FK.Entity, names
}

// foundByName is what a name finds: the keys of the rows that have it or, if none has, rows whose names hold it.
type foundByName struct {
	keys []string
	like *loaded
}

// findNamed finds rows by names, in the words of [naming]. Rows whose names hold one are read for the first few that no row has.
func findNamed(ctx context.Context, tx pgx.Tx, e *domain.Entity, names []string) (map[string]foundByName, error) {
	keys, err := keysByName(ctx, tx, e, names)
	if err != nil {
		return nil, err
	}
	found, missing := map[string]foundByName{}, 0
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		one := foundByName{keys[name], &loaded{}}
		if len(one.keys) == 0 && missing < namedInQuestion {
			missing++
			if one.like, err = rowsNamedLike(ctx, tx, e, name); err != nil {
				return nil, err
			}
		}
		found[name] = one
	}

	return found, nil
}

// key is the key of the only row that a name means, "" if nothing is called like it. byPart: the row may have other words in its name,
// too. Ann is not Hannah.
func (n foundByName) key(e *domain.Entity, column string, said any, byPart bool) (string, *Error) {
	keys := n.keys
	if byPart && len(n.like.Rows) == 1 && holdsWords(plainWords(e.Label.Render(n.like.Rows[0])), plainWords(said)) {
		keys = n.like.keys()
	}
	name := registry.Scrub(fmt.Sprint(said))
	switch {
	case len(keys) == 1:
		return keys[0], nil
	case len(keys) > 1: // only refs tell them apart
		return "", failColumn(CodeUnknownRef, column, "Several %s are called %s: use the ref of the one that is meant. If it is not shown, read them, or say blocked with next: replan where a step may not read.", e.Plural, name)
	case len(n.like.Rows) > 0:
		return "", failColumn(CodeUnknownRef, column, "No %s is called %s; there is %s.", e.Name, name, andMore(labelsOf(e, n.like.Rows), n.like.total))
	default:
		return "", nil
	}
}

// rowsNamedLike reads the rows whose names hold a name, in the words of [naming], with their labels.
func rowsNamedLike(ctx context.Context, tx pgx.Tx, e *domain.Entity, words string) (*loaded, error) {
	said := namingOf(e)
	if said.sql == "" {
		return &loaded{}, nil
	}
	like := func(s *statement) string { return holds(s, plainLetters(said.sql), words) }

	return loadForTemplates(ctx, tx, e, &query{limit: namedInQuestion, where: like}, furthestName, e.Label)
}

// moreOfAName is how many rows are read beyond one for each name, to see which names several rows have.
const moreOfAName = 50

// naming is what rows of a type are called, and how a name has to be written to be compared with it.
type naming struct {
	sql   string // "" if only codes name them
	words func(name any) string
	codes []string
}

// apartWords is what may stand between the words of a label where several columns make one up. It is no more than a blank, which
// stays: "Mill Row 11A" is not "Mill Row 1 · 1A".
const apartWords = `[\x01-\x2f\x3a-\x60\x7b-\x7f·]+`

var betweenWords = regexp.MustCompile(apartWords)

// namingOf says what rows of a type are called: the column that names them or, of a first and a last name or of the rows that a
// row stands between, all words of the label. There is nothing that formats of times and numbers could be compared with.
func namingOf(e *domain.Entity) naming {
	if names := nameColumns(e); len(names) == 1 {
		return naming{lowered(names[0]), folded, each(e.Codes, lowered)}
	}
	columns := e.Label.Columns()
	if len(columns) == 0 || !areWords(e, columns, furthestName) {
		return naming{words: folded, codes: each(e.Codes, lowered)}
	}

	return naming{
		sql:   plainSQL("lower(" + wordsSQL(e, columns, furthestName) + ")"),
		words: plainWords,
		codes: each(e.Codes, func(c *domain.Column) string { return plainSQL(lowered(c)) }),
	}
}

func lowered(c *domain.Column) string { return "lower(" + c.SQL() + "::text)" }

// plainSQL is plainWords of a text in lower case.
func plainSQL(text string) string {
	return "btrim(regexp_replace(" + text + ", '" + apartWords + "', ' ', 'g'))"
}

// plainWords are the words of a name, with nothing but a blank between them.
func plainWords(name any) string {
	return strings.TrimSpace(betweenWords.ReplaceAllString(folded(name), " "))
}

// areWords reports whether columns of a label consist of texts, their own and those of rows near enough.
func areWords(e *domain.Entity, columns []string, deep int) bool {
	words := only(columns, func(name string) bool {
		switch c := e.Column(name); {
		case c == nil || c.Hidden:
			return false
		case c.FK == nil:
			return c.Kind == domain.KindText
		default:
			return deep > 0 && c.Target() != nil && c.Target() != e && areWords(c.Target(), c.Target().Label.Columns(), deep-1)
		}
	})

	return len(words) == len(columns)
}

// keysByName returns the keys of the rows that have these names, in the words of [naming], or else these codes; of very many rows, those
// of names that several have.
func keysByName(ctx context.Context, tx pgx.Tx, e *domain.Entity, names []string) (map[string][]string, error) {
	said, found := namingOf(e), map[string][]string{}
	for _, sql := range append([]string{said.sql}, said.codes...) {
		missing := only(names, func(name string) bool { return len(found[name]) == 0 })
		if sql == "" || len(missing) == 0 {
			continue
		}
		more, err := keysCalled(ctx, tx, e, sql, missing)
		if err != nil {
			return nil, err
		}
		maps.Copy(found, more)
	}

	return found, nil
}

// keysCalled are the keys of the rows for which an expression is one of these names.
func keysCalled(ctx context.Context, tx pgx.Tx, e *domain.Entity, sql string, names []string) (map[string][]string, error) {
	name := &domain.Column{Name: " said", Expr: sql}
	q := &query{sel: selection{columns: []*domain.Column{e.Key, name}}, limit: len(names) + moreOfAName, where: func(s *statement) string {
		return s.in(name.SQL(), names, "text")
	}}
	rows, err := load(ctx, tx, e, q)
	if err != nil {
		return nil, err
	}
	found := map[string][]string{}
	for i, key := range rows.keys() {
		said := fmt.Sprint(rows.Rows[i][name.Name])
		found[said] = append(found[said], key)
	}
	if len(rows.Rows) == q.limit { // there are more, of whatever name
		maps.DeleteFunc(found, func(_ string, keys []string) bool { return len(keys) == 1 })
	}

	return found, nil
}
