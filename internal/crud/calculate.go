package crud

import (
	"context"

	"github.com/jackc/pgx/v5"

	"alfred/internal/arithmetic"
)

// maxExpressions bounds the expressions of one call.
const maxExpressions = 20

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
		result, err := arithmetic.Evaluate(text)
		if err != nil {
			return nil, fail(CodeBadValue, "Expression %d: %s.", i+1, err)
		}
		op.rows = append(op.rows, map[string]any{"expression": text, "result": result})
	}

	return op, nil
}

func (*calculateOp) run(context.Context, *decision, pgx.Tx) error { return nil }

func (op *calculateOp) record(context.Context, *decision, pgx.Tx) (Result, error) {
	return Result{rows: op.rows, RowCount: len(op.rows)}, nil
}
