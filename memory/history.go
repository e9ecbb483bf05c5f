package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
)

// What summarize and compress see: one finished turn, or a range of them.

// thisExchange is the turn's own dialogue.
func (t *turn) thisExchange() *section {
	s := newSection("## Conversation")
	s.line("[Turn ", itoa(t.number), "] User: ", t.message())
	s.line("Alfred: ", clip(block(t.withLabels(text(t.row.Reply))), 4*t.memory.config.Budget.Message*runesPerToken))
	s.because("current", "", t.number, s.body.String())

	return s
}

// turnFacts are what the turn did, with the refs it touched.
func (t *turn) turnFacts() *section {
	s := newSection("## Execution Results")
	if goal := inline(text(t.row.Goal), maxFact); goal != "" {
		s.line("Goal: ", goal)
	}
	s.line("Outcome: ", t.outcome())
	for _, step := range t.steps {
		s.line("- ", inline(step.Description, maxFact), " (", string(step.StepType), "): ", outcomeWords(step))
	}
	t.thisTurn(s)
	for _, tool := range []string{"db_create", "db_update", "db_delete"} {
		if labels := t.labelsOf(tool); len(labels) > 0 {
			s.line(verb(tool), ": ", enumerate(labels))
		}
	}
	if refs := t.refWords(refsOf(t.ownResults())); refs != "" {
		s.line("Refs touched: ", refs)
	}
	var drafts []string
	for _, e := range t.tier("generated") {
		drafts = append(drafts, e.Ref+": "+e.label)
		s.because("generated", e.Ref, int(e.TurnCreated), e.label)
	}
	if len(drafts) > 0 {
		s.line("Not saved (drafts): ", enumerate(drafts))
	}
	s.because("current", "", t.number, s.body.String())

	return s
}

// loadRange loads the finished turns of a range as the past of a turn after it.
func (m *Memory) loadRange(ctx context.Context, tx pgx.Tx, sessionID uuid.UUID, kind string, from, to int) (*turn, error) {
	t := &turn{memory: m, row: &db.Turns{SessionID: sessionID, Number: int32(to + 1)}, number: to + 1, before: time.Now()}
	q := db.New()
	if err := loadSession(ctx, q, tx, t); err != nil {
		return nil, err
	}
	if err := loadEarlier(ctx, q, tx, t); err != nil {
		return nil, err
	}
	if covered := t.earlier[kind]; covered != nil && int(covered.ToTurn) >= from {
		from = int(covered.ToTurn) + 1
	}
	past, err := q.TurnListPast(ctx, tx, &db.TurnListPastParams{
		SessionID: sessionID, Before: &t.before, FromTurn: int32(from), ToTurn: int32(to),
		MaxChars: int32(m.config.Budget.Message * runesPerToken), Lim: pastLimit,
	})
	if err != nil {
		return nil, fmt.Errorf("load turns: %w", err)
	}
	slices.Reverse(past)
	t.past = past

	return t, loadEntities(ctx, q, tx, t)
}

// conversationRange is what was said in a range, with the text so far.
func (t *turn) conversationRange() *section {
	s := newSection("## Conversation")
	t.talk(s, t.past, nil)
	t.covered(s, "conversation")

	return s
}

// narrativeRange is what was done in a range, with the text so far.
func (t *turn) narrativeRange() *section {
	s := newSection("## What Happened")
	for _, p := range t.past {
		t.pastTurn(s, p, false)
	}
	t.covered(s, "narrative")

	return s
}

func (t *turn) covered(s *section, kind string) {
	if covered := t.earlier[kind]; covered != nil {
		s.line()
		s.line("### Earlier")
		s.line(block(covered.Text))
		s.because("summary", "", int(covered.ToTurn), covered.Text)
	}
}

// compressedByCode is the text of a range without a model: the text so far and a
// line for each turn, the oldest words giving way.
func (t *turn) compressedByCode(kind string) string {
	var lines []string
	if covered := t.earlier[kind]; covered != nil {
		lines = append(lines, inline(covered.Text, 0))
	}
	for _, p := range t.past {
		if kind == "narrative" {
			lines = append(lines, t.earlierDeed(p))
		} else {
			lines = append(lines, t.earlierLine(p))
		}
	}
	whole := []rune(strings.Join(lines, "\n"))
	if most := t.memory.config.Budget.Earlier * runesPerToken; len(whole) > most {
		return "…" + string(whole[len(whole)-most:])
	}

	return string(whole)
}
