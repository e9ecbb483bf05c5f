package jobs

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/pg"
	"alfred/internal/view"
	"alfred/internal/vocab"
)

// load checks the fence first: a stale job must not buy an answer.
func (r *Runner) load(ctx context.Context, d delivery) (*state, error) {
	v, err := r.view(ctx, d)
	if err != nil {
		return nil, err
	}
	s, err := r.state(r.Pool, d, v)
	if err == nil && d.Node == vocab.NodeThink {
		s.takePlan()
	}

	return s, err
}

// view returns the view carried from the previous decision if nobody else has written what it shows, otherwise a loaded
// one.
func (r *Runner) view(ctx context.Context, d delivery) (*view.View, error) {
	if d.carried != nil {
		if v := r.loader.Renew(ctx, r.Pool, d.carried, r.Prompts.Need(d.Node, d.carried), d.Node != vocab.NodeSummarize); v != nil {
			if !r.CompareCarried {
				return v, nil
			}

			return v, r.inLoadTx(ctx, func(tx pgx.Tx) error { return r.compareCarried(ctx, tx, d, v, true) })
		}
	}
	v, err := r.loadOnce(ctx, d)
	if errors.Is(err, errInputs) {
		if err := r.applyInputs(ctx, d); err != nil {
			return nil, err
		}
		v, err = r.loadOnce(ctx, d)
	}

	return v, err
}

// compareCarried compares a carried view with a loaded one, in tests. last is as in loadIn.
func (r *Runner) compareCarried(ctx context.Context, tx pgx.Tx, d delivery, v *view.View, last bool) error {
	loaded, err := r.loadIn(ctx, tx, d, last)
	if err != nil {
		return err
	}
	differs := v.Diff(loaded)
	if differs != "" && !last { // among a commit's statements, others' commits may show in a later read only
		if loaded, err = r.loadIn(ctx, tx, d, last); err != nil {
			return err
		}
		differs = v.Diff(loaded)
	}
	if differs == "" {
		return nil
	}
	if d.Node == vocab.NodeSummarize { // a late one: the difference may be the next turn's work
		overtaken, err := db.New().TurnOvertaken(ctx, tx, d.TurnID)
		if err != nil || overtaken {
			return err
		}
	}

	return fmt.Errorf("%w: %s", errCarried, differs)
}

func (r *Runner) loadOnce(ctx context.Context, d delivery) (*view.View, error) {
	return pg.Value(ctx, r.inLoadTx, func(tx pgx.Tx) (*view.View, error) { return r.loadIn(ctx, tx, d, true) })
}

// loadIn reads everything that a decision needs. last: nothing else follows in tx, so the last read may end it.
func (r *Runner) loadIn(ctx context.Context, tx pgx.Tx, d delivery, last bool) (*view.View, error) {
	v, err := r.loader.Open(ctx, tx, d.TurnID, d.Position)
	if errors.Is(err, pgx.ErrNoRows) { // its session was forgotten
		return nil, errStale
	}
	if err != nil {
		return nil, err
	}
	switch {
	case !isAwaited(v.Turn, d):
		return nil, errStale
	case d.Node == vocab.NodeUnderstand && v.HasInputs:
		return nil, errInputs
	}
	if d.Node == vocab.NodeUnderstand && len(v.Answers) == 0 && v.Turn.Undoes == nil { // a bought answer may be used
		if err := r.Limits.check(ctx, tx, v.Turn.SessionID, v.Turn.CreatedAt); err != nil {
			return nil, err
		}
	}
	if err := r.loader.Fill(ctx, tx, v, r.Prompts.Need(d.Node, v)); err != nil || d.Node == vocab.NodeSummarize {
		return v, err
	}

	return view.Probe(ctx, tx, v, last)
}

// inLoadTx runs the reads for a prompt.
func (r *Runner) inLoadTx(ctx context.Context, work func(tx pgx.Tx) error) error {
	return pg.InReadTx(ctx, r.Pool, func(tx pgx.Tx) error {
		first := &pg.Batch{}
		first.Exec("keep plans", db.LoadPlans, nil)
		if err := first.Defer(ctx, tx); err != nil {
			return err
		}

		return work(tx)
	})
}

// isAwaited reports whether the turn still waits for this decision.
func isAwaited(turn *db.Turns, d delivery) bool {
	status := db.TurnStatusRunning
	if d.Node == vocab.NodeSummarize {
		status = db.TurnStatusSucceeded
	}

	return turn.Status == status && int(turn.Position) == d.Position
}
