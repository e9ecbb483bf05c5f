package crud

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"

	"alfred/internal/domain"
)

var (
	formulaForm  = regexp.MustCompile(`[-+*/()]`)
	constantForm = regexp.MustCompile(`^\d+(\.\d+)?$`)
)

// formula is arithmetic over columns of numbers.
type formula struct {
	*aggregate

	entity *domain.Entity
}

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

	return fault
}

func (f formula) malformed() *Error {
	return failColumn(CodeBadArgument, f.Column, "%q cannot be computed: a formula has columns of numbers (a name of several words in quotes), numbers, + - * /, brackets and coalesce(column, 0).", f.Column)
}

// sql is a part of the formula in SQL. Nothing can be divided by zero, so that a row that would has no value.
func (f formula) sql(part ast.Node) (string, *Error) {
	switch n := part.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		at := part.Location() // the parser may have rounded the number
		if number := string([]rune(f.Column)[at.From:at.To]); constantForm.MatchString(number) {
			return number + "::numeric", nil
		}
	case *ast.IdentifierNode, *ast.MemberNode:
		return f.factor(part.String())
	case *ast.StringNode: // a name of several words
		return f.factor(n.Value)
	case *ast.UnaryNode:
		if n.Operator == "-" {
			return f.form("(- %s)", n.Node)
		}
	case *ast.BinaryNode:
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

// factor is a column of numbers.
func (f formula) factor(name string) (string, *Error) {
	c, err := columnOrPath(f.entity, name)
	switch {
	case err != nil:
		return "", err
	case c.Kind != domain.KindNumber || holdsRefs(f.entity, c):
		return "", failColumn(CodeBadArgument, c.Name, "A formula needs columns of numbers; %s is none.", c.Name)
	}
	f.factors = append(f.factors, c)

	return c.SQL() + "::numeric", nil
}
