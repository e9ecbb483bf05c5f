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

// namedConditions are the conditions of filters that name the row a column points to, as product_id = "Ground Coffee":
// without them, a model reads products to get a ref that it needs for nothing else. A name counts only if exactly one row of the
// user's has it. Filters that name no row are returned.
func namedConditions(ctx context.Context, tx pgx.Tx, e *domain.Entity, filters []registry.Filter) (found []condition, unknown []registry.Filter, err error) {
	for _, filter := range filters {
		target, names := namedTarget(e, filter)
		keys, err := keysOfNames(ctx, tx, target, filter, names)
		if err == nil && len(keys) == 0 && len(names) == 1 {
			keys, err = keyByPartOfName(ctx, tx, target, filter, names[0])
		}
		switch {
		case err != nil:
			return nil, nil, err
		case len(keys) == 0:
			unknown = append(unknown, filter)
		default:
			found = append(found, condition{column: e.ColumnOrPath(filter.Field), op: listOp(filter), kind: domain.KindUUID, texts: keys})
		}
	}

	return found, unknown, nil
}

// takeNamesFromRows takes out of rows what names the row that a column points to, and returns for each the keys of those rows: a
// model that is to plan a dish had to read the dish first, in a step of its own. As in filters, a name counts only if
// exactly one row has it; that several have it is wrong. Names of a column are looked up together, however many rows.
func takeNamesFromRows(ctx context.Context, tx pgx.Tx, e *domain.Entity, wrong *faults, rows ...map[string]any) ([]map[string]any, error) {
	found := make([]map[string]any, len(rows))
	for i := range found {
		found[i] = map[string]any{}
	}
	for _, c := range e.Columns {
		if err := takeNamesFromColumn(ctx, tx, e, c, wrong, rows, found); err != nil {
			return nil, err
		}
	}

	return found, nil
}

// takeNamesFromColumn is takeNamesFromRows for one column. For the first names that no row has, it says which are similar.
func takeNamesFromColumn(ctx context.Context, tx pgx.Tx, e *domain.Entity, c *domain.Column, wrong *faults, rows, found []map[string]any) error {
	var (
		target *domain.Entity
		names  []string
		at     []int // the row of each name
	)
	for i, row := range rows {
		if of, said := namedTarget(e, registry.Filter{Field: c.Name, Op: opEqual, Value: row[c.Name]}); len(said) == 1 {
			target, names, at = of, append(names, said[0]), append(at, i)
		}
	}
	if target == nil {
		return nil
	}
	keys, err := keysByName(ctx, tx, target, names)
	if err != nil {
		return err
	}
	similar, err := rowsNamedLikeMissing(ctx, tx, target, names, keys)
	if err != nil {
		return err
	}
	for n, i := range at {
		said, same, like := rows[i][c.Name], keys[names[n]], similar[names[n]]
		switch {
		case len(same) == 1:
			found[i][c.Name] = same[0]
		case len(same) > 1:
			wrong.add(severalRowsNamed(target, c.Name, said))
		case like != nil && len(like.Rows) > 0:
			wrong.add(noRowNamed(target, c.Name, said, like))
		default:
			continue // the registry says which refs are similar
		}
		delete(rows[i], c.Name)
	}

	return nil
}

// rowsNamedLikeMissing is rowsNamedLike for the first of the names that no row has.
func rowsNamedLikeMissing(ctx context.Context, tx pgx.Tx, e *domain.Entity, names []string, keys map[string][]string) (map[string]*loaded, error) {
	similar := map[string]*loaded{}
	for _, name := range names {
		if len(keys[name]) > 0 || similar[name] != nil || len(similar) == namedInQuestion {
			continue
		}
		found, err := rowsNamedLike(ctx, tx, e, name)
		if err != nil {
			return nil, err
		}
		similar[name] = found
	}

	return similar, nil
}

// nameRefs puts refs in the place of names in drafts, whose columns hold refs, and in rows that are part of them.
func (d *decision) nameRefs(ctx context.Context, tx pgx.Tx, e *domain.Entity, drafts ...map[string]any) error {
	if len(drafts) == 0 {
		return nil
	}
	var wrong faults
	named, err := takeNamesFromRows(ctx, tx, e, &wrong, drafts...)
	if err == nil {
		err = wrong.err()
	}
	if err == nil {
		err = d.putRefs(ctx, tx, e, drafts, named)
	}
	if err != nil {
		return err
	}
	for _, child := range e.Children {
		if err := d.nameRefs(ctx, tx, child.Entity, partsIn(drafts, child)...); err != nil {
			return err
		}
	}

	return nil
}

// putRefs puts the refs of keys, those of one row beside each draft, into the drafts.
func (d *decision) putRefs(ctx context.Context, tx pgx.Tx, e *domain.Entity, drafts, keys []map[string]any) error {
	if !slices.ContainsFunc(keys, func(row map[string]any) bool { return len(row) > 0 }) {
		return nil
	}

	return pg.AsEngine(ctx, tx, func(engine pgx.Tx) error {
		translated, err := d.translate(ctx, engine, registry.Result{Entity: e, Rows: keys, Action: registry.ActionRead})
		if err != nil {
			return err
		}
		for i, draft := range drafts {
			for name := range keys[i] {
				draft[name] = translated[0].Rows[i][name]
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

// keysOfNames returns the keys of the rows that have the names which a filter says, none unless each is one's.
func keysOfNames(ctx context.Context, tx pgx.Tx, e *domain.Entity, filter registry.Filter, names []string) ([]string, error) {
	found, err := keysByName(ctx, tx, e, names)
	if err != nil {
		return nil, err
	}
	var keys []string
	for i, name := range names {
		if len(found[name]) > 1 {
			return nil, severalRowsNamed(e, filter.Field, asList(filter.Value)[i])
		}
		keys = append(keys, found[name]...)
	}
	if len(keys) < len(names) {
		return nil, nil
	}

	return keys, nil
}

// keyByPartOfName returns the key of the only row whose name has what a filter says among its words: Ann is not Hannah. Which of several
// is meant, others decide.
func keyByPartOfName(ctx context.Context, tx pgx.Tx, e *domain.Entity, filter registry.Filter, words string) ([]string, error) {
	name := asList(filter.Value)[0]
	similar, err := rowsNamedLike(ctx, tx, e, words)
	if err != nil || len(similar.Rows) == 0 {
		return nil, err
	}
	labels := each(similar.Rows, e.Label.Render)
	slices.Sort(labels)
	switch {
	case len(labels) == 1 && holdsWords(plainWords(labels[0]), plainWords(name)):
		return similar.keys(), nil
	case len(labels) == 1:
		return nil, noRowNamed(e, filter.Field, name, similar)
	case len(slices.Compact(labels)) == 1:
		return nil, severalRowsNamed(e, filter.Field, labels[0])
	default:
		return nil, failColumn(CodeUnknownRef, filter.Field, "Several %s are called like %s: %s. Name the one that is meant.", e.Plural, registry.Scrub(fmt.Sprint(name)), similarLabels(e, similar))
	}
}

// rowsNamedLike reads the rows whose names hold a name, in the words of [naming], with their labels.
func rowsNamedLike(ctx context.Context, tx pgx.Tx, e *domain.Entity, words string) (*loaded, error) {
	said := namingOf(e)
	if said.sql == "" {
		return &loaded{}, nil
	}
	holds := func(s *statement) string { return said.sql + " LIKE " + s.value(literal(words)) }

	return loadForTemplates(ctx, tx, e, &query{limit: namedInQuestion, where: holds}, furthestName, e.Label)
}

// similarLabels says what such rows are called.
func similarLabels(e *domain.Entity, similar *loaded) string {
	return andMore(each(similar.Rows, func(row map[string]any) string { return registry.Scrub(e.Label.Render(row)) }), similar.total)
}

// noRowNamed refuses a name that no row has, and says which rows' names hold it.
func noRowNamed(e *domain.Entity, column string, name any, similar *loaded) *Error {
	return failColumn(CodeUnknownRef, column, "No %s is called %s; there is %s.", e.Name, registry.Scrub(fmt.Sprint(name)), similarLabels(e, similar))
}

// severalRowsNamed says that only refs tell rows of one name apart.
func severalRowsNamed(e *domain.Entity, column string, name any) *Error {
	return failColumn(CodeUnknownRef, column, "Several %s are called %s: use the ref of the one that is meant. If it is not shown, read them, or say blocked with next: replan where a step may not read.", e.Plural, registry.Scrub(fmt.Sprint(name)))
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
