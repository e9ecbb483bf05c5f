package arithmetic

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/expr-lang/expr/ast"
)

// functions take at least one number.
var functions = map[string]func([]*big.Rat) (*big.Rat, error){
	"abs":   func(values []*big.Rat) (*big.Rat, error) { return new(big.Rat).Abs(values[0]), nil },
	"ceil":  func(values []*big.Rat) (*big.Rat, error) { return negated(floor(negated(values[0]))), nil },
	"floor": func(values []*big.Rat) (*big.Rat, error) { return floor(values[0]), nil },
	"max":   func(values []*big.Rat) (*big.Rat, error) { return slices.MaxFunc(values, (*big.Rat).Cmp), nil },
	"min":   func(values []*big.Rat) (*big.Rat, error) { return slices.MinFunc(values, (*big.Rat).Cmp), nil },
	"mean": func(values []*big.Rat) (*big.Rat, error) {
		return quotient(sum(values), big.NewRat(int64(len(values)), 1))
	},
	"round": round,
	"sum":   func(values []*big.Rat) (*big.Rat, error) { return bounded(sum(values)) },
}

// takes is how many numbers a function takes at most; others take any. What a spreadsheet does with further ones, a step to round
// to, is not done in silence.
var takes = map[string]int{"abs": 1, "ceil": 1, "floor": 1, "round": 2}

// call calls a function with numbers, some of which may stand in lists.
func call(name string, arguments []ast.Node) (*big.Rat, error) {
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
	function, most := functions[name], takes[name]
	switch {
	case len(values) == 0:
		return nil, fmt.Errorf("%s needs a number", name)
	case most > 0 && len(values) > most:
		return nil, fmt.Errorf("%s takes %d at most, not %d numbers", name, most, len(values))
	case function == nil:
		return nil, fmt.Errorf("there is no function %s", name)
	}

	return function(values)
}

func negated(value *big.Rat) *big.Rat { return new(big.Rat).Neg(value) }

func floor(value *big.Rat) *big.Rat {
	return new(big.Rat).SetInt(new(big.Int).Div(value.Num(), value.Denom()))
}

// round is round(x) and round(x, digits), halves away from zero.
func round(values []*big.Rat) (*big.Rat, error) {
	digits := int64(0)
	if len(values) > 1 {
		var ok bool
		if digits, ok = whole(values[1]); !ok || digits < 0 || digits > resultDigits {
			return nil, fmt.Errorf("round takes 0 to %d digits", resultDigits)
		}
	}
	result, _ := new(big.Rat).SetString(values[0].FloatString(int(digits)))

	return result, nil
}

func sum(values []*big.Rat) *big.Rat {
	total := new(big.Rat)
	for _, value := range values {
		total.Add(total, value)
	}

	return total
}
