package arithmetic_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/arithmetic"
)

func TestEvaluate(t *testing.T) {
	t.Parallel()

	for expression, result := range map[string]string{
		"0.1 + 0.2": "0.3", "2.5 * 4": "10", "(1 + 2) ^ 3": "27", "2 ** -1": "0.5", "10 / 3": "3.3333333333", "+3 - -2": "5",
		"round(10 / 3, 2)": "3.33", "round(2.5)": "3", "ceil(7 / 2)": "4", "floor(-0.5)": "-1", "abs(-2)": "2",
		"sum(1, 2, 3)": "6", "mean([1, 2])": "1.5", "max(1, 3) - min(4, 2)": "1",
		"-2 + 9007199254740993": "9007199254740991", "9007199254740993.5 * 2": "18014398509481987",
		"1234567890.1234567891 - 1_0.5e1": "1234567785.1234567891", "1e-999999999 + 1": "1",
	} {
		found, err := arithmetic.Evaluate(expression)
		require.NoError(t, err, expression)
		require.Equal(t, result, found, expression)
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()

	for expression, says := range map[string]string{
		"1 / 0": "division by zero", "0 ^ -1": "division by zero", "2 ^ 101": "at most 100", "2 ^ 0.5": "whole number", "((9 ^ 99) ^ 99) ^ 99": "too large",
		"x + 1": "only numbers", "true": "only numbers", "'a' + 'b'": "only numbers", "len('a')": "", "1 +": "not arithmetic", "1 % 2": "% is no arithmetic",
		"!1": "! is no arithmetic", "sum()": "sum needs a number", "round(1, 11)": "0 to 10 digits", "floor(7, 2)": "floor takes 1 at most", "round(1, 2, 3)": "round takes 2 at most", strings.Repeat("1+", 300) + "1": "longer than 500",
	} {
		_, err := arithmetic.Evaluate(expression)
		require.ErrorContains(t, err, says, expression)
	}
}
