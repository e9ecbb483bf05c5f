package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"alfred/db"
	"alfred/internal/llm"
	"alfred/internal/pg"
	"alfred/internal/view"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// noModel is recorded as the model of a text that code wrote.
const noModel = "none"

// workCompress compresses a range of older turns. The turns stay; the texts are stored separately, and the first for a
// range wins, so running it twice, even concurrently, is harmless.
func (r *Runner) workCompress(ctx context.Context, job *river.Job[CompressArgs]) error {
	d := newDelivery(job.JobRow)

	return r.background(ctx, d, slog.String("session_id", job.Args.SessionID.String()), func(ctx context.Context) error { return r.compress(ctx, d, job.Args) })
}

func (r *Runner) compress(ctx context.Context, d *delivery, args CompressArgs) error {
	out, rec, err := r.writeCompressed(ctx, d, args, r.Prompts)
	for _, shorter := range r.Shorter {
		if llm.KindOf(err) != llm.KindContextOverflow {
			break
		}
		out, rec, err = r.writeCompressed(ctx, d, args, shorter)
	}
	model := rec.modelName
	if _, isModel := errors.AsType[*llm.Error](err); isModel && judge(err, d.attempt, d.snoozes).verdict == verdictFail {
		model, err = noModel, nil
	}
	if err != nil {
		return errors.Join(err, rec.save(ctx))
	}
	kept, err := queueCompressed(args, out, model, rec)
	if err != nil {
		return err
	}
	err = kept.InTx(ctx, r.Pool)
	if slices.ContainsFunc([]string{"history_summaries_session_fkey", "llm_calls_session_fkey", "prompt_parts_session_fkey"}, func(name string) bool { return pg.Violates(err, name) }) {
		return nil // forgotten meanwhile
	}
	if err != nil {
		return errors.Join(fmt.Errorf("keep history summary: %w", err), rec.save(ctx))
	}
	rec.stored()

	return nil
}

// queueCompressed stores the texts and the answer they came from. If the server loses them, the next turn's job writes them again.
func queueCompressed(args CompressArgs, out *nodes.CompressOutput, model string, rec *recorder) (*pg.Batch, error) {
	queue := &pg.Batch{}
	commitAsync(queue)
	call, err := rec.sending()
	if err != nil {
		return nil, err
	}
	if call != nil {
		queue.Exec("insert call", db.LlmCallInsert, call)
	}
	for _, x := range []struct{ kind, text string }{{"conversation", out.Conversation}, {"narrative", out.Narrative}} {
		if x.text == "" {
			continue // nothing was said in these turns
		}
		queue.Exec("insert history summary", db.HistorySummaryInsert, &db.HistorySummaryInsertParams{
			SessionID: args.SessionID, Kind: x.kind, FromTurn: int32(args.FromTurn), ToTurn: int32(args.ToTurn),
			Text: x.text, Model: model, PromptVersion: nodes.PromptVersion,
		})
	}

	return queue, nil
}

// writeCompressed returns the texts and the recorder of their call. If the model fails, it returns the error with texts
// written by code.
func (r *Runner) writeCompressed(ctx context.Context, d *delivery, args CompressArgs, prompts Prompts) (*nodes.CompressOutput, *recorder, error) {
	rec := r.recorder(r.guard(r.Pool, args.SessionID), args.SessionID)
	rec.model, rec.ordinal, rec.again = r.Models(vocab.NodeCompress), 1, d.attempt > 1 || d.snoozes > 0 || d.takenOver
	v, err := pg.Value(ctx, r.inLoadTx, func(tx pgx.Tx) (*view.View, error) {
		return r.loader.Range(ctx, tx, args.SessionID, args.FromTurn, args.ToTurn)
	})
	if err != nil {
		return nil, rec, err
	}
	in := prompts.Compress(v)
	in.At, rec.items = nodes.At{Turn: args.ToTurn, Call: 1}, in.Items
	ctx, cancel := context.WithTimeout(ctx, r.Timeouts.of(vocab.NodeCompress))
	defer cancel()
	out, err := nodes.Compress(ctx, rec, in)
	r.observe.leaks.Add(ctx, int64(rec.guard.leaks))
	if rec.guard.leaks > 0 {
		r.Logger.WarnContext(ctx, "identifiers taken out", slog.String("node", vocab.NodeCompress), slog.String("session_id", rec.session.String()), slog.Int("leaks", rec.guard.leaks))
	}
	if err != nil {
		out = &in.Fallback
	}

	return out, rec, err
}

const embedTimeout = 2 * time.Minute

// workEmbed embeds what a turn changed.
func (r *Runner) workEmbed(ctx context.Context, job *river.Job[TurnArgs]) error {
	return r.background(ctx, newDelivery(job.JobRow), slog.String("turn_id", job.Args.TurnID.String()), func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, embedTimeout)
		defer cancel()

		return r.Index.EmbedTurn(ctx, job.Args.TurnID)
	})
}

// background runs a background job and settles it. A job that fails permanently is dropped: the next turn's job repeats
// its work.
func (r *Runner) background(ctx context.Context, d *delivery, about slog.Attr, work func(context.Context) error) (err error) {
	started := time.Now()
	defer r.runs.enter(&run{jobID: d.jobID})()
	ctx, span := r.observe.tracer.Start(ctx, d.Node)
	defer span.End()
	func() {
		defer catch(&err)
		err = work(ctx)
	}()
	o := judge(err, d.attempt, d.snoozes)
	if o.verdict == verdictFail && pg.IsTransient(err) { // nobody waits for it, and the next turn may be a long time coming
		o = outcome{verdict: verdictSnooze, after: longPause}
	}
	r.logJob(ctx, slog.LevelInfo, d, time.Since(started), o, err, about)
	r.observe.worked(ctx, d.Node, o, time.Since(started))

	return o.returned(err)
}
