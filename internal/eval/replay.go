package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/internal/domain"
	"alfred/internal/llm"
	"alfred/internal/pg"
	"alfred/internal/scratch"
)

// ErrNoTurn means that a conversation has no such turn.
var ErrNoTurn = errors.New("there is no turn")

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
	// Other describes each row that differs, one line each.
	Other []string `json:"other_rows,omitempty"`
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

// Replay repeats a conversation from turn from on (0 or 1 for all) with a model on a scratch database: with the user's
// rows as they were before the first message, at the original times, using the original answers before from. keep is
// called for each finished turn; before is what an interrupted run kept, or nil.
func (l *Lab) Replay(ctx context.Context, src *Source, session uuid.UUID, model string, from int, use string, before *Replay, keep func(*ReplayedTurn) error) (*Replay, error) {
	made, err := src.read(ctx, session, true)
	if err != nil {
		return nil, err
	}
	suite, from := made.suite, max(from, 1)
	if last := made.turns[len(made.turns)-1].Number; from > last {
		return nil, fmt.Errorf("%w %d: the last one is %d", ErrNoTurn, from, last)
	}
	suite.Use(cmp.Or(use, src.Domain))
	r := &replay{
		live: src.Pool, bound: src.Bound, turns: made.turns, done: &Replay{Session: session, Model: model, From: from, Notes: made.notes}, keep: keep,
		answers: &answers{known: map[place]llm.Response{}, before: slices.IndexFunc(made.turns, func(h originalTurn) bool { return h.Number >= from })},
	}
	if before != nil {
		r.kept = before.Turns
	}
	if err := r.recorded(ctx); err != nil {
		return nil, err
	}

	err = l.again(ctx, suite, model, r)
	r.done.Notes = append(r.done.Notes, r.answers.notes()...)

	return r.done, err
}

// again plays the messages on a scratch database.
func (l *Lab) again(ctx context.Context, suite *Suite, model string, r *replay) error {
	own := *l
	own.Models = func(models func(string) llm.Model) func(string) llm.Model {
		return func(node string) llm.Model { return &remembering{Model: models(node), answers: r.answers} }
	}
	t := &trial{lab: &own, suite: suite, c: &suite.Cases[0], model: model, after: r.turn}

	return l.onServer(ctx, suite, func(server *scratch.Server, template string) error {
		return t.holdConversation(ctx, server.Address(template))
	})
}

// replay is a replay in progress.
type replay struct {
	live    *pgxpool.Pool
	bound   *domain.Domain
	turns   []originalTurn // the originals
	done    *Replay
	kept    []ReplayedTurn // by an interrupted run
	was, is names          // of the rows created so far
	keep    func(*ReplayedTurn) error
	answers *answers
}

// turn compares a replayed turn, and keeps what is finished. A kept one is used as it was when its answers were bought.
func (r *replay) turn(ctx context.Context, t *trial, p *Played) error {
	was := &r.turns[len(r.done.Turns)]
	made := ReplayedTurn{Number: was.Number, Message: p.Message}
	var err error
	if made.Was, err = side(ctx, r.live, was.ID); err != nil {
		return err
	}
	if made.Is, err = side(ctx, t.pool, p.id); err != nil {
		return err
	}
	r.was.plain(r.bound, made.Was.rows)
	r.is.plain(r.bound, made.Is.rows)
	if at := len(r.done.Turns); at < len(r.kept) {
		r.done.Turns = append(r.done.Turns, r.kept[at])

		return nil
	}
	made.Is.Seconds = p.Seconds // its own times are the original ones
	made.Rows, made.Other = compare(made.Was.rows, made.Is.rows)
	if made.Answers, err = answersOf(ctx, t.pool, p.id); err != nil {
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
FROM turns AS t WHERE t.id = $1`

const wroteIn = `
SELECT c.entity_type, c.entity_id, c.action, coalesce(c.after, '{}') FROM row_changes AS c WHERE c.turn_id = $1 ORDER BY c.seq`

func side(ctx context.Context, pool *pgxpool.Pool, turn uuid.UUID) (s Side, err error) {
	err = pg.InReadTx(ctx, pool, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, sideOf, turn).Scan(&s.Status, &s.Reply, &s.Intent, &s.Plan, &s.Calls, &s.Models, &s.Tokens, &s.USD, &s.Seconds); err != nil {
			return fmt.Errorf("read turn %s: %w", turn, err)
		}
		s.rows, err = pg.Collect(ctx, tx, pgx.RowToStructByPos[wrote], "read what turn "+turn.String()+" wrote", wroteIn, turn)

		return err
	})

	return s, err
}
