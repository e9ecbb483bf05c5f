package eval

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"alfred/internal/pg"
)

// checkWhole checks the whole conversation.
func (t *trial) checkWhole(ctx context.Context) error {
	whole := &Played{}
	for i := range t.result.Turns {
		whole.writes = append(whole.writes, t.result.Turns[i].writes...)
		whole.Reply += t.result.Turns[i].Reply + "\n"
		whole.Asks, whole.Status = t.result.Turns[i].Asks, t.result.Turns[i].Status
	}
	if err := t.checkExpectations(ctx, &t.c.Expect, whole); err != nil {
		return err
	}
	t.limits()
	if len(t.faults) == 0 {
		if err := t.judge(ctx); err != nil {
			return err
		}
	}
	if len(t.faults) == 0 {
		return nil
	}

	return t.evidence(ctx)
}

func (t *trial) limits() {
	for _, one := range []struct {
		what     string
		most, is float64
	}{
		{"calls", float64(t.c.Limits.Calls), float64(t.result.Calls)},
		{"tokens", float64(t.c.Limits.Tokens), float64(t.result.Tokens)},
		{"dollars", t.c.Limits.USD, t.result.USD},
		{"seconds", t.c.Limits.Seconds, t.result.Seconds},
	} {
		if one.most > 0 && one.is > one.most {
			t.fault(0, one.what, fmt.Sprintf("%g at most", one.most), fmt.Sprintf("%g", one.is))
		}
	}
}

// brokenOff collects what happened before a trial broke off.
func (t *trial) brokenOff(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()

	return t.evidence(ctx)
}

// evidence collects what shows why a trial failed.
func (t *trial) evidence(ctx context.Context) (err error) {
	for i := range t.result.Turns {
		turn := &t.result.Turns[i]
		turn.Timeline, err = pg.Collect(ctx, t.pool, pgx.RowToStructByPos[Line], "read the timeline",
			`SELECT kind, coalesce(text, ''), duration_ms FROM v_timeline WHERE turn_id = $1 ORDER BY seq`, turn.id)
		if err != nil {
			return err
		}
		turn.Prompts, err = pg.Collect(ctx, t.pool, pgx.RowToStructByPos[Call], "read the calls",
			`SELECT node, attempt, coalesce(error_code, ''), request, response FROM v_llm_calls WHERE turn_id = $1 ORDER BY id`, turn.id)
		if err != nil {
			return err
		}
	}

	return nil
}
