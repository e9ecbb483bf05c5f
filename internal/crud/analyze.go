package crud

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"alfred/internal/domain"
	"alfred/internal/exact"
	"alfred/internal/vocab"
	"alfred/registry"
)

// maxAggregates bounds the aggregates of one call.
const maxAggregates = 20

// notIn begins the name of the number of rows that a sum leaves out, because what its formula needs is missing there.
const notIn = "rows_not_in_"

// analyzeOp is db_analyze: aggregates over rows. It mints no refs.
type analyzeOp struct {
	*step

	args   analyzeArgs
	group  []*domain.Column
	order  []order // by names of the results
	limits []limit
	rows   []map[string]any
	total  int
	notice string // why nothing was counted, or may have been missed
}

// limit is a filter of the results by one of their numbers, as SQL's HAVING is.
type limit struct {
	of         *aggregate
	op, number string
}

func (d *decision) newAnalyze(s *step) (operation, *Error) {
	op := &analyzeOp{step: s}
	if err := d.begin(s, &op.args, &op.args.Table, readsOnly); err != nil {
		return nil, err
	}

	return op, op.check()
}

func (op *analyzeOp) check() *Error {
	if n := len(op.args.Aggregates); n == 0 || n > maxAggregates {
		return fail(CodeBadArgument, "aggregates has to hold 1 to %d entries.", maxAggregates)
	}
	if err := op.args.check(); err != nil {
		return err
	}
	for _, name := range op.args.GroupBy {
		c, err := grouping(op.entity, name)
		if err != nil {
			return err
		}
		if c == op.entity.Key {
			return failColumn(CodeBadArgument, name, "Rows cannot be grouped by %s.", name)
		}
		if slices.Contains(op.group, c) {
			return failColumn(CodeBadArgument, name, "group_by names %s twice.", name)
		}
		op.group = append(op.group, c)
	}

	if err := op.checkAggregates(); err != nil {
		return err
	}

	return op.takeLimits()
}

// spans are the parts of time that rows can be grouped by, as to_char writes them: in an order that is theirs as a text.
var spans = map[string]string{"hour": "HH24", "day": "YYYY-MM-DD", "weekday": "ID Dy", "week": "IYYY-\"W\"IW", "month": "YYYY-MM", "year": "YYYY"}

// spanLengths are how much of a day in a text, as 2026-01-31, says in which of them it is.
var spanLengths = map[string]int{"day": 10, "month": 7, "year": 4}

// grouping is what a group has in common: a column's value, or of a date or time, or the beginning of a range, its hour, day, weekday, week,
// month or year in the user's time zone (paid_at:month). Without those, a model would add up thousands of moments by itself.
func grouping(e *domain.Entity, name string) (*domain.Column, *Error) {
	plain, span, found := strings.Cut(name, ":")
	format := spans[span]
	if !found || format == "" || e.Column(name) != nil {
		c, err := columnOrPath(e, name)
		if err == nil && (c.Kind == domain.KindArray || c.Kind == domain.KindJSON) {
			err = failColumn(CodeBadArgument, name, "Rows cannot be grouped by %s.", name)
		}

		return c, err
	}
	c, err := columnOrPath(e, plain)
	if err != nil {
		return nil, err
	}
	c = cmp.Or(bound(c, "lower"), c)
	if length := spanLengths[span]; length > 0 && c.Kind == domain.KindText && len(c.Enum) == 0 { // days as databases without a type for them keep them
		sql := fmt.Sprintf(`left(substring(%s FROM '^\d{4}-\d\d-\d\d'), %d)`, c.SQL(), length)

		return &domain.Column{Name: name, Type: "text", Kind: domain.KindText, Expr: sql, Join: c.Join}, nil
	}
	if c.Kind != domain.KindTimestamp && (c.Kind != domain.KindDate || span == "hour") {
		return nil, failColumn(CodeBadArgument, plain, "%s has no %s.", plain, span)
	}

	return &domain.Column{Name: name, Type: "text", Kind: domain.KindText, Expr: "to_char(" + c.SQL() + ", '" + format + "')", Join: c.Join}, nil
}

var aliasForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,59}$`)

func (op *analyzeOp) checkAggregates() *Error {
	names := each(op.group, columnName)
	for i := range op.args.Aggregates {
		a := &op.args.Aggregates[i]
		if err := op.checkAggregate(a); err != nil {
			return err
		}
		if slices.Contains(names, a.As) {
			return fail(CodeBadArgument, "Two results are named %s; name them by as.", a.As)
		}
		names = append(names, a.As)
	}
	for _, by := range op.args.orders() {
		if fits := op.placesNamed(by.name); !slices.Contains(names, by.name) && len(fits) == 1 {
			by.name = names[fits[0]]
		}
		if !slices.Contains(names, by.name) {
			return fail(CodeBadArgument, "order_by has to be one of %s.", strings.Join(names, ", "))
		}
		op.order = append(op.order, by)
	}

	return nil
}

// placesNamed are the places of the results that an order may mean in other words: of a group its column without path or span, or the
// span, of a number its column or function.
func (op *analyzeOp) placesNamed(name string) (places []int) {
	for i, c := range op.group {
		plain, span, _ := strings.Cut(c.Name, ":")
		if plain == name || span == name || strings.HasSuffix(plain, "."+name) {
			places = append(places, i)
		}
	}
	for i, a := range op.args.Aggregates {
		if a.isNamed(name) || slices.Contains([]string{a.Column, a.Fn, vocab.AggregateName(a.Fn, a.Column), a.Fn + "(" + a.Column + ")"}, name) {
			places = append(places, len(op.group)+i)
		}
	}

	return places
}

// takeLimits takes out of the filters those that name a number of the results. A column of its name is the column.
func (op *analyzeOp) takeLimits() *Error {
	var rest []registry.Filter
	for _, filter := range op.args.Filters {
		at := slices.IndexFunc(op.args.Aggregates, func(a aggregate) bool { return a.isNamed(filter.Field) })
		if at < 0 || op.entity.Column(filter.Field) != nil {
			rest = append(rest, filter)

			continue
		}
		of, asks := &op.args.Aggregates[at], spelled(filter).Op
		number, err := scalar(&domain.Column{Name: filter.Field, Type: "numeric", Kind: domain.KindNumber}, domain.KindNumber, filter.Value)
		if err != nil || !of.isNumber() || !slices.Contains(append([]string{opEqual, opNotEqual}, orderOps...), asks) {
			return failColumn(CodeBadFilter, filter.Field, "%s is a result: it takes = != > >= < <= and a number, if it is one.", filter.Field)
		}
		op.limits = append(op.limits, limit{of, asks, number})
	}
	op.args.Filters = rest

	return nil
}

// isNumber reports whether the aggregate's value is a number, whatever its column holds.
func (a *aggregate) isNumber() bool {
	return a.column == nil || a.column.Kind == domain.KindNumber || strings.HasPrefix(a.Fn, "count")
}

// checkAggregate checks one aggregate and names it if the model did not.
func (op *analyzeOp) checkAggregate(a *aggregate) *Error {
	rows := a.Column == "" || a.Column == "*"
	switch {
	case !slices.Contains(vocab.Aggregates, a.Fn):
		return fail(CodeBadArgument, "fn is one of %s.", strings.Join(vocab.Aggregates, ", "))
	case a.As != "" && !aliasForm.MatchString(a.As):
		return fail(CodeBadArgument, "as is a short name of lower-case letters, digits and _.")
	case rows && a.Fn != "count":
		return fail(CodeBadArgument, "%s needs a column.", a.Fn)
	}
	a.As = cmp.Or(a.As, vocab.AggregateName(a.Fn, a.Column))
	if rows {
		return nil
	}
	var err *Error
	column := columnOrPath
	switch {
	case formulaForm.MatchString(a.Column) && op.entity.Column(a.Column) == nil:
		return a.compute(op.entity)
	case a.Fn == vocab.AggregateDistinct:
		column = grouping
	}
	if a.column, err = column(op.entity, a.Column); err != nil {
		return err
	}
	if (a.column.Type == "interval" || bound(a.column, "lower") != nil) && (a.Fn == "sum" || a.Fn == "avg") {
		return a.compute(op.entity)
	}

	return a.checkColumn(holdsRefs(op.entity, a.column))
}

// orderedKinds are the kinds of columns that have a first and a last value.
var orderedKinds = []domain.Kind{domain.KindNumber, domain.KindDate, domain.KindTimestamp, domain.KindTime, domain.KindText}

// checkColumn checks that the function can be applied to the column.
func (a *aggregate) checkColumn(isKey bool) *Error {
	c := a.column
	sums, compares := a.Fn == "sum" || a.Fn == "avg", a.Fn == "min" || a.Fn == "max"
	switch {
	case sums && (isKey || c.Kind != domain.KindNumber):
		return failColumn(CodeBadArgument, c.Name, "%s needs a column of numbers; %s is none.", a.Fn, c.Name)
	case compares && (isKey || c.Form != "" || !slices.Contains(orderedKinds, c.Kind)):
		return failColumn(CodeBadArgument, c.Name, "%s has no order for %s.", c.Name, a.Fn)
	default:
		return nil
	}
}

func (op *analyzeOp) run(ctx context.Context, d *decision, tx pgx.Tx) error {
	filters, err := d.conditions(ctx, tx, op.entity, op.args.Filters, nil)
	if err == nil {
		err = prepareUnranked(ctx, tx, op.entity, filters, "it cannot be counted by")
	}
	if err != nil {
		return err
	}
	counted, err := op.count(ctx, tx, filters)
	switch {
	case err != nil:
	case counted:
		op.notice = whyTooMany(filters...)
	default:
		op.notice, err = whyNone(ctx, tx, op.entity, filters, nil, func(tx pgx.Tx, filters, _ []condition) (bool, error) { return op.count(ctx, tx, filters) })
	}

	return err
}

// count reads the results, and reports whether they say something of any row.
func (op *analyzeOp) count(ctx context.Context, tx pgx.Tx, filters []condition) (bool, error) {
	var (
		raw   []byte
		rows  []map[string]any
		total int
	)
	err := op.sql(filters).each(ctx, tx, []any{&raw, &total}, func() error {
		var row map[string]any
		if err := exact.Decode(raw, &row); err != nil {
			return err
		}
		maps.DeleteFunc(row, func(name string, value any) bool { return value == nil && strings.HasPrefix(name, notIn) })
		rows = append(rows, row)

		return nil
	})
	if err != nil {
		return false, fmt.Errorf("analyze %s: %w", op.entity.Table, suspectFilters(err, op.entity, filters...))
	}

	op.rows, op.total = rows, total

	return slices.ContainsFunc(rows, counts), nil
}

// sql is the value of an aggregate: the first and the last of a list's values by their places.
func (a *aggregate) sql(s *statement) string {
	switch {
	case a.column == nil:
		return "count(*)"
	case a.Fn == vocab.AggregateDistinct:
		return "count(DISTINCT " + a.column.SQL() + ")"
	case isFloat(a.column) && (a.Fn == "avg" || a.Fn == "sum"): // added up as they are read, not as they are stored: 0.1 is 0.100000001
		return "trim_scale(" + a.Fn + "(" + a.column.SQL() + "::numeric))"
	case a.unit != "" && a.Fn != "count":
		return "trim_scale(round(" + a.Fn + "(" + a.column.SQL() + ")::numeric, 2))"
	case a.Fn == "avg", a.factors != nil && a.Fn != "count": // whose zeros would say that it is known to sixteen places, or to a tenth of a cent
		return "trim_scale(" + a.Fn + "(" + a.column.SQL() + ")::numeric)"
	case isClosedList(a.column) && a.Fn != "count":
		return "(" + s.value(a.column.Enum) + "::text[])[" + a.Fn + "(" + sortValueSQL(s, a.column, a.column.SQL()) + ")]"
	case a.Fn == "count":
		return "count(" + a.column.SQL() + ")"
	default:
		return trimPadding(a.column, a.Fn+"("+a.column.SQL()+")")
	}
}

func isFloat(c *domain.Column) bool { return c.Type == "real" || c.Type == "double precision" }

// sql names its columns by number: the name of a column that several others lead to may be longer than Postgres allows.
func (op *analyzeOp) sql(filters []condition) *statement {
	s := &statement{}
	names, values := each(op.group, columnName), each(op.group, (*domain.Column).SQL)
	columns := append(slices.Clone(op.group), filteredColumns(filters)...)
	for _, a := range op.args.Aggregates {
		switch {
		case a.factors != nil:
			columns = append(columns, a.factors...)
		case a.column != nil:
			columns = append(columns, a.column)
		}
		names, values = append(names, a.As), append(values, a.sql(s))
		if a.factors != nil && a.Fn == "sum" {
			names, values = append(names, notIn+a.As), append(values, "NULLIF(count(*) - count("+a.column.SQL()+"), 0)")
		}
	}
	numbered := func(i int) string { return fmt.Sprintf(`" %d"`, i+1) }
	pairs := make([]string, len(names))
	for i, name := range names {
		pairs[i] = s.value(name) + "::text, " + numbered(i)
	}
	s.add("SELECT jsonb_build_object(", strings.Join(pairs, ", "), `), " total" FROM (SELECT `)
	for i, value := range values {
		s.add(value, " AS ", numbered(i), ", ")
	}
	s.add(`count(*) OVER () AS " total" FROM `,
		op.entity.SQL(), joinsFor(columns), " WHERE ", op.entity.Owned(), " AND ", where(s, op.entity, filters, nil))
	if len(op.group) > 0 {
		s.add(" GROUP BY ", joinEach(op.group, ", ", (*domain.Column).SQL))
	}
	if len(op.limits) > 0 {
		s.add(" HAVING ", joinEach(op.limits, " AND ", func(l limit) string { return l.of.sql(s) + " " + l.op + " " + s.cast(l.number, "numeric") }))
	}
	terms := []*term{}
	for _, by := range op.order {
		if at := slices.Index(names, by.name); at < len(op.group) {
			terms = append(terms, termOf(s, op.group[at], by.desc))
		} else {
			terms = append(terms, &term{sql: numbered(at), desc: by.desc})
		}
	}
	for _, c := range op.group {
		terms = append(terms, termOf(s, c, false))
	}
	s.add(" ORDER BY ", orderSQL(append(terms, &term{sql: numbered(0)})), " LIMIT ", s.value(min(maxRows, cmp.Or(op.args.Limit, maxRows))), ") AS r")

	return s
}

func (op *analyzeOp) record(ctx context.Context, d *decision, tx pgx.Tx) (Result, error) {
	for _, c := range op.group {
		if err := d.nameGroup(ctx, tx, c, op.rows); err != nil {
			return Result{}, err
		}
	}

	return Result{rows: op.rows, RowCount: op.total, Notice: op.notice}, nil
}

// counts reports whether a result says something of any row: without rows, a count is 0 and all else is null.
func counts(row map[string]any) bool {
	for _, value := range row {
		if value != nil && fmt.Sprint(value) != "0" {
			return true
		}
	}

	return false
}
