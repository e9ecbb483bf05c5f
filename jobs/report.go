package jobs

import (
	"context"
	"log/slog"
	"time"

	"alfred/internal/pg"
)

// report is a job's log line.
type report struct {
	delivery

	started, loadedAt, ranAt, committedAt time.Time

	s   *state
	rec *recorder
}

func (p *report) loaded(s *state) { p.s, p.loadedAt = s, time.Now() }

func (p *report) ran(rec *recorder) { p.rec, p.ranAt = rec, time.Now() }

func (p *report) committed() { p.committedAt = time.Now() }

func (p *report) log(ctx context.Context, r *Runner, o outcome, err error) {
	about := []slog.Attr{
		slog.String("turn_id", p.TurnID.String()), slog.Int("position", p.Position), slog.Int64("load_ms", millisecondsBetween(p.started, p.loadedAt)),
		slog.Int64("run_ms", millisecondsBetween(p.loadedAt, p.ranAt)), slog.Int64("commit_ms", millisecondsBetween(p.ranAt, p.committedAt)),
	}
	level := slog.LevelInfo
	if p.s != nil {
		about = append(about, slog.String("session_id", p.s.Turn.SessionID.String()), slog.Int("number", int(p.s.Turn.Number)))
		if leaks := p.s.guard.leaks; leaks > 0 {
			level = slog.LevelWarn
			about = append(about, slog.Int("leaks", leaks))
		}
	}
	if p.rec != nil {
		about = append(about, slog.String("model", p.rec.modelName), slog.Int("input_tokens", p.rec.usage.Input),
			slog.Int("output_tokens", p.rec.usage.Output), slog.Int("cached_tokens", p.rec.usage.Cached), slog.Int("played", p.rec.played))
	}
	r.logJob(ctx, level, &p.delivery, time.Since(p.started), o, err, about...)
}

// logJob writes the line of a job that ended so with an error, at a level of at least this.
func (r *Runner) logJob(ctx context.Context, level slog.Level, d *delivery, took time.Duration, o outcome, err error, about ...slog.Attr) {
	attrs := append([]slog.Attr{
		slog.String("node", d.Node), slog.Int("attempt", d.attempt), slog.String("outcome", string(o.verdict)), slog.Int64("duration_ms", took.Milliseconds()),
	}, about...)
	if err != nil && o.verdict != verdictStale && o.verdict != verdictCancel {
		level = slog.LevelWarn
		attrs = append(attrs, slog.String("code", o.code), slog.Any("error", err))
		if hint := pg.Hint(err); hint != "" {
			attrs = append(attrs, slog.String("hint", hint))
		}
	}
	r.Logger.LogAttrs(ctx, level, "job", attrs...)
}

func millisecondsBetween(from, to time.Time) int64 {
	if from.IsZero() || to.IsZero() {
		return 0
	}

	return to.Sub(from).Milliseconds()
}
