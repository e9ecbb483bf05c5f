package crud

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"alfred/internal/domain"
	"alfred/registry"
)

// rankedRows is how many rows a ranked search returns without a limit.
const rankedRows = 20

// readOp is db_read.
type readOp struct {
	*step

	args   readArgs
	sel    selection
	named  []string // refs of drafts in conditions on the key
	drafts []draft  // those that are read
	found  *loaded
	notice string
}

func (d *decision) newRead(s *step) (operation, *Error) {
	op := &readOp{step: s}
	if err := d.begin(s, &op.args, &op.args.Table, readsOnly); err != nil {
		return nil, err
	}
	if err := op.args.check(); err != nil {
		return nil, err
	}
	var err *Error
	op.sel, err = selected(s.entity, folded(op.args.Detail), op.args.Columns)
	for _, filter := range op.args.allFilters() {
		op.show(filter.Field)
	}
	for _, by := range op.args.orders() {
		op.show(by.name)
	}

	return op, err
}

// show adds a column by which rows are chosen or ordered and that is in no set: the newest is told with its time.
func (op *readOp) show(name string) {
	if c, err := column(op.entity, name); err == nil && !op.entity.InSets(c) && !op.sel.shows(c.Name) {
		op.sel.columns = append(op.sel.columns, c)
	}
}

func (op *readOp) run(ctx context.Context, d *decision, tx pgx.Tx) error {
	for _, list := range []*[]registry.Filter{&op.args.Filters, &op.args.OrFilters} { // may stand for drafts
		expanded, err := d.registry.ExpandRanges(ctx, op.entity, *list)
		if err != nil {
			return err
		}
		*list = expanded
	}
	if err := op.loadDrafts(ctx, d); err != nil {
		return err
	}
	q, err := op.query(ctx, d, tx)
	if err != nil || q == nil {
		return err
	}
	op.found, err = load(ctx, tx, op.entity, q)
	if err == nil && q.best && len(op.found.Rows) < min(q.limit, op.found.total) { // many of them have just been deleted
		q.keys, q.best = nil, false
		op.found, err = load(ctx, tx, op.entity, q)
	}
	switch {
	case err != nil:
	case op.found.total == 0:
		op.notice, err = op.whyNone(ctx, tx, q)
	default:
		op.notice = cmp.Or(op.notice, whyTooMany(slices.Concat(q.filters, q.or)...))
	}

	return err
}

// whyNone looks for rows that are written otherwise, unless drafts were found, and for similar names.
func (op *readOp) whyNone(ctx context.Context, tx pgx.Tx, q *query) (string, error) {
	if len(op.drafts) > 0 {
		return strangerNotice(ctx, tx, op.entity)
	}
	notice, err := whyNone(ctx, tx, op.entity, q.filters, q.or, func(tx pgx.Tx, filters, or []condition) (bool, error) {
		wide := *q
		wide.filters, wide.or = filters, or
		rows, err := load(ctx, tx, op.entity, &wide)
		if err != nil {
			return false, err
		}
		op.found = rows

		return rows.total > 0, nil
	})
	if err != nil || notice != "" {
		return notice, err
	}

	return similarNotice(ctx, tx, op.entity, q)
}

// query selects the stored rows; nil if only drafts are asked for.
func (op *readOp) query(ctx context.Context, d *decision, tx pgx.Tx) (*query, error) {
	filters, err := d.conditions(ctx, tx, op.entity, op.args.Filters, op.named)
	if err != nil {
		return nil, err
	}
	or, err := d.conditions(ctx, tx, op.entity, op.args.OrFilters, op.named)
	if err != nil {
		return nil, err
	}
	if rankingTexts(or) != nil {
		return nil, failColumn(CodeBadFilter, semanticField, "%s ranks rows and excludes none, so it belongs in filters, not in or_filters.", semanticField)
	}
	ranked := rankingTexts(filters)
	if len(ranked) > 1 {
		return nil, failColumn(CodeBadFilter, semanticField, "%s can rank rows by one text only.", semanticField)
	}
	if slices.ContainsFunc(filters, func(c condition) bool { return c.op == opIn && len(c.texts) == 0 }) {
		return nil, nil
	}
	if err := resolveNames(ctx, tx, op.entity, filters, or); err != nil {
		return nil, err
	}
	q := &query{sel: op.sel, limit: op.args.limit(), filters: filters, or: or}
	var fault *Error
	if q.by, fault = op.by(); fault != nil {
		return nil, fault
	}
	q.first = op.order(slices.Concat(filters, or), q.by)
	if len(ranked) > 0 {
		op.notice = d.prepared.vectors.Notice
		op.rank(d, ranked[0], q)
	}

	return q, nil
}

// rankingTexts returns the texts by which conditions rank rows.
func rankingTexts(list []condition) []string {
	var texts []string
	for _, c := range list {
		if c.distance != "" {
			texts = append(texts, c.distance)
		}
	}

	return texts
}

// rank joins each row's rank in a search. If nothing else is asked of the rows, only the best are read.
func (op *readOp) rank(d *decision, text string, q *query) {
	keys := d.prepared.orders[op.args.search(text)]
	if op.args.rankedNeeded() > 0 && len(keys) >= q.limit {
		q.keys, q.best = keys, true
	}
	q.join = func(s *statement) string {
		return " LEFT JOIN (SELECT u._key::" + op.entity.Key.Type + " AS _key, u._place FROM unnest(" + s.value(keys) +
			"::text[]) WITH ORDINALITY AS u (_key, _place)) AS _ranked ON _ranked._key = " + op.entity.Qualified(op.entity.Key)
	}
}

// by are the columns that order_by means: of one that points to rows, what they are called.
func (op *readOp) by() ([]*domain.Column, *Error) {
	var columns []*domain.Column
	for _, one := range op.args.orders() {
		by, err := columnOrPath(op.entity, one.name)
		if err != nil {
			return nil, err
		}
		if by.Kind == domain.KindJSON {
			return nil, failColumn(CodeBadArgument, by.Name, "Rows cannot be ordered by %s.", by.Name)
		}
		if to := by.Target(); to != nil && len(nameColumns(to)) == 1 {
			by = cmp.Or(op.entity.ColumnOrPath(by.Name+"."+nameColumns(to)[0].Name), by)
		}
		columns = append(columns, by)
	}

	return columns, nil
}

// order ranks by meaning or similarity if the read searches for it, and by columns.
func (op *readOp) order(list []condition, by []*domain.Column) func(*statement) []*term {
	return func(s *statement) []*term {
		var terms []*term
		for _, c := range list {
			switch {
			case c.distance != "":
				terms = append(terms, rankTerms(s, op.entity, c.distance)...)
			case c.op == opSimilar:
				terms = append(terms, &term{sql: "similarity(" + c.column.SQL() + "::text, " + s.value(c.texts[0]) + ")", desc: true})
			}
		}
		for i, one := range op.args.orders() {
			terms = append(terms, termOf(s, by[i], one.desc))
		}

		return terms
	}
}

// rankTerms order by the search that ran before this transaction, which ranked all rows regardless of filters. Rows
// without an embedding follow, ordered by their words.
func rankTerms(s *statement, e *domain.Entity, text string) []*term {
	var parts []string
	for _, name := range e.Semantic.Columns() {
		if c := e.Column(name); c != nil {
			parts = append(parts, c.SQL()+"::text")
		}
	}
	words := "CASE WHEN _ranked._place IS NULL THEN word_similarity(" + s.value(text) + ", concat_ws(' ', " + strings.Join(parts, ", ") + ")) END"

	return []*term{{sql: "_ranked._place"}, {sql: words, desc: true}}
}

func (op *readOp) record(ctx context.Context, d *decision, tx pgx.Tx) (Result, error) {
	var result Result
	for i, one := range op.drafts {
		op.drafts[i].content = op.draftRow(one)
		result.rows, result.Refs = append(result.rows, op.drafts[i].content), append(result.Refs, one.ref)
	}
	if err := d.registry.Touch(ctx, namedKeys(op.entity, op.args.allFilters())); err != nil {
		return Result{}, err
	}
	if err := d.labelDrafts(ctx, op.drafts); err != nil {
		return Result{}, err
	}
	result.RowCount = len(result.rows)
	if op.found == nil {
		return result, nil
	}
	stored, err := op.recorded(ctx, d, tx, op.found.after(registry.ActionRead))
	result.rows = append(result.rows, stored.rows...)
	result.Refs = append(result.Refs, stored.Refs...)
	result.RowCount += op.found.total
	result.Notice = op.notice

	return result, err
}

// translate replaces keys by refs; labels of rows known only by a foreign key are read as the tenant.
func (d *decision) translate(ctx context.Context, tx pgx.Tx, results ...registry.Result) ([]registry.Translated, error) {
	return d.registry.TranslateRows(ctx, results, namesByKey(labels).asTenant(tx, d.scope.UserID))
}
