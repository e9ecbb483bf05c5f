package arithmetic

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/parser"
)

const (
	maxLength    = 500 // of an expression
	maxExponent  = 100
	maxBits      = 4096 // of intermediate numerators and denominators
	resultDigits = 10   // after the point
)

// known is what an expression may consist of.
const known = "numbers, + - * / ^, brackets, and abs, ceil, floor, max, mean, min, round, sum"

// Evaluate evaluates an expression over rationals.
func Evaluate(text string) (string, error) {
	if len(text) > maxLength {
		return "", fmt.Errorf("longer than %d characters", maxLength)
	}
	tree, err := parser.ParseWithConfig(text, grammar())
	if err != nil {
		return "", errors.New("not arithmetic: " + known)
	}
	ast.Walk(&tree.Node, asWritten(text))
	value, err := evaluate(tree.Node)
	if err != nil {
		return "", err
	}

	return Decimal(value, resultDigits), nil
}

// Decimal writes a number out, with at most this many digits after the point.
func Decimal(value *big.Rat, digits int) string {
	return strings.TrimSuffix(strings.TrimRight(value.FloatString(digits), "0"), ".")
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

// grammar replaces the expression language's built-in functions: its sum, for example, takes one list, while ours take
// numbers and lists.
func grammar() *conf.Config {
	config := conf.CreateNew()
	for name := range functions {
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
		zero := &ast.IntegerNode{}

		return binary(n.Operator, zero, n.Node)
	case *ast.BinaryNode:
		return binary(n.Operator, n.Left, n.Right)
	case *ast.BuiltinNode:
		return call(n.Name, n.Arguments)
	case *ast.CallNode:
		if callee, ok := n.Callee.(*ast.IdentifierNode); ok {
			return call(callee.Value, n.Arguments)
		}
	}

	return nil, errors.New("only " + known + " are known")
}

func binary(operator string, left, right ast.Node) (*big.Rat, error) {
	a, err := evaluate(left)
	if err != nil {
		return nil, err
	}
	b, err := evaluate(right)
	if err != nil {
		return nil, err
	}
	result := new(big.Rat)
	switch operator {
	case "+":
		return bounded(result.Add(a, b))
	case "-":
		return bounded(result.Sub(a, b))
	case "*":
		return bounded(result.Mul(a, b))
	case "/":
		return quotient(a, b)
	case "^", "**":
		return power(a, b)
	}

	return nil, fmt.Errorf("%s is no arithmetic", operator)
}

func quotient(a, b *big.Rat) (*big.Rat, error) {
	if b.Sign() == 0 {
		return nil, errors.New("division by zero")
	}

	return bounded(new(big.Rat).Quo(a, b))
}

func power(base, exponent *big.Rat) (*big.Rat, error) {
	n, ok := whole(exponent)
	if !ok || n > maxExponent || n < -maxExponent {
		return nil, fmt.Errorf("an exponent is a whole number of at most %d", maxExponent)
	}
	result := big.NewRat(1, 1)
	for range max(n, -n) {
		if _, err := bounded(result.Mul(result, base)); err != nil {
			return nil, err
		}
	}
	if n < 0 {
		return quotient(big.NewRat(1, 1), result)
	}

	return result, nil
}

func whole(value *big.Rat) (int64, bool) {
	return value.Num().Int64(), value.IsInt() && value.Num().IsInt64()
}

func bounded(value *big.Rat) (*big.Rat, error) {
	if value.Num().BitLen() > maxBits || value.Denom().BitLen() > maxBits {
		return nil, errors.New("the result is too large")
	}

	return value, nil
}
