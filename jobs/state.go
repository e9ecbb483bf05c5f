package jobs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"alfred/crud"
	"alfred/db"
	"alfred/nodes"
	"alfred/pg"
	"alfred/registry"
)

// state is a turn as its jobs see it: the row, its plan and the decisions made so
// far. Everything that limits count is derived from these rows, so that it is the
// same after a crash.
type state struct {
	turn     *db.Turns
	steps    []*db.TurnSteps
	made     []*db.NodeRunListMadeRow
	answered *db.Questions // the question that this turn answered, or nil
	answers  []*db.LlmCallAnswersRow
	guard    *guard
	memory   Memory    // what builds the inputs
	until    time.Time // when the turn stops trying for the decision at hand; zero: never
	inputs   bool      // the user changed or pointed at something that is not applied yet
}

// actMade is the stored form of a decision of Act: its output and what came of it.
type actMade struct {
	nodes.ActOutput
	Results []actResult `json:"results,omitempty"`
}

type actResult struct {
	Tool       string    `json:"tool"`
	EntityType string    `json:"entity_type,omitempty"`
	RowCount   int       `json:"row_count"`
	ErrorCode  crud.Code `json:"error_code,omitempty"`
}

func newActMade(out *nodes.ActOutput, outcome *crud.Outcome) actMade {
	made := actMade{ActOutput: *out}
	for i := range outcome.Results {
		r := &outcome.Results[i]
		made.Results = append(made.Results, actResult{Tool: r.Tool, EntityType: r.EntityType, RowCount: r.RowCount, ErrorCode: r.ErrorCode})
	}

	return made
}

func (m *actMade) failed() bool {
	for _, r := range m.Results {
		if r.ErrorCode != "" {
			return true
		}
	}

	return false
}

// loadState reads what every decision needs to know of its turn, in one round trip.
// A turn that does not wait for this decision is errStale.
func loadState(ctx context.Context, tx pgx.Tx, d delivery) (*state, error) {
	q := db.New()
	s := &state{}
	readers := []func(pg.Querier) error{
		func(conn pg.Querier) (err error) {
			s.turn, err = q.TurnGet(ctx, conn, d.TurnID)
			if errors.Is(err, pgx.ErrNoRows) || err == nil && !current(s.turn, d) {
				return errStale
			}

			return wrap("load turn", err)
		},
		func(conn pg.Querier) (err error) {
			s.steps, err = q.TurnStepList(ctx, conn, d.TurnID)

			return wrap("load steps", err)
		},
		func(conn pg.Querier) (err error) {
			s.made, err = q.NodeRunListMade(ctx, conn, d.TurnID)

			return wrap("load decisions", err)
		},
		func(conn pg.Querier) (err error) {
			s.answers, err = q.LlmCallAnswers(ctx, conn, &db.LlmCallAnswersParams{TurnID: &d.TurnID, Position: int32(d.Position)})

			return wrap("load bought answers", err)
		},
		func(conn pg.Querier) (err error) {
			s.answered, err = q.QuestionAnswered(ctx, conn, d.TurnID)
			if errors.Is(err, pgx.ErrNoRows) {
				s.answered, err = nil, nil
			}

			return wrap("load answered question", err)
		},
	}
	if d.node == nodeUnderstand {
		readers = append(readers, func(conn pg.Querier) (err error) {
			s.inputs, err = q.TurnHasInputs(ctx, conn, d.TurnID)

			return wrap("look for inputs", err)
		})
	}

	return s, pg.Together(ctx, tx, readers...) //nolint:wrapcheck // each says what it was
}

func wrap(what string, err error) error {
	if err == nil {
		return nil
	}

	return fmt.Errorf("%s: %w", what, err)
}

// step is the step to work on: the first that has not ended. Nil when all have.
func (s *state) step() *db.TurnSteps {
	for _, step := range s.steps {
		if step.Outcome == nil {
			return step
		}
	}

	return nil
}

// more says whether steps remain after the one to work on.
func (s *state) more() bool {
	open := 0
	for _, step := range s.steps {
		if step.Outcome == nil {
			open++
		}
	}

	return open > 1
}

// count counts the turn's decisions of a node.
func (s *state) count(node string) int {
	n := 0
	for _, run := range s.made {
		if run.Node == node {
			n++
		}
	}

	return n
}

// at is the place of the decision to make, and its ordinal among the node's decisions of the whole turn.
func (s *state) at(node string) (at nodes.At, ordinal int) {
	ordinal = s.count(node) + 1
	at = nodes.At{Turn: int(s.turn.Number), Call: ordinal}
	step := s.step()
	if node != nodeAct || step == nil {
		return at, ordinal
	}
	at.Step, at.Call = int(step.Step), 1
	for _, run := range s.made {
		if run.Node == nodeAct && run.Step != nil && *run.Step == step.Step {
			at.Call++
		}
	}

	return at, ordinal
}

func (s *state) scope(at nodes.At) registry.Scope {
	return registry.Scope{
		SessionID: s.turn.SessionID, UserID: s.turn.UserID, TurnID: s.turn.ID, Turn: at.Turn, Step: at.Step, Call: at.Call,
		Actor: registry.ActorAssistant,
	}
}

// planned says whether Think made this turn's plan. Where it did not, code did:
// one quick read, or what the user approved.
func (s *state) planned() bool { return s.count(nodeThink) > 0 }

// approved is the payload of the approve question that this turn carries out, or nil.
func (s *state) approved() json.RawMessage {
	if s.planned() || len(s.steps) == 0 || s.answered == nil || s.answered.Kind != askApprove {
		return nil
	}

	return s.answered.Payload
}

// quick says whether code words this turn's reply and summary: a read that Understand found simple enough.
func (s *state) quick() bool {
	return !s.planned() && len(s.steps) > 0 && s.approved() == nil && !s.stuck()
}

// stuck says whether a decision of Act gave its step up.
func (s *state) stuck() bool {
	for _, run := range s.made {
		var made actMade
		if run.Node == nodeAct && json.Unmarshal(run.Output, &made) == nil && (made.AskUser != nil || made.Blocked != nil) {
			return true
		}
	}

	return false
}

// acted derives what the edge after Act depends on.
func (s *state) acted(out *nodes.ActOutput) (acted, error) {
	step := s.step()
	in := acted{
		stepType: string(step.StepType), description: step.Description, more: s.more(),
		replans: max(s.count(nodeThink)-1, 0), quick: s.quick(),
	}
	seen := map[string]bool{}
	for _, run := range s.made {
		if run.Node != nodeAct || run.Step == nil || *run.Step != step.Step {
			continue
		}
		var made actMade
		if err := json.Unmarshal(run.Output, &made); err != nil {
			return acted{}, fmt.Errorf("read act's output: %w", err)
		}
		in.add(&made, seen)
	}
	in.repeats = len(out.Calls) > 0
	for _, call := range out.Calls {
		in.repeats = in.repeats && seen[fingerprint(call)]
	}

	return in, nil
}

// add counts one earlier decision of the step. seen are the reads that would return the same again.
func (in *acted) add(made *actMade, seen map[string]bool) {
	if made.RequestSchema != nil {
		in.requests++
	}
	if len(made.Calls) == 0 {
		return
	}
	in.calls++
	if in.failing = made.failed(); in.failing {
		in.failures++

		return
	}
	for _, r := range made.Results {
		in.rows += weight(in.stepType, r.Tool, r.RowCount)
		in.done = append(in.done, result(r.Tool, r.EntityType, r.RowCount))
	}
	for _, call := range made.Calls {
		if !reading(call.Tool) {
			clear(seen)
		}
	}
	for _, call := range made.Calls {
		if reading(call.Tool) {
			seen[fingerprint(call)] = true
		}
	}
}

func reading(tool string) bool {
	return tool == crud.ToolRead || tool == crud.ToolAnalyze || tool == crud.ToolRecall
}

// fingerprint is equal for calls that differ in layout alone.
func fingerprint(call nodes.Call) string {
	var args any
	decoder := json.NewDecoder(bytes.NewReader(call.Args))
	decoder.UseNumber()
	if err := decoder.Decode(&args); err != nil {
		return call.Tool + string(call.Args)
	}
	sorted, err := json.Marshal(args)
	if err != nil {
		return call.Tool + string(call.Args)
	}

	return call.Tool + string(sorted)
}
