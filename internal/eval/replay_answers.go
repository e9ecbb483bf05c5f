package eval

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/internal/llm"
	"alfred/internal/pg"
)

// Answer is what a model answered to one request.
type Answer struct {
	Node     string          `json:"node"`
	Step     int             `json:"step"`
	Call     int             `json:"call"`
	Attempt  int             `json:"attempt"`
	Response json.RawMessage `json:"response"`
}

const answersSQL = `
SELECT c.node, coalesce(c.step, 0), c.call, c.attempt, c.response
FROM llm_calls AS c WHERE c.turn_id = $1 AND c.response IS NOT NULL AND (c.error_code IS NULL OR c.error_code = 'rejected') ORDER BY c.id`

// answersOf returns the answers given in a turn.
func answersOf(ctx context.Context, pool *pgxpool.Pool, turn uuid.UUID) ([]Answer, error) {
	return pg.Collect(ctx, pool, pgx.RowToStructByPos[Answer], "read the answers", answersSQL, turn)
}

// place is a request's position in a conversation; turn counts from 1, whatever its number was.
type place struct {
	turn          int
	node          string
	step, call, n int
}

// answers are the answers known without asking a model.
type answers struct {
	known  map[place]llm.Response
	before int // this many turns use the original answers

	mu     sync.Mutex // background jobs ask too
	bought map[int]bool
}

func (a *answers) add(turn int, all []Answer) error {
	for _, one := range all {
		var response llm.Response
		if err := json.Unmarshal(one.Response, &response); err != nil {
			return fmt.Errorf("turn %d: read an answer of %s: %w", turn, one.Node, err)
		}
		a.known[place{turn, one.Node, one.Step, one.Call, one.Attempt}] = response
	}

	return nil
}

// missed records a request whose original answer is missing.
func (a *answers) missed(turn int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if turn > 0 && turn <= a.before {
		if a.bought == nil {
			a.bought = map[int]bool{}
		}
		a.bought[turn] = true
	}
}

// notes says in which turns the model was asked although the original answers should have served.
func (a *answers) notes() (notes []string) {
	if turns := slices.Sorted(maps.Keys(a.bought)); len(turns) > 0 {
		notes = append(notes, fmt.Sprintf("the model was asked in %d turns before the first to be answered anew, from turn %d on: what was answered then is no longer kept, or other things were asked", len(turns), turns[0]))
	}

	return notes
}

// recorded collects the original answers before the first turn to replay, and those of an interrupted run.
func (r *replay) recorded(ctx context.Context) error {
	for i := range r.turns[:r.answers.before] {
		then, err := answersOf(ctx, r.live, r.turns[i].ID)
		if err != nil {
			return err
		}
		if err := r.answers.add(i+1, then); err != nil {
			return err
		}
	}
	for i := range r.kept {
		if err := r.answers.add(i+1, r.kept[i].Answers); err != nil {
			return err
		}
	}

	return nil
}

// remembering returns the known answer for a request's position, and asks otherwise.
type remembering struct {
	llm.Model

	answers *answers
}

// Prepare fills in the model's configuration.
func (m *remembering) Prepare(req *llm.Request) { llm.Prepare(m.Model, req) }

// Generate implements llm.Model.
func (m *remembering) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	known, ok := m.answers.known[place{req.Turn, req.Node, req.Step, req.Call, max(req.Attempt, 1)}]
	if !ok {
		m.answers.missed(req.Turn)

		return m.Model.Generate(ctx, req)
	}
	if req.OnDelta != nil {
		req.OnDelta(known.Text)
	}

	return &known, nil
}
