package crud

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"

	"alfred/internal/domain"
)

var (
	formulaForm  = regexp.MustCompile(`[-+*/()]`)
	constantForm = regexp.MustCompile(`^\d+(\.\d+)?$`)
)

// formula is arithmetic over columns of numbers, and over lengths of time: what has lasted from start to end, or as long as a range is, in
// hours, and the days between two dates.
type formula struct {
	*aggregate

	entity *domain.Entity
}

const hours, days = "hours", "days"

// compute makes the column a formula, such as pieces * price * (1 - discount / 100).
func (a *aggregate) compute(e *domain.Entity) *Error {
	f := formula{a, e}
	tree, err := parser.Parse(a.Column)
	if err != nil {
		return f.malformed()
	}
	sql, fault := f.sql(tree.Node)
	if fault == nil && len(a.factors) == 0 {
		fault = f.malformed()
	}
	a.column = &domain.Column{Name: a.Column, Kind: domain.KindNumber, Expr: sql}
	if strings.ContainsAny(a.Column, "*/") || slices.ContainsFunc(a.factors, func(c *domain.Column) bool { return c.Kind == domain.KindNumber }) { // hours times a rate, or sixty, are none
		a.unit = ""
	}
	if a.unit != "" && !strings.HasSuffix(a.As, a.unit) && a.Fn != "count" { // a bare number would be taken for minutes
		a.As += "_" + a.unit
	}

	return fault
}

// isNamed reports whether the aggregate has a name, with or without the unit that was added to it.
func (a *aggregate) isNamed(name string) bool {
	return name == a.As || name == strings.TrimSuffix(a.As, "_"+a.unit)
}

func (f formula) malformed() *Error {
	return failColumn(CodeBadArgument, f.Column, "%q cannot be computed: a formula has columns of numbers (a name of several words in quotes), the difference of two times (in hours) or dates (in days), numbers, + - * /, brackets and coalesce(column, 0).", f.Column)
}

// sql is a part of the formula in SQL. Nothing can be divided by zero, so that a row that would has no value.
func (f formula) sql(part ast.Node) (string, *Error) {
	switch n := part.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		at := part.Location() // the parser may have rounded the number
		if number := string([]rune(f.Column)[at.From:at.To]); constantForm.MatchString(number) {
			return number + "::numeric", nil
		}
	case *ast.IdentifierNode, *ast.MemberNode, *ast.StringNode:
		return f.factor(columnNamed(part))
	case *ast.UnaryNode:
		if n.Operator == "-" {
			return f.form("(- %s)", n.Node)
		}
	case *ast.BinaryNode:
		if sql := f.between(n); sql != "" {
			return sql, nil
		}
		if form := forms[n.Operator]; form != "" {
			return f.form(form, n.Left, n.Right)
		}
	case *ast.CallNode:
		if strings.EqualFold(n.Callee.String(), "coalesce") && len(n.Arguments) == 2 {
			return f.form("coalesce(%s, %s)", n.Arguments...)
		}
	}

	return "", f.malformed()
}

var forms = map[string]string{"+": "(%s + %s)", "-": "(%s - %s)", "*": "(%s * %s)", "/": "(%s / NULLIF(%s, 0))"}

// form puts parts of the formula into SQL that joins them.
func (f formula) form(sql string, parts ...ast.Node) (string, *Error) {
	values := make([]any, len(parts))
	for i, part := range parts {
		value, err := f.sql(part)
		if err != nil {
			return "", err
		}
		values[i] = value
	}

	return fmt.Sprintf(sql, values...), nil
}

// factor is a column of numbers, or of lengths of time.
func (f formula) factor(name string) (string, *Error) {
	c, err := columnOrPath(f.entity, name)
	switch {
	case err != nil:
		return "", err
	case bound(c, "lower") != nil:
		return f.length(bound(c, "upper"), bound(c, "lower")), nil
	case c.Type == "interval":
		f.factors, f.unit = append(f.factors, c), hours

		return inHours(c.SQL()), nil
	case c.Kind != domain.KindNumber || holdsRefs(f.entity, c):
		return "", failColumn(CodeBadArgument, c.Name, "A formula needs columns of numbers, or the difference of two times; %s is none.", c.Name)
	}
	f.factors = append(f.factors, c)

	return c.SQL() + "::numeric", nil
}

func inHours(interval string) string { return "(extract(epoch FROM " + interval + ") / 3600)" }

// between is the time from one column to another, "" if the formula is no such difference. With a day, as when an invoice was due, only
// days can be counted, those of the user's zone.
func (f formula) between(n *ast.BinaryNode) string {
	to, from := f.time(n.Left), f.time(n.Right)
	if n.Operator != "-" || to == nil || from == nil {
		return ""
	}

	return f.length(to, from)
}

func (f formula) length(to, from *domain.Column) string {
	dated := to.Kind == domain.KindDate || from.Kind == domain.KindDate
	switch {
	case dated && to.Kind != domain.KindTime && from.Kind != domain.KindTime:
		f.factors, f.unit = append(f.factors, to, from), days

		return fmt.Sprintf("(%s::date - %s::date)::numeric", to.SQL(), from.SQL())
	case to.Kind == from.Kind && to.Type != "interval" && from.Type != "interval":
		f.factors, f.unit = append(f.factors, to, from), hours

		return inHours("(" + to.SQL() + " - " + from.SQL() + ")")
	default:
		return ""
	}
}

// heldKinds are the kinds of what ranges of time hold.
var heldKinds = map[string]domain.Kind{"date": domain.KindDate, "timestamp with time zone": domain.KindTimestamp, "timestamp without time zone": domain.KindTimestamp}

// bound is the beginning ("lower") or the end ("upper") of a range of times or days, nil for any other column.
func bound(c *domain.Column, side string) *domain.Column {
	kind := heldKinds[c.Holds]
	if kind == "" || c.Kind == domain.KindArray || strings.Contains(c.Type, "multirange") {
		return nil
	}

	return &domain.Column{Name: c.Name, Type: c.Holds, Kind: kind, Expr: side + "(" + c.SQL() + ")", Join: c.Join}
}

// columnNamed is the column that a part of a formula names: one of several words as a text.
func columnNamed(part ast.Node) string {
	if text, is := part.(*ast.StringNode); is {
		return text.Value
	}

	return part.String()
}

// time is the column of dates or times that a part of the formula is, or an end of a range of them, nil for any other.
func (f formula) time(part ast.Node) *domain.Column {
	if call, is := part.(*ast.BuiltinNode); is && len(call.Arguments) == 1 && slices.Contains([]string{"lower", "upper"}, call.Name) {
		if c, err := columnOrPath(f.entity, columnNamed(call.Arguments[0])); err == nil {
			return bound(c, call.Name)
		}
	}
	c, err := columnOrPath(f.entity, columnNamed(part))
	if err != nil || !slices.Contains([]domain.Kind{domain.KindDate, domain.KindTimestamp, domain.KindTime}, c.Kind) {
		return nil
	}

	return c
}
