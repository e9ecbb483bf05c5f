package crud

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/parser"
	"github.com/jackc/pgx/v5"
)

const (
	maxExpressions      = 20
	maxExpressionLength = 500
	maxExponent         = 100
	maxBits             = 4096 // of intermediate numerators and denominators
	resultDigits        = 10   // after the point
)

// calculateOp is calculate: exact arithmetic over numbers that the model writes.
type calculateOp struct {
	rows []map[string]any
}

func (d *decision) newCalculate(s *step) (operation, *Error) {
	var args calculateArgs
	if err := parse(s.call, &args); err != nil {
		return nil, err
	}
	if n := len(args.Expressions); n == 0 || n > maxExpressions {
		return nil, fail(CodeBadArgument, "expressions has to hold 1 to %d expressions.", maxExpressions)
	}
	op := &calculateOp{}
	for i, text := range args.Expressions {
		value, err := calculate(text)
		if err != nil {
			return nil, fail(CodeBadValue, "Expression %d: %s.", i+1, err)
		}
		op.rows = append(op.rows, map[string]any{"expression": text, "result": decimal(value, resultDigits)})
	}

	return op, nil
}

func (*calculateOp) run(context.Context, *decision, pgx.Tx) error { return nil }

func (op *calculateOp) record(context.Context, *decision, pgx.Tx) (Result, error) {
	return Result{rows: op.rows, RowCount: len(op.rows)}, nil
}

// calculate evaluates an expression over rationals: 0.1 + 0.2 is 0.3.
func calculate(text string) (*big.Rat, error) {
	if len(text) > maxExpressionLength {
		return nil, fmt.Errorf("longer than %d characters", maxExpressionLength)
	}
	tree, err := parser.ParseWithConfig(text, arithmetic())
	if err != nil {
		return nil, errors.New("not arithmetic: numbers, + - * / ^, brackets, and abs, ceil, floor, max, mean, min, round, sum")
	}
	ast.Walk(&tree.Node, asWritten(text))

	return evaluate(tree.Node)
}

// asWritten replaces the numbers of an expression that the parser has rounded.
type asWritten []rune

// Visit replaces one. What is too small for the parser stays nothing, for its denominator may have a million digits.
func (text asWritten) Visit(node *ast.Node) {
	if number, isRounded := (*node).(*ast.FloatNode); isRounded {
		at, value := number.Location(), new(big.Rat)
		if number.Value != 0 {
			value.SetString(strings.ReplaceAll(string(text[at.From:at.To]), "_", ""))
		}
		ast.Patch(node, &ast.ConstantNode{Value: value})
	}
}

// arithmetic replaces the expression language's built-in functions: its sum, for example, takes one list, while ours
// take numbers and lists.
func arithmetic() *conf.Config {
	config := conf.CreateNew()
	for _, name := range []string{"abs", "ceil", "floor", "max", "mean", "min", "round", "sum"} {
		config.Functions[name] = &builtin.Function{Name: name}
	}

	return config
}

func evaluate(node ast.Node) (*big.Rat, error) {
	switch n := node.(type) {
	case *ast.IntegerNode:
		return new(big.Rat).SetInt64(int64(n.Value)), nil
	case *ast.ConstantNode:
		if value, ok := n.Value.(*big.Rat); ok {
			return value, nil
		}
	case *ast.UnaryNode:
		return unary(n)
	case *ast.BinaryNode:
		return binary(n)
	case *ast.BuiltinNode:
		return function(n.Name, n.Arguments)
	case *ast.CallNode:
		if callee, ok := n.Callee.(*ast.IdentifierNode); ok {
			return function(callee.Value, n.Arguments)
		}
	}

	return nil, errors.New("only numbers, + - * / ^, brackets, and abs, ceil, floor, max, mean, min, round, sum are known")
}

func unary(n *ast.UnaryNode) (*big.Rat, error) {
	value, err := evaluate(n.Node)
	if err != nil {
		return nil, err
	}
	switch n.Operator {
	case "-":
		return value.Neg(value), nil
	case "+":
		return value, nil
	}

	return nil, fmt.Errorf("%s is no arithmetic", n.Operator)
}

func binary(n *ast.BinaryNode) (*big.Rat, error) {
	a, err := evaluate(n.Left)
	if err != nil {
		return nil, err
	}
	b, err := evaluate(n.Right)
	if err != nil {
		return nil, err
	}
	operate, known := operators[n.Operator]
	switch {
	case n.Operator == "^" || n.Operator == "**":
		return power(a, b)
	case !known:
		return nil, fmt.Errorf("%s is no arithmetic", n.Operator)
	case n.Operator == "/" && b.Sign() == 0:
		return nil, errors.New("division by zero")
	default:
		return bounded(operate(new(big.Rat), a, b))
	}
}

var operators = map[string]func(result, a, b *big.Rat) *big.Rat{
	"+": (*big.Rat).Add, "-": (*big.Rat).Sub, "*": (*big.Rat).Mul, "/": (*big.Rat).Quo,
}

func power(base, exponent *big.Rat) (*big.Rat, error) {
	if !exponent.IsInt() || !exponent.Num().IsInt64() || exponent.Num().Int64() > maxExponent || exponent.Num().Int64() < -maxExponent {
		return nil, fmt.Errorf("an exponent is a whole number of at most %d", maxExponent)
	}
	n := exponent.Num().Int64()
	if n < 0 {
		if base.Sign() == 0 {
			return nil, errors.New("division by zero")
		}
		base, n = new(big.Rat).Inv(base), -n
	}
	result := big.NewRat(1, 1)
	for range n {
		result.Mul(result, base)
		if _, err := bounded(result); err != nil {
			return nil, err
		}
	}

	return result, nil
}

func bounded(value *big.Rat) (*big.Rat, error) {
	if value.Num().BitLen() > maxBits || value.Denom().BitLen() > maxBits {
		return nil, errors.New("the result is too large")
	}

	return value, nil
}

func function(name string, arguments []ast.Node) (*big.Rat, error) {
	var values []*big.Rat
	for _, argument := range arguments {
		nodes := []ast.Node{argument}
		if list, ok := argument.(*ast.ArrayNode); ok {
			nodes = list.Nodes
		}
		for _, node := range nodes {
			value, err := evaluate(node)
			if err != nil {
				return nil, err
			}
			values = append(values, value)
		}
	}
	if len(values) == 0 {
		return nil, fmt.Errorf("%s needs a number", name)
	}
	switch name {
	case "abs":
		return values[0].Abs(values[0]), nil
	case "ceil":
		below := floor(values[0].Neg(values[0]))

		return below.Neg(below), nil
	case "floor":
		return floor(values[0]), nil
	case "round":
		return round(values)
	case "max":
		return slices.MaxFunc(values, (*big.Rat).Cmp), nil
	case "min":
		return slices.MinFunc(values, (*big.Rat).Cmp), nil
	case "mean":
		return bounded(new(big.Rat).Quo(sumOf(values), big.NewRat(int64(len(values)), 1)))
	case "sum":
		return bounded(sumOf(values))
	}

	return nil, fmt.Errorf("there is no function %s", name)
}

func sumOf(values []*big.Rat) *big.Rat {
	total := new(big.Rat)
	for _, value := range values {
		total.Add(total, value)
	}

	return total
}

// round is round(x) and round(x, digits), halves away from zero.
func round(values []*big.Rat) (*big.Rat, error) {
	digits := int64(0)
	if len(values) > 1 {
		if !values[1].IsInt() || !values[1].Num().IsInt64() || values[1].Num().Int64() < 0 || values[1].Num().Int64() > resultDigits {
			return nil, fmt.Errorf("round takes 0 to %d digits", resultDigits)
		}
		digits = values[1].Num().Int64()
	}
	text := values[0].FloatString(int(digits))
	result, _ := new(big.Rat).SetString(text)

	return result, nil
}

func floor(value *big.Rat) *big.Rat {
	return new(big.Rat).SetInt(new(big.Int).Div(value.Num(), value.Denom()))
}

// decimal writes a number out, with at most this many digits after the point.
func decimal(value *big.Rat, digits int) string {
	return strings.TrimSuffix(strings.TrimRight(value.FloatString(digits), "0"), ".")
}
