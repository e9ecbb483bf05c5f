package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/view"
	"alfred/internal/vocab"
)

// errDeadline says that a decision was not made before the turn's deadline.
var errDeadline = errors.New("no decision was made within the turn's deadline")

// defaultSlow is how long a model may take before the user is told that it is slow.
const defaultSlow = 15 * time.Second

// until is when a turn stops retrying the current decision; zero means never. It counts from the first attempt rather
// than from the previous decision: a turn waiting for a worker has not tried yet.
func (r *Runner) until(ctx context.Context, d delivery, s *state) (time.Time, error) {
	if r.Deadline <= 0 {
		return time.Time{}, nil
	}
	var tried time.Duration
	if d.attempt > 1 || d.snoozes > 0 {
		seconds, err := db.New().LlmCallTried(ctx, r.Pool, &db.LlmCallTriedParams{TurnID: &s.Turn.ID, Position: int32(d.Position), Pause: maxSnooze.Seconds()})
		if err != nil {
			return time.Time{}, fmt.Errorf("read since when the decision is tried: %w", err)
		}
		tried = time.Duration(seconds * float64(time.Second))
	}

	return time.Now().Add(r.Deadline - tried), nil
}

// withDeadline ends a run at its node's timeout or the turn's deadline, whichever comes first.
func (r *Runner) withDeadline(ctx context.Context, d delivery, s *state) (context.Context, context.CancelFunc) {
	end := time.Now().Add(r.Timeouts.of(d.Node))
	if s.until.IsZero() || end.Before(s.until) {
		return context.WithDeadline(ctx, end)
	}

	return context.WithDeadlineCause(ctx, s.until, errDeadline)
}

// reportSlow notifies waiting clients, once, when a run takes long: they may cancel it. The returned function must be
// called when the run ends.
func (r *Runner) reportSlow(ctx context.Context, d delivery) (stop func()) {
	if d.Node == vocab.NodeSummarize {
		return func() {} // the user already has the reply
	}
	told := make(chan struct{})
	timer := time.AfterFunc(r.SlowAfter, func() {
		defer close(told)
		var slow events
		slow.add("node.waiting", map[string]any{"node": d.Node, "seconds": int(r.SlowAfter.Seconds()), "attempt": d.attempt})
		if err := r.publish(ctx, d, slow); err != nil && !errors.Is(err, errStale) && ctx.Err() == nil {
			r.Logger.WarnContext(ctx, "slow model not told", slog.Any("error", err))
		}
	})

	return func() {
		if !timer.Stop() {
			<-told
		}
	}
}

// overdueText is what the user is told about a turn that ended at its deadline: the steps that were finished, without refs.
// Writes are left out, because turn_end adds them from their rows.
func (r *Runner) overdueText(ctx context.Context, tx pgx.Tx, turn *db.Turns) (string, error) {
	steps, err := db.New().TurnStepList(ctx, tx, turn.ID)
	if err != nil {
		return "", fmt.Errorf("read steps: %w", err)
	}
	text := fmt.Sprintf("The model gave no answer within %s, so I stopped here.", inWords(r.Deadline))
	var finished []string
	for _, step := range steps {
		if step.StepType != db.StepTypeWrite && view.Is(step.Outcome, db.StepOutcomeOk) {
			finished = append(finished, strings.TrimRight(step.Description, ". "))
		}
	}
	if len(finished) > 0 {
		text += " Finished before that: " + strings.Join(finished, "; ") + "."
	}

	return r.guard(tx, turn.SessionID).reply(ctx, text)
}

// inWords is a time limit as people say it: whole minutes without the seconds.
func inWords(limit time.Duration) string {
	switch minutes := limit / time.Minute; {
	case limit%time.Minute != 0:
		return limit.String()
	case minutes == 1:
		return "a minute"
	default:
		return fmt.Sprintf("%d minutes", minutes)
	}
}
