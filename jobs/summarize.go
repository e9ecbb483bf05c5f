package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"alfred/db"
	"alfred/internal/exact"
	"alfred/internal/pg"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// openTurns is how many turns a question waits for its answer.
const openTurns = 3

// summarize words what happened in a turn that has been replied to, cleans up after it and starts the next one.
type summarize struct {
	s     *state
	code  bool // a quick or short turn: no model is asked
	in    nodes.SummarizeInput
	out   *nodes.SummarizeOutput
	words json.RawMessage
	model string
}

func (s *summarize) prepare() (*nodes.Frame, error) {
	s.in = s.s.prompts.Summarize(s.s.View)
	if s.code = s.s.isQuick() || s.s.onlyUndoes() || s.in.Short; s.code {
		return nil, nil
	}

	return &s.in.Frame, nil
}

func (s *summarize) run(ctx context.Context, rec *recorder) error {
	if err := s.word(ctx, rec); err != nil {
		return err
	}
	words := map[string]string{
		"response_summary": s.out.ResponseSummary, "conversation_phase": s.out.ConversationPhase, "tone": s.out.Tone,
		"what_user_expressed": s.out.WhatUserExpressed, "what_we_acknowledged": s.out.WhatWeAcknowledged, "natural_next": s.out.NaturalNext,
	}
	maps.DeleteFunc(words, func(_, text string) bool { return text == "" }) // the database takes these from rows
	var err error
	if s.words, err = exact.Storable(words); err != nil {
		return fmt.Errorf("encode summary: %w", err)
	}

	return nil
}

// word never fails because of the model: the facts follow from rows, and the next turn does not wait.
func (s *summarize) word(ctx context.Context, rec *recorder) error {
	s.out, s.model = &s.in.Fallback, noModel
	if s.code {
		return nil
	}
	switch out, err := nodes.Summarize(ctx, rec, s.in); {
	case err == nil:
		s.out, s.model = out, cmp.Or(rec.modelName, noModel)
	case ctx.Err() != nil && !errors.Is(err, context.DeadlineExceeded): // something else than the model ended it
		return err
	}

	return nil
}

// fence checks only the position: the turn has already succeeded. The session is locked first, because the next turn is
// started; later decisions of a bundle find it locked. A session that has been forgotten has no turn left that could
// pass.
func (s *summarize) fence(first *pg.Batch, c *commit) {
	if c.size == 0 {
		first.Exec("lock session", db.SessionLock, c.s.Turn.SessionID)
	}
	first.Scan("end summary", db.TurnSummarized, &db.TurnSummarizedParams{
		ID: c.s.d.TurnID, SessionID: c.s.Turn.SessionID, Position: int32(c.s.d.Position), Words: s.words, Model: s.model,
	}, nil, nil, &c.wake)
}

func (s *summarize) effects(ctx context.Context, c *commit) (move, error) {
	c.output = s.out
	if err := s.cleanUp(ctx, c); err != nil {
		return move{}, err
	}
	if err := s.compress(c); err != nil || c.s.runner.Index == nil {
		return move{}, err
	}

	return move{}, c.insertJob(kindEmbed, queueBackground, c.s.d.next("")) // once embedded, the turn and what it wrote can be found
}

// lookForExpired queues the question what has expired.
func (c *commit) lookForExpired(b *pg.Batch) {
	c.expired = &db.SessionDueRow{}
	b.Scan("look for what has expired", db.SessionDue, &db.SessionDueParams{
		SessionID: c.s.Turn.SessionID, Decayed: c.s.Turn.Number - int32(c.s.runner.RetentionDecayTurns), Now: c.s.Began, UserID: c.s.Turn.UserID,
	}, &c.expired.Retentions, &c.expired.Constraints)
}

// cleanUp ends what has expired: retentions, constraints, an unanswered question.
func (s *summarize) cleanUp(ctx context.Context, c *commit) error {
	if c.expired == nil {
		look := &pg.Batch{}
		c.lookForExpired(look)
		if err := look.Send(ctx, c.tx); err != nil {
			return err
		}
	}
	if c.expired.Retentions {
		if err := c.registry().ExpireRetentions(ctx, c.s.runner.RetentionDecayTurns); err != nil {
			return fmt.Errorf("expire retentions: %w", err)
		}
	}
	if c.expired.Constraints {
		c.changed.User = true
		if err := c.registry().ExpireConstraints(ctx, c.s.Began); err != nil {
			return fmt.Errorf("expire constraints: %w", err)
		}
	}
	if !slices.ContainsFunc(c.s.Questions, func(q *db.QuestionListTurnRow) bool { return q.Status == "open" }) {
		return nil
	}
	c.last.Exec("expire question", db.QuestionExpire, &db.QuestionExpireParams{
		SessionID: c.s.Turn.SessionID, OpenTurns: openTurns, TurnNumber: c.s.Turn.Number + 1,
	})

	return nil
}

// compress requests, every few turns, the compressed texts of what has left the windows. Until they exist, each such
// turn has one line.
func (s *summarize) compress(c *commit) error {
	w := c.s.runner.Windows
	to := int(c.s.Turn.Number) - max(w.FullDetailTurns, w.RetentionWindow)
	if !w.CompressOlder || to < 1 || to%max(w.CompressEvery, 1) != 0 {
		return nil
	}

	return c.insertJob(vocab.NodeCompress, queueBackground, CompressArgs{SessionID: c.s.Turn.SessionID, FromTurn: 1, ToTurn: to})
}
