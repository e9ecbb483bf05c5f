package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/nodes"
	"alfred/pg"
)

// pastLimit bounds how many older turns are read; more has no room in any prompt.
const pastLimit = 80

// turn is what is loaded of one turn and of what came before it. What only some
// nodes need stays empty for the others.
type turn struct {
	memory *Memory
	row    *db.Turns
	number int
	// before is when the turn began. What other jobs write later (a compressed
	// history, a late summary) must not change what this turn sees.
	before   time.Time
	location *time.Location
	now      time.Time
	userID   uuid.UUID
	lastTurn int
	mode     string

	entities    []*entity // in display order
	byRef       map[string]*entity
	dropped     []*entity             // out of every view; the reply may name them once
	olderCounts map[string]int        // by type, what has left the window
	past        []*db.TurnListPastRow // oldest first
	earlier     map[string]*db.HistorySummaryListNewestRow
	decisions   []*db.DecisionListRecentRow // newest first
	constraints []*db.ConstraintListInForceRow
	question    *db.QuestionGetCurrentRow
	steps       []*db.TurnSteps
	runs        []*db.NodeRunListTurnRow
	results     []*result
	rows        *rowSet
	drafts      map[string]json.RawMessage
	events      map[int][]*db.EntityEventListTurnsRow
	profile     userTexts
	understood  nodes.UnderstandOutput
}

// loading loads one layer of a turn; each is one statement.
type loading func(ctx context.Context, q *db.Queries, conn db.DBTX, t *turn) error

// load reads layers round by round. Those of a round look at what earlier rounds have loaded, not at each other: they
// are one round trip.
func (m *Memory) load(ctx context.Context, tx pgx.Tx, row *db.Turns, rounds ...[]loading) (*turn, error) {
	t := &turn{memory: m, row: row, number: int(row.Number), userID: row.UserID, mode: row.Mode, before: time.Now()}
	if row.StartedAt != nil {
		t.before = *row.StartedAt
	}
	rounds[0] = append(rounds[0], loadSession)
	for _, layers := range rounds {
		if err := t.loadTogether(ctx, tx, layers); err != nil {
			return nil, err
		}
	}

	return t, nil
}

func (t *turn) loadTogether(ctx context.Context, tx pgx.Tx, layers []loading) error {
	q := db.New()
	readers := make([]func(pg.Querier) error, 0, len(layers))
	for _, layer := range layers {
		readers = append(readers, func(conn pg.Querier) error { return layer(ctx, q, conn, t) })
	}

	return pg.Together(ctx, tx, readers...) //nolint:wrapcheck // each layer says what it was
}

// loadSession reads the session and its user's time zone. A zone that this
// machine does not know counts as UTC.
func loadSession(ctx context.Context, q *db.Queries, conn db.DBTX, t *turn) error {
	session, err := q.SessionGetContext(ctx, conn, t.row.SessionID)
	if err != nil {
		return fmt.Errorf("load session: %w", err)
	}
	t.lastTurn = int(session.LastTurn)
	t.userID = session.UserID
	t.location, err = time.LoadLocation(session.Timezone)
	if err != nil {
		t.location = time.UTC
	}
	t.now = t.before.In(t.location)

	return nil
}

// loadPast reads the turns that had ended when this one began, up to as many as
// the widest window and the older ones need.
func loadPast(ctx context.Context, q *db.Queries, conn db.DBTX, t *turn) error {
	past, err := q.TurnListPast(ctx, conn, &db.TurnListPastParams{
		SessionID: t.row.SessionID, CurrentTurn: t.row.Number, Before: &t.before,
		FromTurn: 1, ToTurn: math.MaxInt32,
		MaxChars: int32(t.memory.config.Budget.Message * runesPerToken), Lim: pastLimit,
	})
	if err != nil {
		return fmt.Errorf("load past turns: %w", err)
	}
	// An interrupting turn ran before those with lower numbers.
	slices.SortStableFunc(past, func(a, b *db.TurnListPastRow) int {
		return cmpOr(a.FinishedAt.Compare(*b.FinishedAt), int(a.Number-b.Number))
	})
	t.past = past

	return nil
}

// loadEarlier reads the compressed texts; none where older turns are not to be
// compressed.
func loadEarlier(ctx context.Context, q *db.Queries, conn db.DBTX, t *turn) error {
	if !t.memory.config.CompressOlder {
		return nil
	}
	rows, err := q.HistorySummaryListNewest(ctx, conn, &db.HistorySummaryListNewestParams{
		SessionID: t.row.SessionID, Before: t.before, BelowTurn: t.row.Number,
	})
	if err != nil {
		return fmt.Errorf("load history: %w", err)
	}
	t.earlier = map[string]*db.HistorySummaryListNewestRow{}
	for _, row := range rows {
		t.earlier[row.Kind] = row
	}

	return nil
}

// logShown is how many of its own decisions Understand sees.
const logShown = 10

func loadDecisions(ctx context.Context, q *db.Queries, conn db.DBTX, t *turn) error {
	var err error
	t.decisions, err = q.DecisionListRecent(ctx, conn, &db.DecisionListRecentParams{
		SessionID: t.row.SessionID, TurnNumber: t.row.Number, Lim: 5 * logShown,
	})
	if err != nil {
		return fmt.Errorf("load decisions: %w", err)
	}

	return nil
}

func loadConstraints(ctx context.Context, q *db.Queries, conn db.DBTX, t *turn) error {
	var err error
	t.constraints, err = q.ConstraintListInForce(ctx, conn, &db.ConstraintListInForceParams{
		SessionID: t.row.SessionID, UserID: t.userID, At: &t.before,
	})
	if err != nil {
		return fmt.Errorf("load constraints: %w", err)
	}

	return nil
}

func loadQuestion(ctx context.Context, q *db.Queries, conn db.DBTX, t *turn) error {
	question, err := q.QuestionGetCurrent(ctx, conn, &db.QuestionGetCurrentParams{
		SessionID: t.row.SessionID, TurnNumber: t.row.Number, TurnID: t.row.ID,
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("load question: %w", err)
	}
	t.question = question

	return nil
}

func loadSteps(ctx context.Context, q *db.Queries, conn db.DBTX, t *turn) error {
	var err error
	if t.steps, err = q.TurnStepList(ctx, conn, t.row.ID); err != nil {
		return fmt.Errorf("load steps: %w", err)
	}

	return nil
}

// loadRuns reads this turn's decisions, among them what Understand made of it.
func loadRuns(ctx context.Context, q *db.Queries, conn db.DBTX, t *turn) error {
	var err error
	if t.runs, err = q.NodeRunListTurn(ctx, conn, t.row.ID); err != nil {
		return fmt.Errorf("load decisions of the turn: %w", err)
	}
	for _, run := range t.runs {
		if run.Node != "understand" {
			continue
		}
		if err := json.Unmarshal(run.Output, &t.understood); err != nil {
			return fmt.Errorf("read understand's output: %w", err)
		}
	}

	return nil
}

// loadEvents reads which refs each turn of Understand's window had to do with.
func loadEvents(ctx context.Context, q *db.Queries, conn db.DBTX, t *turn) error {
	window := t.window(t.memory.config.UnderstandTurns)
	numbers := make([]int32, 0, len(window))
	for _, p := range window {
		numbers = append(numbers, p.Number)
	}
	rows, err := q.EntityEventListTurns(ctx, conn, &db.EntityEventListTurnsParams{SessionID: t.row.SessionID, TurnNumbers: numbers})
	if err != nil {
		return fmt.Errorf("load entity events: %w", err)
	}
	t.events = map[int][]*db.EntityEventListTurnsRow{}
	for _, row := range rows {
		t.events[int(row.TurnNumber)] = append(t.events[int(row.TurnNumber)], row)
	}

	return nil
}

// window returns the last n turns, oldest first.
func (t *turn) window(n int) []*db.TurnListPastRow {
	return t.past[max(0, len(t.past)-n):]
}

// older returns the turns before the last n that the compressed text of a kind
// does not cover, oldest first.
func (t *turn) older(kind string, n int) []*db.TurnListPastRow {
	older := t.past[:max(0, len(t.past)-n)]
	covered := t.earlier[kind]
	if covered == nil {
		return older
	}

	return slices.DeleteFunc(slices.Clone(older), func(p *db.TurnListPastRow) bool { return p.Number <= covered.ToTurn })
}

// calls is how many decisions a step has taken, and how many of them count
// against its limit: asking for a schema does not.
func (t *turn) calls(step int) (taken, counted int) {
	for _, run := range t.runs {
		if run.Node != "act" || run.Step == nil || int(*run.Step) != step {
			continue
		}
		taken++
		var output nodes.ActOutput
		if json.Unmarshal(run.Output, &output) != nil || output.RequestSchema == nil {
			counted++
		}
	}

	return taken, counted
}

func itoa(n int) string { return strconv.Itoa(n) }

// cmpOr is the first comparison that decides.
func cmpOr(results ...int) int {
	for _, r := range results {
		if r != 0 {
			return r
		}
	}

	return 0
}

// text is a nullable column's text.
func text(value *string) string {
	if value == nil {
		return ""
	}

	return *value
}
