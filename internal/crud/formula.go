package crud

import (
	"regexp"
	"strings"

	"alfred/internal/domain"
)

// coalesced is a column with what it counts for where it has no value.
const coalesced = `(?i:coalesce)\(\s*([^-+*/(),]+?)\s*,\s*(\d+(?:\.\d+)?)\s*\)`

var (
	formulaForm   = regexp.MustCompile(`[-+*/()]`)
	formulaTokens = regexp.MustCompile(coalesced + `|[-+*/()]|[^-+*/()\s](?:[^-+*/()]*[^-+*/()\s])?`)
	coalescedForm = regexp.MustCompile(`^` + coalesced + `$`)
	constantForm  = regexp.MustCompile(`^\d+(\.\d+)?$`)
)

// formula is arithmetic over columns of numbers, as it is read.
type formula struct {
	*aggregate

	entity *domain.Entity
	sql    strings.Builder
	ends   []string // what closes the brackets that are open
	after  bool     // a value has been read, so that an operator or the end may follow
}

// compute makes the column a formula, such as pieces * price * (1 - discount / 100).
func (a *aggregate) compute(e *domain.Entity) *Error {
	f := &formula{aggregate: a, entity: e}
	divides := false
	for _, token := range formulaTokens.FindAllString(a.Column, -1) {
		wrong, err := f.take(token, divides)
		if err != nil {
			return err
		}
		if wrong {
			return f.malformed()
		}
		divides = token == "/"
	}
	if !f.after || len(f.ends) > 0 || len(a.factors) == 0 {
		return f.malformed()
	}
	a.column = &domain.Column{Name: a.Column, Kind: domain.KindNumber, Expr: "(" + f.sql.String() + ")"}

	return nil
}

func (f *formula) malformed() *Error {
	return failColumn(CodeBadArgument, f.Column, "%q cannot be computed: a formula has columns of numbers, numbers, + - * /, brackets and coalesce(column, 0).", f.Column)
}

// take reads one token. Nothing can be divided by zero, so that a row that would has no value.
func (f *formula) take(token string, divides bool) (wrong bool, err *Error) {
	start, end := "", ""
	if divides {
		start, end = "NULLIF(", ", 0)"
	}
	switch token {
	case "+", "-", "*", "/":
		wrong, f.after = !f.after && token != "-", false
		f.sql.WriteString(" " + token + " ")
	case "(":
		wrong, f.ends = f.after, append(f.ends, ")"+end)
		f.sql.WriteString(start + "(")
	case ")":
		if !f.after || len(f.ends) == 0 {
			return true, nil
		}
		last := len(f.ends) - 1
		f.sql.WriteString(f.ends[last])
		f.ends = f.ends[:last]
	default:
		wrong, f.after = f.after, true
		value, err := f.value(token)
		f.sql.WriteString(start + value + "::numeric" + end)

		return wrong, err
	}

	return wrong, nil
}

// value is a number, or a column of numbers.
func (f *formula) value(token string) (sql string, err *Error) {
	if parts := coalescedForm.FindStringSubmatch(token); parts != nil {
		sql, err = f.value(parts[1])

		return "coalesce(" + sql + ", " + parts[2] + ")", err
	}
	if constantForm.MatchString(token) {
		return token, nil
	}
	c, err := columnOrPath(f.entity, token)
	switch {
	case err != nil:
		return "", err
	case c.Kind != domain.KindNumber || holdsRefs(f.entity, c):
		return "", failColumn(CodeBadArgument, c.Name, "A formula needs columns of numbers; %s is none.", c.Name)
	}
	f.factors = append(f.factors, c)

	return c.SQL(), nil
}
