package crud

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"alfred/internal/domain"
	"alfred/registry"
)

// The operators of a filter. A row without a value in the column matches only is_null.
const (
	opContains  = "contains"
	opEqual     = "="
	opExists    = "exists"
	opGreater   = ">"
	opGreaterEq = ">="
	opILike     = "ilike"
	opIn        = "in"
	opIsNotNull = "is_not_null"
	opIsNull    = "is_null"
	opLess      = "<"
	opLessEq    = "<="
	opNotEqual  = "!="
	opNotExists = "not_exists"
	opNotIn     = "not_in"
	opOverlaps  = "overlaps"
	opSimilar   = "similar"
)

var allOps = []string{opEqual, opNotEqual, opGreater, opGreaterEq, opLess, opLessEq, opIn, opNotIn, opILike, opIsNull, opIsNotNull, opContains, opOverlaps, opSimilar, opExists, opNotExists}

// orderOps ask which of two values is the greater one.
var orderOps = []string{opGreater, opGreaterEq, opLess, opLessEq}

// otherOps are operators as other languages write them.
var otherOps = map[string]string{"==": opEqual, "<>": opNotEqual, "not in": opNotIn, "is null": opIsNull, "is not null": opIsNotNull, "not exists": opNotExists}

// spelled is a filter with its operator as it is written here.
func spelled(filter registry.Filter) registry.Filter {
	filter.Op = cmp.Or(otherOps[folded(filter.Op)], folded(filter.Op))

	return filter
}

// listOp is the operator of a filter on references when its values are a list.
func listOp(filter registry.Filter) string {
	if filter.Op == opNotEqual || filter.Op == opNotIn {
		return opNotIn
	}

	return opIn
}

// opsOf lists the operators that a column supports.
func opsOf(e *domain.Entity, c *domain.Column) []string {
	ops := []string{opEqual, opNotEqual, opIsNull, opIsNotNull}
	switch {
	case c.FK != nil && c.Kind != domain.KindArray, c == e.Key, c.Kind == domain.KindBool, c.Kind == domain.KindUUID:
		return append(ops, opIn, opNotIn)
	case c.Kind == domain.KindArray, c.Kind == domain.KindJSON:
		return append(ops, opContains)
	case c.Holds != "":
		return slices.Concat(ops, []string{opIn, opNotIn, opILike, opContains, opOverlaps}, orderOps)
	case c.Form != "":
		return append(ops, opIn, opNotIn, opILike, opContains)
	case slices.Contains(nameColumns(e), c):
		ops = append(ops, opSimilar)
	}
	ops = append(ops, opIn, opNotIn, opGreater, opGreaterEq, opLess, opLessEq)
	if c.Kind == domain.KindText {
		ops = append(ops, opILike, opContains)
	}

	return ops
}

// nameColumns are the columns by which people name rows of the type: the match rule's, else those of a label that is
// nothing but texts, as a first and a last name. There may be none.
func nameColumns(e *domain.Entity) []*domain.Column {
	if e.Match != nil {
		return []*domain.Column{e.Column(e.Match.Column)}
	}
	var columns []*domain.Column
	for _, name := range e.Label.Columns() {
		c := e.Column(name)
		if c == nil || !c.FreeText() || c.FK != nil {
			return nil
		}
		columns = append(columns, c)
	}

	return columns
}

// condition is one checked filter.
type condition struct {
	column *domain.Column
	op     string
	other  *domain.Column // whose value the column's is compared with, instead of texts
	kind   domain.Kind    // of the values; row keys are text, whatever their type, and a time may be compared with days
	// texts are the values in the form that Postgres parses: list elements for in, not_in and contains, otherwise one. A list
	// without elements is that of a condition which named only drafts: no stored row is in it.
	texts []string
	// loose are patterns instead of texts: the column's text, without capitals and accents, is like one of them.
	loose []string
	// found is, for lookups by name, what each text may mean.
	found []meaning
	// pointing are the rows that have to exist, or must not; then there is no column.
	pointing *pointing
	// distance is the text of a semantic search, which ranks rows and excludes none.
	distance string
}

// isLookup reports whether the condition finds rows by name, tolerantly.
func (c *condition) isLookup(e *domain.Entity) bool {
	return c.column != nil && slices.Contains(nameColumns(e), c.column) && slices.Contains([]string{opEqual, opIn, opSimilar}, c.op)
}

// Postgres plans for minutes what asks a hundred times about other rows, and compares tens of thousands of names with all
// there are for as long.
const (
	maxNames    = 1000
	maxPointing = 20
)

// conditions checks filters against the type. Refs must either all have been replaced by keys before, or remain refs.
func conditions(e *domain.Entity, filters []registry.Filter) ([]condition, *Error) {
	list, others := make([]condition, 0, len(filters)), 0
	for _, filter := range filters {
		c, err := newCondition(e, filter)
		if err != nil {
			return nil, err
		}
		if c.pointing != nil {
			others++
		}
		switch {
		case others > maxPointing:
			return nil, fail(CodeBadFilter, "At most %d filters may ask about other rows.", maxPointing)
		case len(c.texts) > maxNames && c.isLookup(e):
			return nil, failColumn(CodeBadFilter, c.column.Name, "These are %d names; at most %d are looked up at once.", len(c.texts), maxNames)
		}
		list = append(list, c)
	}

	return list, nil
}

func newCondition(e *domain.Entity, filter registry.Filter) (condition, *Error) {
	if filter.Field == "" || filter.Op == "" {
		return condition{}, fail(CodeBadFilter, "A filter is {field, op, value}; one has no field or no op.")
	}
	filter = spelled(filter)
	if !slices.Contains(allOps, filter.Op) {
		return condition{}, failColumn(CodeBadFilter, filter.Field, "There is no operator %q. Operators: %s.", registry.Scrub(filter.Op), strings.Join(allOps, " "))
	}
	switch op := existsOp(e, filter); {
	case op != "":
		return existsCondition(e, registry.Filter{Field: filter.Field, Op: op, Value: filter.Value})
	case filter.Field == semanticField:
		return semanticCondition(e, filter)
	}
	c, err := columnOrPath(e, filter.Field)
	if err != nil {
		return condition{}, cmp.Or(hintExists(e, filter), err)
	}
	if ops := opsOf(e, c); !slices.Contains(ops, filter.Op) {
		return condition{}, failColumn(CodeBadFilter, c.Name, "%s does not take %s; it takes %s.", c.Name, filter.Op, strings.Join(ops, " "))
	}

	if other := comparedColumn(e, c, filter); other != nil {
		return condition{column: c, op: filter.Op, other: other}, nil
	}

	return withValue(condition{column: c, op: filter.Op, kind: comparedKind(e, c)}, filter.Value)
}

// comparedColumn is the column that a value names, paid < total, nil for none: of numbers and times, whose values no name can be.
func comparedColumn(e *domain.Entity, c *domain.Column, filter registry.Filter) *domain.Column {
	name, _ := filter.Value.(string)
	measures := slices.Contains([]domain.Kind{domain.KindNumber, domain.KindDate, domain.KindTimestamp, domain.KindTime}, c.Kind)
	if !measures || holdsRefs(e, c) || !slices.Contains(append([]string{opEqual, opNotEqual}, orderOps...), filter.Op) {
		return nil
	}
	if other, err := columnOrPath(e, name); err == nil && other.Kind == c.Kind && !holdsRefs(e, other) {
		return other
	}

	return nil
}

func semanticCondition(e *domain.Entity, filter registry.Filter) (condition, *Error) {
	text, ok := filter.Value.(string)
	switch {
	case filter.Op != opSimilar:
		return condition{}, failColumn(CodeBadFilter, semanticField, "%s takes only %s.", semanticField, opSimilar)
	case e.Semantic.IsZero():
		return condition{}, failColumn(CodeBadFilter, semanticField, "%s cannot be searched by meaning.", e.Table)
	case !ok || strings.TrimSpace(text) == "":
		return condition{}, failColumn(CodeBadFilter, semanticField, "%s needs a text to search for.", semanticField)
	}

	return condition{op: opSimilar, distance: text}, nil
}

// comparedKind is the kind of the values that a column, or one of its elements, is compared with.
func comparedKind(e *domain.Entity, c *domain.Column) domain.Kind {
	switch {
	case c.FK != nil || c == e.Key:
		return domain.KindUUID
	case c.Kind == domain.KindArray:
		return c.Elem
	default:
		return c.Kind
	}
}

// withValue checks the value's shape for the operator and converts it to text.
func withValue(c condition, value any) (condition, *Error) {
	name := c.column.Name
	if text, ok := value.(string); ok && text == "" && emptyIsNull(c.column) {
		value = nil
	}
	if value == nil { // "= null" is unambiguous
		op, may := map[string]string{opEqual: opIsNull, opIsNull: opIsNull, opNotEqual: opIsNotNull, opIsNotNull: opIsNotNull}[c.op]
		if !may {
			return c, failColumn(CodeBadFilter, name, "%s on %s needs a value.", c.op, name)
		}
		c.op = op

		return c, nil
	}
	if c.column.Kind == domain.KindTimestamp && c.op != opGreaterEq && c.op != opLess && areDays(value) {
		c.kind = domain.KindDate // the whole day: midnight is what >= and < mean by it, but no other operator
	}
	var err *Error
	switch isArray := c.column.Kind == domain.KindArray; {
	case c.op == opIsNull || c.op == opIsNotNull:
		if !slices.Contains([]any{true, "true", "null", ""}, value) {
			err = failColumn(CodeBadFilter, name, "%s on %s takes no value.", c.op, name)
		}
	case c.op == opIn || c.op == opNotIn:
		c.texts, err = listTexts(c.column, c.kind, value, c.op)
	case c.op == opContains && isArray:
		c.texts, err = listTexts(c.column, c.kind, asList(value), c.op)
	case c.op == opILike:
		c.texts, err = patternText(c.column, value)
	default:
		c.texts, err = valueTexts(c.column, c.kind, value)
	}

	return c, err
}

// areDays reports whether a value, or each in a list, is a day without a time.
func areDays(value any) bool {
	list := asList(value)

	return len(list) > 0 && !slices.ContainsFunc(list, func(item any) bool {
		text, _ := item.(string)
		day, _ := cutDay(text)
		_, err := time.Parse(time.DateOnly, day)

		return err != nil
	})
}

func valueTexts(c *domain.Column, kind domain.Kind, value any) ([]string, *Error) {
	if err := plainText(c, value); err != nil {
		return nil, err
	}
	if c.Kind != domain.KindArray {
		text, err := scalar(c, kind, value)

		return []string{text}, err
	}
	list, ok := value.([]any)
	if !ok {
		return nil, failColumn(CodeBadFilter, c.Name, "%s is a list: use contains for one of its elements.", c.Name)
	}
	if len(list) == 0 {
		return []string{}, nil
	}

	return listTexts(c, kind, value, opEqual)
}

// plainText refuses a text that is compared as it is and was hardly meant so: it would fit no row, which a model takes
// for an answer.
func plainText(c *domain.Column, value any) *Error {
	text, isText := value.(string)
	switch {
	case !isText || c.Kind != domain.KindText:
		return nil
	case strings.TrimSpace(text) == "null": // Null is a name
		return failColumn(CodeBadFilter, c.Name, "%s is never the word null; use is_null or is_not_null.", c.Name)
	case len(text) > 1 && strings.HasPrefix(text, "%"):
		return failColumn(CodeBadFilter, c.Name, "%% stands for anything only in ilike. For what %s may only contain, use contains, without %%.", c.Name)
	default:
		return nil
	}
}

func listTexts(c *domain.Column, kind domain.Kind, value any, op string) ([]string, *Error) {
	list, ok := value.([]any)
	if !ok || len(list) == 0 {
		return nil, failColumn(CodeBadFilter, c.Name, `%q on %s needs a list of values, such as ["a", "b"].`, op, c.Name)
	}
	texts := make([]string, len(list))
	for i, item := range list {
		text, err := scalar(c, kind, item)
		if err != nil {
			return nil, err
		}
		texts[i] = text
	}

	return texts, nil
}

func patternText(c *domain.Column, value any) ([]string, *Error) {
	text, ok := value.(string)
	if !ok {
		return nil, failColumn(CodeBadFilter, c.Name, "ilike on %s needs a text; %% stands for anything.", c.Name)
	}
	if (len(text)-len(strings.TrimRight(text, `\`)))%2 == 1 {
		return nil, failColumn(CodeBadFilter, c.Name, `The pattern for %s must not end with a single \.`, c.Name)
	}

	return []string{text}, nil
}
