package eval

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/db"
	"alfred/internal/domain"
	"alfred/internal/follow"
	"alfred/internal/llm"
	"alfred/internal/llm/script"
	"alfred/internal/pg"
	"alfred/jobs"
)

// trial is one conversation on its own database.
type trial struct {
	lab   *Lab
	suite *Suite
	c     *Case
	model string
	said  []llm.Message                                        // as the user sees it
	after func(ctx context.Context, t *trial, p *Played) error // called after each turn; nil: not called

	pool    *pgxpool.Pool
	bound   *domain.Domain
	reader  *follow.Reader // of the user's turns
	session uuid.UUID
	watch   *watch
	faults  []Fault
	result  Trial
}

// evaluated is the default user name, unless a case made from a conversation sets another.
const evaluated = "evaluated"

// run holds the conversation. Whatever goes wrong is in the result.
func (t *trial) run(ctx context.Context, address string) Trial {
	limit := cmp.Or(t.lab.Timeout, usual)
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := t.holdConversation(bounded, address)
	switch {
	case err != nil && bounded.Err() != nil && ctx.Err() == nil:
		t.result.Outcome, t.result.Error = Broken, fmt.Sprintf("it hangs: not over after %s, %s", limit, t.where())
	case err != nil:
		t.result.Outcome, t.result.Error = Broken, err.Error()
	default:
		t.result.Faults = t.faults
		t.result.Outcome = outcome(t.faults)
	}

	return t.result
}

func outcome(faults []Fault) string {
	result := Passed
	for _, f := range faults {
		if f.Broken {
			return Broken
		}
		result = Failed
	}

	return result
}

// where says how far the conversation got.
func (t *trial) where() string {
	turns := len(t.result.Turns)
	switch {
	case turns == 0:
		return "before the first message was answered"
	case t.result.Turns[turns-1].Status == underWay:
		return fmt.Sprintf("in turn %d", turns)
	default:
		return fmt.Sprintf("after turn %d", turns)
	}
}

func (t *trial) holdConversation(ctx context.Context, address string) (err error) {
	pool, err := pg.Open(ctx, pg.Config{AppName: "alfred eval", MaxConns: trialConns, URL: address})
	if err != nil {
		return err
	}
	defer pool.Close()
	t.pool = pool
	if t.bound, err = t.suite.open(ctx, pool); err != nil {
		return err
	}
	if err := errors.Join(t.seed(ctx), t.clock(ctx)); err != nil {
		return err
	}
	if t.watch, err = startWatch(ctx, pool, t.bound, t.reader.Read); err != nil {
		return err
	}
	stop, err := t.startWorker(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if err := t.talk(ctx); err != nil {
		return errors.Join(err, t.brokenOff(ctx))
	}

	return t.checkWhole(ctx)
}

// trialConns is how many connections a trial may use.
const trialConns = 6

// seed creates the user, the session and the rows.
func (t *trial) seed(ctx context.Context) error {
	user, err := db.New().UserEnsure(ctx, t.pool, evaluated)
	if err != nil {
		return fmt.Errorf("make the user: %w", err)
	}
	t.reader = &follow.Reader{Pool: t.pool, UserID: user}
	if err := t.pool.QueryRow(ctx, `SELECT start_session($1)`, evaluated).Scan(&t.session); err != nil {
		return fmt.Errorf("start the conversation: %w", err)
	}
	for _, sql := range []string{t.suite.Seed, t.c.Seed} {
		if err := t.runAsOwner(ctx, sql); err != nil {
			return fmt.Errorf("seed: %w", err)
		}
	}

	return nil
}

// runAsOwner runs SQL as the database's owner, on behalf of the user.
func (t *trial) runAsOwner(ctx context.Context, sql string) error {
	if sql == "" {
		return nil
	}

	return pg.InTx(ctx, t.pool, func(tx pgx.Tx) error {
		if err := t.findTables(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `SELECT set_config('alfred.user_id', $1, true)`, t.reader.UserID.String()); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol)

		return err
	})
}

// startWorker starts a worker; the returned function stops it.
func (t *trial) startWorker(ctx context.Context) (stop func() error, err error) {
	config, index, err := t.lab.Worker(ctx, t.pool, t.bound, t.model)
	if err != nil {
		return nil, err
	}
	if t.model == scripted && t.c.Script != "" {
		played, err := script.Parse([]byte(t.c.Script))
		if err != nil {
			return nil, err
		}
		config.Models = func(string) llm.Model { return played }
	}
	if t.lab.Models != nil {
		config.Models = t.lab.Models(config.Models)
	}
	if err := index.Sweep(ctx); err != nil {
		return nil, fmt.Errorf("embed the rows: %w", err)
	}
	runner, err := jobs.NewRunner(config)
	if err != nil {
		return nil, err
	}
	if err := runner.Start(ctx); err != nil {
		return nil, err
	}

	return func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()

		return runner.Stop(ctx)
	}, nil
}

const (
	stopTimeout = 10 * time.Second

	// scripted names the model that plays a case's own script; in a case without one, it is the offline model.
	scripted = "script"

	// underWay is the status of the turn in which a trial broke off.
	underWay = "running"

	// glance is how often a running turn is polled.
	glance = 10 * time.Millisecond
)

// talk holds the conversation, as written or as played by the user's model.
func (t *trial) talk(ctx context.Context) error {
	if t.c.User != nil && t.lab.Person != nil {
		return t.simulate(ctx)
	}
	for i := range t.c.Turns {
		if err := t.turn(ctx, &t.c.Turns[i]); err != nil {
			return err
		}
	}
	if len(t.c.Turns) == 0 {
		t.faults = append(t.faults, Fault{Check: "the person", Got: "a model has to play it: name one with --user", Broken: true})
	}

	return nil
}

// turn plays one message and checks the result.
func (t *trial) turn(ctx context.Context, turn *Turn) error {
	number := len(t.result.Turns) + 1
	if err := t.runAsOwner(ctx, turn.Before); err != nil {
		return fmt.Errorf("turn %d: before: %w", number, err)
	}
	mark, err := t.watch.mark(ctx)
	if err != nil {
		return err
	}
	played, err := t.send(ctx, turn)
	if err != nil {
		return fmt.Errorf("turn %d: %w", number, err)
	}
	if played.writes, err = t.watch.writesSince(ctx, mark); err != nil {
		return err
	}
	t.result.Turns = append(t.result.Turns, *played)
	t.said = append(t.said, llm.Message{Role: llm.RoleUser, Content: turn.Say}, llm.Message{Role: llm.RoleAssistant, Content: played.Reply})
	t.result.add(played)
	strays, err := t.watch.rowsOfOthers(ctx, played.writes)
	if err != nil {
		return err
	}
	for _, stray := range strays {
		t.fault(number, "rows of others", "none written", stray.Op+" in "+stray.Relation+" of a row that is not the user's")
	}

	if t.after != nil {
		return t.after(ctx, t, played)
	}

	return t.checkExpectations(ctx, &turn.Expect, played)
}

func (r *Trial) add(p *Played) {
	r.Calls += p.Calls
	r.Tokens += p.Tokens
	r.USD += p.USD
	r.Seconds += p.Seconds
}

// send enqueues a message and waits for everything that follows from it.
func (t *trial) send(ctx context.Context, turn *Turn) (*Played, error) {
	params := jobs.EnqueueParams{SessionID: t.session, Message: turn.Say, Mode: turn.Mode}
	for _, c := range turn.UIChanges {
		params.UIChanges = append(params.UIChanges, jobs.UIChange{Action: c.Action, EntityType: c.EntityType, EntityID: c.EntityID, Label: c.Label})
	}
	for _, m := range turn.Mentions {
		params.MentionedEntities = append(params.MentionedEntities, jobs.MentionedEntity{RefType: m.EntityType, UUID: m.EntityID, Label: m.Label})
	}
	start := time.Now()
	made, err := t.enqueue(ctx, turn, params)
	if err != nil {
		return nil, err
	}
	took, err := t.wait(ctx, made.TurnID, start)
	if err != nil {
		t.result.Turns = append(t.result.Turns, Played{Number: made.Number, Message: turn.Say, Status: underWay, id: made.TurnID})

		return nil, err
	}
	got, err := t.reader.Turn(ctx, made.TurnID)
	if err != nil {
		return nil, err
	}
	played := &Played{
		Number: int(got.Number), Message: turn.Say, Reply: got.PlainText(), Status: string(got.Status), Seconds: took.Seconds(), id: got.ID,
		Calls: int(got.Usage.Calls), Tokens: int(got.Usage.InputTokens + got.Usage.OutputTokens), USD: got.Usage.CostUSD,
	}
	if got.Error != nil {
		played.Error = got.Error.Code + ": " + got.Error.Message
	}
	if got.Question != nil {
		played.Asks = got.Question.Kind
	}

	return played, nil
}

// enqueue sends the message, or presses the undo button.
func (t *trial) enqueue(ctx context.Context, turn *Turn, params jobs.EnqueueParams) (*jobs.Enqueued, error) {
	write := func(ctx context.Context, work func(tx pgx.Tx) error) error { return pg.InTx(ctx, t.pool, work) }
	if turn.Undo > 0 {
		undo, err := pg.Value(ctx, write, func(tx pgx.Tx) (*jobs.Undo, error) {
			return jobs.UndoTurn(ctx, tx, jobs.UndoParams{TurnID: t.result.Turns[turn.Undo-1].id})
		})
		if err == nil {
			return &undo.Enqueued, nil
		}
		if _, no := errors.AsType[*jobs.CannotUndoError](err); !no {
			return nil, err
		}
	}

	return pg.Value(ctx, write, func(tx pgx.Tx) (*jobs.Enqueued, error) { return jobs.EnqueueTurn(ctx, tx, params) })
}

// wait returns when a turn is over and summarized, with the time until its reply.
func (t *trial) wait(ctx context.Context, turn uuid.UUID, start time.Time) (took time.Duration, err error) {
	ticker := time.NewTicker(glance)
	defer ticker.Stop()
	for {
		var over, summarized bool
		if err := t.pool.QueryRow(ctx, `SELECT status IN ('succeeded', 'failed', 'cancelled'), summarized_at IS NOT NULL OR status IN ('failed', 'cancelled')
			FROM turns WHERE id = $1`, turn).Scan(&over, &summarized); err != nil {
			return 0, fmt.Errorf("wait for the reply: %w", err)
		}
		if over && took == 0 {
			took = time.Since(start)
		}
		if summarized {
			return took, nil
		}
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("wait for the reply: %w", ctx.Err())
		case <-ticker.C:
		}
	}
}

//go:embed clock.sql
var clockSQL string

// clock starts a case's turns at the times it states, so that "Friday" is the same Friday as then. Turns without a time
// follow the previous one; a case without times runs now.
func (t *trial) clock(ctx context.Context) error {
	batch := &pgx.Batch{}
	for i := range t.c.Turns {
		if at := t.c.Turns[i].At; !at.IsZero() {
			batch.Queue(`INSERT INTO alfred.eval_clock (number, at) VALUES ($1, $2)`, i+1, at)
		}
	}
	if batch.Len() == 0 {
		return nil
	}
	if _, err := t.pool.Exec(ctx, clockSQL); err != nil {
		return fmt.Errorf("set the clock: %w", err)
	}
	if err := t.pool.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("set the clock: %w", err)
	}

	return nil
}
