package follow

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/pg"
	"alfred/jobs"
)

// Turn is a message and what became of it.
type Turn struct {
	ID        uuid.UUID     `json:"id"`
	SessionID uuid.UUID     `json:"session_id"`
	Number    int32         `json:"number"`
	Status    db.TurnStatus `json:"status"`
	Message   string        `json:"message"`
	Goal      string        `json:"goal,omitempty"`
	Reply     string        `json:"reply,omitempty"`
	Steps     []Step        `json:"steps"`
	Question  *Question     `json:"question,omitempty"`
	Error     *Error        `json:"error,omitempty"`
	Wrote     []Wrote       `json:"wrote"`
	Unwritten bool          `json:"unwritten,omitempty"` // it was to write, and no row was saved, changed or deleted, whatever the reply says
	Usage     Usage         `json:"usage"`
	CreatedAt time.Time     `json:"created_at"`
}

// Step is one step of a turn's plan; Outcome is empty until it has ended.
type Step struct {
	Step        int32    `json:"step"`
	StepType    string   `json:"step_type"`
	Description string   `json:"description"`
	Refs        []string `json:"refs"`
	Outcome     string   `json:"outcome,omitempty"`
	Summary     string   `json:"summary,omitempty"`
}

// Question is what the assistant asked instead of continuing.
type Question struct {
	ID      uuid.UUID `json:"id"`
	Kind    string    `json:"kind"`
	Status  string    `json:"status"`
	Text    string    `json:"text"`
	Options []Option  `json:"options"`
}

// Option is one of a question's answers; jobs.Answer refers to it by its id.
type Option struct {
	ID    string `doc:"What answer.option_id says." json:"id,omitempty"`
	Label string `json:"label"`
	Ref   string `json:"ref,omitempty"`
}

// Wrote is a row that the turn made, changed or deleted, as the rows say: a reply may say anything, in any language.
type Wrote struct {
	Action string `enum:"created,updated,deleted" json:"action"`
	Type   string `json:"type"`
	Ref    string `json:"ref"`
	Label  string `json:"label"`
}

// Error says why a turn failed, in words fit for its user.
type Error struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Usage is what the turn's model calls have cost so far.
type Usage struct {
	Calls        int32   `json:"calls"`
	InputTokens  int64   `json:"input_tokens"`
	OutputTokens int64   `json:"output_tokens"`
	CachedTokens int64   `json:"cached_tokens"`
	CostUSD      float64 `json:"cost_usd"`
}

// Text is the reply, followed by the question if the reply omits it.
func (t *Turn) Text() string {
	switch {
	case t.Question == nil || strings.Contains(t.Reply, t.Question.Text):
		return t.Reply
	case t.Reply == "":
		return t.Question.Text
	default:
		return t.Reply + "\n\n" + t.Question.Text
	}
}

// PlainText is everything the turn says to a reader who sees only text: Text, and the question's options unless it names
// all of them in its own way.
func (t *Turn) PlainText() string {
	text, options, omits := t.Text(), "\n", false
	if t.Question == nil {
		return text
	}
	for i, option := range t.Question.Options {
		options += fmt.Sprintf("\n%d. %s", i+1, option.Label)
		omits = omits || !strings.Contains(text, option.Label)
	}
	if omits {
		text += options
	}

	return text
}

// Turn reads a turn. Errors: jobs.ErrTurnNotFound, also for another user's.
func (r *Reader) Turn(ctx context.Context, turnID uuid.UUID) (*Turn, error) {
	return pg.Value(ctx, r.Read, func(tx pgx.Tx) (*Turn, error) {
		row, steps, err := Load(ctx, tx, turnID)
		if err != nil {
			return nil, err
		}

		return turnOf(row, steps)
	})
}

// Load reads the rows of a turn and its plan. Errors: jobs.ErrTurnNotFound.
func Load(ctx context.Context, tx pgx.Tx, turnID uuid.UUID) (*db.TurnPageRow, []*db.TurnStepListTurnRow, error) {
	found, err := db.New().TurnPage(ctx, tx, &db.TurnPageParams{ID: &turnID})
	if err != nil {
		return nil, nil, fmt.Errorf("get turn: %w", err)
	}
	if len(found) == 0 {
		return nil, nil, jobs.ErrTurnNotFound
	}
	steps, err := db.New().TurnStepListTurn(ctx, tx, turnID)
	if err != nil {
		return nil, nil, fmt.Errorf("get turn's steps: %w", err)
	}

	return found[0], steps, nil
}

func turnOf(row *db.TurnPageRow, steps []*db.TurnStepListTurnRow) (*Turn, error) {
	turn := &Turn{
		ID: row.ID, SessionID: row.SessionID, Number: row.Number, Status: row.Status, Message: row.Message,
		Goal: orEmpty(row.Goal), Reply: orEmpty(row.Reply), Unwritten: row.Unwritten, Steps: []Step{}, CreatedAt: row.CreatedAt,
		Error: ErrorOf(row.ErrorCode, row.ErrorMessage), Usage: UsageOf(row), Wrote: WroteOf(row),
	}
	for _, s := range steps {
		turn.Steps = append(turn.Steps, Step{
			Step: s.Step, StepType: string(s.StepType), Description: s.Description, Refs: s.Refs,
			Outcome: string(orEmpty(s.Outcome)), Summary: orEmpty(s.Summary),
		})
	}
	var err error
	turn.Question, err = QuestionOf(row)

	return turn, err
}

// ErrorOf is why a turn or a call failed, nil if it did not.
func ErrorOf(code, message *string) *Error {
	if code == nil {
		return nil
	}

	return &Error{Code: *code, Message: orEmpty(message)}
}

// WroteOf is what the assistant made, changed and deleted in a turn, never nil.
func WroteOf(row *db.TurnPageRow) []Wrote {
	list := []Wrote{}
	_ = json.Unmarshal(row.Wrote, &list) // the query has built it

	return list
}

// UsageOf is what a turn's model calls have cost.
func UsageOf(row *db.TurnPageRow) Usage {
	return Usage{Calls: row.Calls, InputTokens: row.InputTokens, OutputTokens: row.OutputTokens, CachedTokens: row.CachedTokens, CostUSD: row.CostUsd}
}

// QuestionOf is what a turn asked, nil if it asked nothing.
func QuestionOf(row *db.TurnPageRow) (*Question, error) {
	if row.QuestionID == nil {
		return nil, nil
	}
	q := &Question{}
	if err := json.Unmarshal(row.QuestionPayload, q); err != nil {
		return nil, fmt.Errorf("read question: %w", err)
	}
	q.ID, q.Kind, q.Status = *row.QuestionID, *row.QuestionKind, *row.QuestionStatus
	if q.Options == nil {
		q.Options = []Option{}
	}

	return q, nil
}

func orEmpty[T any](value *T) T {
	var empty T
	if value == nil {
		return empty
	}

	return *value
}

// Speech turns a turn's events into a text that only grows, for readers who cannot retract what they have shown. Its
// zero value is ready.
type Speech struct {
	said  strings.Builder
	muted bool
}

// Hear returns the piece of the reply that an event brings, often none. After a reply.reset, when the model starts
// over, it returns nothing more until Rest.
func (s *Speech) Hear(e *Event) (string, error) {
	switch e.Type {
	case "reply.reset":
		s.muted = s.said.Len() > 0
	case "reply.delta":
		var delta struct {
			Text string `json:"text"`
		}
		if err := e.Decode(&delta); err != nil {
			return "", err
		}
		if !s.muted {
			s.said.WriteString(delta.Text)

			return delta.Text, nil
		}
	}

	return "", nil
}

// Rest returns the unsent part of the committed text, which overrides the streamed pieces. corrected reports that
// something else was sent before, and that rest is the whole text.
func (s *Speech) Rest(committed string) (rest string, corrected bool) {
	said := s.said.String()
	if rest, ok := strings.CutPrefix(committed, said); ok {
		return rest, false
	}
	if strings.TrimRight(said, " \n") == strings.TrimRight(committed, " \n") {
		return "", false
	}

	return committed, true
}
