package eval

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/domain"
	"alfred/internal/exact"
	"alfred/internal/scratch"
	"alfred/llm"
	"alfred/pg"
)

// Replay is a conversation repeated on a scratch database, turn by turn beside the original.
type Replay struct {
	Session uuid.UUID      `json:"session_id"`
	Model   string         `json:"model"`
	From    int            `json:"from"`           // the first turn that the model answered; earlier ones use the original answers
	With    string         `json:"with,omitempty"` // a different declaration or prompts
	Notes   []string       `json:"notes,omitempty"`
	Turns   []ReplayedTurn `json:"turns"`
}

// ReplayedTurn is an original turn beside its replay with the other model.
type ReplayedTurn struct {
	Number  int    `json:"number"`
	Message string `json:"message"`
	Was     Side   `json:"was"`
	Is      Side   `json:"is"`
	Rows    Rows   `json:"rows"`
	// Answers are the model's, so that an interrupted replay continues without buying them again.
	Answers []Answer `json:"answers"`
}

// Side is the result of one run of a turn.
type Side struct {
	Status  string   `json:"status"`
	Intent  string   `json:"intent"`
	Plan    []string `json:"plan"`
	Calls   []string `json:"calls"` // of tools
	Reply   string   `json:"reply"`
	Models  int      `json:"model_calls"`
	Tokens  int      `json:"tokens"`
	USD     float64  `json:"cost_usd"`
	Seconds float64  `json:"seconds"`

	rows []wrote
}

// Rows counts the written rows that are equal on both sides, written on both with different values, and written only
// originally or only in the replay.
type Rows struct {
	Equal     int `json:"equal"`
	Different int `json:"different"`
	Missing   int `json:"missing"`
	Extra     int `json:"extra"`
}

// wrote is a written row: After is a hash of each column, without those that the database sets.
type wrote struct{ Kind, ID, Action, After string }

// plain leaves out what always differs between runs: the owner, and the key of a created row.
func (w wrote) plain(bound *domain.Domain) (wrote, error) {
	entity := bound.ByType(w.Kind)
	if w.After == "" || entity == nil {
		return w, nil
	}
	var columns map[string]any
	if err := exact.Decode([]byte(w.After), &columns); err != nil {
		return w, fmt.Errorf("read what was written: %w", err)
	}
	delete(columns, entity.Key.Name)
	if entity.Owner != nil {
		delete(columns, entity.Owner.Name)
	}
	text, err := json.Marshal(columns)
	w.After = string(text)

	return w, err
}

// Answer is what a model answered to one request.
type Answer struct {
	Node     string          `json:"node"`
	Step     int             `json:"step"`
	Call     int             `json:"call"`
	Attempt  int             `json:"attempt"`
	Response json.RawMessage `json:"response"`
}

// Replay repeats a conversation from turn from on (0 or 1 for all) with a model on a scratch database: with the user's
// rows as they were before the first message, at the original times, using the original answers before from. keep is
// called for each finished turn; before is what an interrupted run kept, or nil.
func (l *Lab) Replay(ctx context.Context, src *Source, session uuid.UUID, model string, from int, use string, before *Replay, keep func(*ReplayedTurn) error) (*Replay, error) {
	suite, notes, err := src.suite(ctx, session, true)
	if err != nil {
		return nil, err
	}
	suite.schema = src.Schema
	if use != "" {
		suite.Use(use)
	} else if !domain.BuiltIn(src.Domain) {
		suite.Use(src.Domain)
	}
	r := &replay{live: src.Pool, bound: src.Bound, done: &Replay{Session: session, Model: model, From: max(from, 1), Notes: notes}, keep: keep, answers: map[place]llm.Response{}}
	if before != nil {
		r.kept = before.Turns
	}
	if err := r.recorded(ctx); err != nil {
		return nil, err
	}

	return r.done, l.again(ctx, suite, model, r)
}

// again plays the messages on a scratch database.
func (l *Lab) again(ctx context.Context, suite *Suite, model string, r *replay) error {
	own := *l
	own.Models = func(models func(string) llm.Model) func(string) llm.Model {
		return func(node string) llm.Model { return &remembering{model: models(node), answers: r.answers} }
	}
	t := &trial{lab: &own, suite: suite, c: &suite.Cases[0], model: model, after: r.turn}

	return l.onServer(ctx, suite, func(server *scratch.Server, template string) error { return t.hold(ctx, server.Address(template)) })
}

// replay is a replay in progress.
type replay struct {
	live    *pgxpool.Pool
	bound   *domain.Domain
	done    *Replay
	kept    []ReplayedTurn // by an interrupted run
	keep    func(*ReplayedTurn) error
	answers map[place]llm.Response
}

// place is a request's position in a conversation.
type place struct {
	turn          int
	node          string
	step, call, n int
}

const answersOf = `
SELECT t.number, c.node, coalesce(c.step, 0), c.call, c.attempt, c.response
FROM llm_calls AS c JOIN turns AS t ON t.id = c.turn_id
WHERE t.session_id = $1 AND t.number BETWEEN $2 AND $3 AND c.response IS NOT NULL AND (c.error_code IS NULL OR c.error_code = 'rejected')
ORDER BY t.number, c.id`

// recorded collects the original answers before the first turn to replay, and those of an interrupted run.
func (r *replay) recorded(ctx context.Context) error {
	if err := r.read(ctx, r.live, r.done.Session, 1, r.done.From-1, func(turn int, a Answer) error { return r.remember(turn, a) }); err != nil {
		return err
	}
	for i := range r.kept {
		for _, a := range r.kept[i].Answers {
			if err := r.remember(r.kept[i].Number, a); err != nil {
				return err
			}
		}
	}

	return nil
}

func (r *replay) read(ctx context.Context, pool *pgxpool.Pool, session uuid.UUID, first, last int, each func(turn int, a Answer) error) error {
	rows, _ := pool.Query(ctx, answersOf, session, first, last)
	var (
		turn int
		a    Answer
	)
	if _, err := pgx.ForEachRow(rows, []any{&turn, &a.Node, &a.Step, &a.Call, &a.Attempt, &a.Response}, func() error { return each(turn, a) }); err != nil {
		return fmt.Errorf("read the answers: %w", err)
	}

	return nil
}

func (r *replay) remember(turn int, a Answer) error {
	var response llm.Response
	if err := json.Unmarshal(a.Response, &response); err != nil {
		return fmt.Errorf("turn %d: read an answer of %s: %w", turn, a.Node, err)
	}
	r.answers[place{turn, a.Node, a.Step, a.Call, a.Attempt}] = response

	return nil
}

// remembering returns the known answer for a request's position, and asks otherwise.
type remembering struct {
	model   llm.Model
	answers map[place]llm.Response
}

// Prepare fills in the model's configuration.
func (m *remembering) Prepare(req *llm.Request) { llm.Prepare(m.model, req) }

// Generate implements llm.Model.
func (m *remembering) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	known, ok := m.answers[place{req.Turn, req.Node, req.Step, req.Call, max(req.Attempt, 1)}]
	if !ok {
		return m.model.Generate(ctx, req)
	}
	if req.OnDelta != nil {
		req.OnDelta(known.Text)
	}

	return &known, nil
}

// turn compares a replayed turn, and keeps what is finished. A kept one is used as it was when its answers were bought.
func (r *replay) turn(ctx context.Context, t *trial, p *Played) error {
	if at := len(r.done.Turns); at < len(r.kept) && r.kept[at].Number == p.Number {
		r.done.Turns = append(r.done.Turns, r.kept[at])

		return nil
	}
	made := ReplayedTurn{Number: p.Number, Message: p.Message}
	var err error
	if made.Was, err = r.side(ctx, r.live, r.done.Session, p.Number); err != nil {
		return err
	}
	if made.Is, err = r.side(ctx, t.pool, t.session, p.Number); err != nil {
		return err
	}
	made.Is.Seconds = p.Seconds // its own times are the original ones
	made.Rows = compare(made.Was.rows, made.Is.rows)
	if err := r.read(ctx, t.pool, t.session, p.Number, p.Number, func(_ int, a Answer) error {
		made.Answers = append(made.Answers, a)

		return nil
	}); err != nil {
		return err
	}
	r.done.Turns = append(r.done.Turns, made)

	return r.keep(&made)
}

const sideOf = `
SELECT t.status::text, coalesce(t.reply, t.error_message, ''),
       coalesce((SELECT n.output ->> 'intent' FROM node_runs AS n WHERE n.turn_id = t.id AND n.node = 'understand' ORDER BY n.position LIMIT 1), ''),
       ARRAY(SELECT s.step_type::text || ': ' || s.description FROM turn_steps AS s WHERE s.turn_id = t.id ORDER BY s.step),
       ARRAY(SELECT r.tool || coalesce(' ' || r.entity_type, '') || coalesce(': ' || r.error_code, '') FROM turn_step_results AS r
             WHERE r.turn_id = t.id ORDER BY r.step, r.call, r.created_at),
       (SELECT count(*) FROM llm_calls AS c WHERE c.turn_id = t.id),
       (SELECT coalesce(sum(c.input_tokens + c.output_tokens), 0) FROM llm_calls AS c WHERE c.turn_id = t.id),
       (SELECT coalesce(sum(c.cost_usd), 0)::float8 FROM llm_calls AS c WHERE c.turn_id = t.id),
       coalesce(extract(epoch FROM coalesce(t.replied_at, t.finished_at) - coalesce(t.started_at, t.created_at)), 0)::float8
FROM turns AS t WHERE t.session_id = $1 AND t.number = $2`

const wroteIn = `
SELECT c.entity_type, CASE c.action WHEN 'created' THEN '' ELSE c.entity_id END, c.action, coalesce(c.after::text, '')
FROM row_changes AS c JOIN turns AS t ON t.id = c.turn_id WHERE t.session_id = $1 AND t.number = $2 ORDER BY c.seq`

func (r *replay) side(ctx context.Context, pool *pgxpool.Pool, session uuid.UUID, number int) (s Side, err error) {
	err = pg.InReadTx(ctx, pool, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, sideOf, session, number).Scan(&s.Status, &s.Reply, &s.Intent, &s.Plan, &s.Calls, &s.Models, &s.Tokens, &s.USD, &s.Seconds); err != nil {
			return fmt.Errorf("read turn %d: %w", number, err)
		}
		rows, _ := tx.Query(ctx, wroteIn, session, number)
		s.rows, err = pgx.CollectRows(rows, pgx.RowToStructByPos[wrote])
		for i := 0; err == nil && i < len(s.rows); i++ {
			s.rows[i], err = s.rows[i].plain(r.bound)
		}

		return err
	})

	return s, err
}

// compare pairs equal rows first, then those with the same key or type.
func compare(was, is []wrote) (r Rows) {
	left := map[wrote]int{}
	for _, one := range was {
		left[one]++
	}
	var others []wrote
	for _, one := range is {
		if left[one] > 0 {
			left[one]--
			r.Equal++

			continue
		}
		others = append(others, one)
	}
	alike := map[wrote]int{}
	for one, n := range left {
		alike[wrote{Kind: one.Kind, ID: one.ID, Action: one.Action}] += n
		r.Missing += n
	}
	for _, one := range others {
		one.After = ""
		if alike[one] > 0 {
			alike[one]--
			r.Missing--
			r.Different++

			continue
		}
		r.Extra++
	}

	return r
}
