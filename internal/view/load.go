package view

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/domain"
	"alfred/internal/pg"
	"alfred/nodes"
)

// pastLimit bounds how many older turns are read; no prompt has room for more.
const pastLimit = 80

// maxText is how many characters of an older turn's message or reply are read.
const maxText = 8000

// Loader reads views. It is immutable and safe for concurrent use.
type Loader struct {
	domain  *domain.Domain
	windows Windows
}

// NewLoader returns a Loader for a bound domain.
func NewLoader(d *domain.Domain, windows Windows) *Loader {
	return &Loader{domain: d, windows: windows}
}

// Open reads the turn, its progress, and the answers already bought for the decision at a position. Fill reads the
// rest, if there is anything to decide. An unknown turn is pgx.ErrNoRows.
func (l *Loader) Open(ctx context.Context, tx pgx.Tx, turnID uuid.UUID, position int) (*View, error) {
	var (
		v       = &View{Domain: l.domain, Steps: []*db.TurnSteps{}}
		turns   []*db.Turns
		context []*db.TurnContextRow
		b       = &pg.Batch{}
	)
	pg.Rows(b, "read turn", db.TurnGet, turnID, &turns)
	pg.Rows(b, "read its session", db.TurnContext, turnID, &context)
	if position > 1 { // before the first decision there are none
		pg.Rows(b, "read steps", db.TurnStepList, turnID, &v.Steps)
		pg.Take(b, "read decisions", db.NodeRunListMade, turnID, decoded(&v.Runs, newRun))
	}
	pg.Rows(b, "read bought answers", db.LlmCallAnswers, &db.LlmCallAnswersParams{TurnID: &turnID, Position: int32(position)}, &v.Answers)
	b.Exec("mark where a load begins", Savepoint, nil)
	if err := b.Send(ctx, tx); err != nil {
		return nil, fmt.Errorf("load turn: %w", err)
	}
	if len(turns) == 0 || len(context) == 0 {
		return nil, fmt.Errorf("load turn: %w", pgx.ErrNoRows)
	}
	v.Turn, v.HasInputs = turns[0], context[0].HasInputs
	v.written = Written{Session: context[0].SessionVersion, User: context[0].UserVersion}
	v.begin(context[0].At, context[0].Timezone)

	return v, nil
}

// begin fixes the moment the view describes. A time zone unknown to this machine counts as UTC.
func (v *View) begin(at time.Time, zone string) {
	location, err := time.LoadLocation(zone)
	if err != nil {
		location = time.UTC
	}
	v.Began = at.In(location)
}

// Savepoint is what a load or a probe returns to when one of the domain's own queries fails: a turn must not fail
// because the owner's query does. It is set before they begin.
const (
	Savepoint  = "SAVEPOINT load"
	Release    = "RELEASE SAVEPOINT load" // before anything is written
	rollbackTo = "ROLLBACK TO SAVEPOINT load"
)

// Need says which optional parts of a view a decision uses.
type Need struct {
	Profile bool // what the domain's queries say about the user
	Known   bool // what the curator of the registry sees beyond what is in view
	Round   bool // the model call that the last decision came from
}

// Fill reads an opened view's past.
func (l *Loader) Fill(ctx context.Context, tx pgx.Tx, v *View, need Need) error {
	err := l.fill(ctx, tx, v, need)
	if err != nil && need.Profile && ctx.Err() == nil {
		if _, back := tx.Exec(ctx, rollbackTo); back != nil {
			return errors.Join(err, back)
		}
		err = l.fill(ctx, tx, v, Need{Known: need.Known, Round: need.Round})
		v.Profile.Failed = true
	}
	if err != nil {
		return fmt.Errorf("load view: %w", err)
	}

	return l.lookUp(ctx, tx, v, need.Known)
}

func (l *Loader) fill(ctx context.Context, tx pgx.Tx, v *View, need Need) error {
	b, turn := &pg.Batch{}, v.Turn
	v.OlderCounts, v.Round, v.Profile, v.Events = nil, nil, Profile{}, map[int][]*db.EntityEventListWindowRow{}
	pg.Rows(b, "read turns", db.TurnListPast, &db.TurnListPastParams{
		SessionID: turn.SessionID, CurrentTurn: turn.Number, Before: &v.Began, FromTurn: 1, ToTurn: math.MaxInt32, MaxChars: maxText, Lim: pastLimit,
	}, &v.Past)
	l.queueEarlier(b, v)
	v.queueCuration(b)
	v.queueQuestions(b)
	v.queueDrafts(b)
	pg.Take(b, "read results", db.TurnStepResultListWindow, &db.TurnStepResultListWindowParams{
		SessionID: turn.SessionID, TurnID: turn.ID, CurrentTurn: turn.Number, Before: &v.Began, TurnsWindow: int32(l.windows.RetentionWindow),
	}, decoded(&v.Results, newResult))
	if need.Known {
		pg.Rows(b, "count older entities", db.EntityRefCountOlder, &db.EntityRefCountOlderParams{SessionID: turn.SessionID, OldestTurn: l.oldest(v), MaxRefs: MaxCounted}, &v.OlderCounts)
		l.queueEvents(b, v)
	}
	if last := v.roundOf(); need.Round && last != nil {
		pg.Take(b, "read the call before", db.LlmCallRound, &db.LlmCallRoundParams{ID: *last.LlmCallID, TurnID: &turn.ID, Position: last.Position}, v.setRound)
	}
	if need.Profile {
		b.AsTenant(v.Turn.UserID, func() { v.queueProfile(b) })
	}
	if err := b.Send(ctx, tx); err != nil {
		return err
	}
	// By end time: an interrupting turn ran before those with lower numbers.
	slices.SortFunc(v.Past, func(a, b *db.TurnListPastRow) int {
		return cmp.Or(a.FinishedAt.Compare(*b.FinishedAt), int(a.Number-b.Number))
	})
	v.sortResults()

	return nil
}

func (l *Loader) queueEvents(b *pg.Batch, v *View) {
	pg.Take(b, "read entity events", db.EntityEventListWindow, &db.EntityEventListWindowParams{
		SessionID: v.Turn.SessionID, CurrentTurn: v.Turn.Number, Before: &v.Began, TurnsWindow: int32(l.windows.UnderstandTurns),
	}, func(events []*db.EntityEventListWindowRow) error {
		for _, event := range events {
			v.Events[int(event.TurnNumber)] = append(v.Events[int(event.TurnNumber)], event)
		}

		return nil
	})
}

func (l *Loader) queueEarlier(b *pg.Batch, v *View) {
	v.Earlier = map[string]*db.HistorySummaryListNewestRow{}
	if !l.windows.CompressOlder {
		return
	}
	pg.Take(b, "read compressed turns", db.HistorySummaryListNewest, &db.HistorySummaryListNewestParams{
		SessionID: v.Turn.SessionID, Before: v.Began, BelowTurn: v.Turn.Number,
	}, func(rows []*db.HistorySummaryListNewestRow) error {
		for _, row := range rows {
			v.Earlier[row.Kind] = row
		}

		return nil
	})
}

func (v *View) queueCuration(b *pg.Batch) {
	pg.Rows(b, "read curation", db.DecisionListRecent, &db.DecisionListRecentParams{SessionID: v.Turn.SessionID, TurnNumber: v.Turn.Number, Lim: 5 * LogShown}, &v.Decisions)
	pg.Rows(b, "read constraints", db.ConstraintListInForce, &db.ConstraintListInForceParams{SessionID: v.Turn.SessionID, UserID: v.Turn.UserID, At: &v.Began}, &v.Constraints)
}

func (v *View) queueQuestions(b *pg.Batch) {
	pg.Rows(b, "read questions", db.QuestionListTurn, &db.QuestionListTurnParams{SessionID: v.Turn.SessionID, TurnNumber: v.Turn.Number, TurnID: v.Turn.ID}, &v.Questions)
}

func (v *View) queueDrafts(b *pg.Batch) {
	pg.Take(b, "read drafts", db.ArtifactListPending, v.Turn.SessionID, func(rows []*db.ArtifactListPendingRow) error {
		v.Drafts, v.Versions.Drafts = make(map[string]json.RawMessage, len(rows)), make(map[string]int, len(rows))
		for _, row := range rows {
			v.Drafts[row.Ref], v.Versions.Drafts[row.Ref] = row.Content, int(row.Version)
		}

		return nil
	})
}

// oldest is the first turn of the window.
func (l *Loader) oldest(v *View) int32 { return v.Turn.Number - int32(l.windows.RetentionWindow) }

// decoded stores what is made of each row.
func decoded[Row, T any](into *[]T, from func(*Row) (T, error)) func([]*Row) error {
	return func(rows []*Row) (err error) {
		*into = make([]T, len(rows))
		for i, row := range rows {
			if (*into)[i], err = from(row); err != nil {
				return err
			}
		}

		return nil
	}
}

func (v *View) setRound(rows []*db.LlmCallRoundRow) (err error) {
	for _, row := range rows {
		v.Round, err = nodes.StoredRound(row.Provider, row.Request, row.Response)
	}

	return err
}

// sortResults puts the results into the order in which they were made: the turn's own stand last, also behind those of a
// turn that interrupted.
func (v *View) sortResults() {
	ended := map[int32]int{v.Turn.Number: len(v.Past)}
	for i, p := range v.Past {
		ended[p.Number] = i
	}
	slices.SortStableFunc(v.Results, func(a, b *Result) int {
		return cmp.Or(ended[a.TurnNumber]-ended[b.TurnNumber], cmp.Compare(a.Step, b.Step), cmp.Compare(a.Call, b.Call))
	})
}

// lookUp reads the refs in view and those that the loaded texts name. For the curator (known) it also reads what the
// message names by label, and the newest refs that have left the window.
func (l *Loader) lookUp(ctx context.Context, tx pgx.Tx, v *View, known bool) error {
	v.spoken = v.spokenOf()
	v.asked = v.spoken
	b, params := &pg.Batch{}, l.inView(v, v.asked)
	if known {
		params.Labels, params.MaxOlder = labelsIn(v.Turn.Message), older
	}
	pg.Rows(b, "read entities", db.EntityRefListInView, params, &v.Registry)
	if err := b.Send(ctx, tx); err != nil {
		return fmt.Errorf("load entities: %w", err)
	}
	v.sort()

	return nil
}

func (l *Loader) inView(v *View, asked *spoken) *db.EntityRefListInViewParams {
	params := &db.EntityRefListInViewParams{
		SessionID: v.Turn.SessionID, UserID: v.Turn.UserID, CurrentTurn: v.Turn.Number, TurnsWindow: int32(l.windows.RetentionWindow), OldestTurn: l.oldest(v),
	}
	params.Refs, params.EntityTypes, params.EntityIds = asked.lists()

	return params
}

// NextTurn returns the view that a session's next turn would have if it began now.
func (l *Loader) NextTurn(ctx context.Context, tx pgx.Tx, sessionID uuid.UUID) (*View, error) {
	v, err := l.session(ctx, tx, sessionID)
	if err != nil {
		return nil, err
	}

	return v, l.Fill(ctx, tx, v, Need{Profile: true, Known: true, Round: true})
}

func (l *Loader) session(ctx context.Context, tx pgx.Tx, sessionID uuid.UUID) (*View, error) {
	var (
		v        = &View{Domain: l.domain}
		sessions []*db.SessionGetContextRow
		b        = &pg.Batch{}
	)
	pg.Rows(b, "read session", db.SessionGetContext, sessionID, &sessions)
	b.Exec("mark where a load begins", Savepoint, nil)
	if err := b.Send(ctx, tx); err != nil {
		return nil, fmt.Errorf("load session: %w", err)
	}
	if len(sessions) == 0 {
		return nil, fmt.Errorf("load session: %w", pgx.ErrNoRows)
	}
	s := sessions[0]
	v.Turn = &db.Turns{SessionID: sessionID, UserID: s.UserID, Number: s.LastTurn + 1, Mode: s.Mode}
	v.begin(s.At, s.Timezone)

	return v, nil
}

// Range returns the view of a turn whose past is exactly the turns from..to (inclusive), oldest first.
func (l *Loader) Range(ctx context.Context, tx pgx.Tx, sessionID uuid.UUID, from, to int) (*View, error) {
	v, err := l.session(ctx, tx, sessionID)
	if err != nil {
		return nil, err
	}
	v.Turn.Number = int32(to + 1)
	b := &pg.Batch{}
	l.queueEarlier(b, v)
	pg.Rows(b, "read turns", db.TurnListPast, &db.TurnListPastParams{
		SessionID: sessionID, Before: &v.Began, FromTurn: int32(from), ToTurn: int32(to), MaxChars: maxText, Lim: pastLimit,
	}, &v.Past)
	if err := b.Send(ctx, tx); err != nil {
		return nil, fmt.Errorf("load turns: %w", err)
	}
	slices.Reverse(v.Past)

	return v, l.lookUp(ctx, tx, v, false)
}
