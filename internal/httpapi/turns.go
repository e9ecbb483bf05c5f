package httpapi

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/follow"
	"alfred/internal/httpapi/problem"
	"alfred/internal/pg"
	"alfred/internal/telemetry"
	"alfred/jobs"
)

// newTurn is a message.
type newTurn struct {
	Message           string                 `json:"message"`
	Mode              string                 `json:"mode,omitempty"`
	IfBusy            string                 `doc:"enqueue, reject or interrupt" json:"if_busy,omitempty"`
	UIChanges         []jobs.UIChange        `json:"ui_changes,omitempty" nullable:"true"`
	MentionedEntities []jobs.MentionedEntity `json:"mentioned_entities,omitempty" nullable:"true"`
	Answer            *jobs.Answer           `doc:"The option of an open question that was clicked." json:"answer,omitempty"`
}

type enqueueIn struct {
	SessionPath

	IdempotencyKey string `doc:"A second request with the same key gives the first one's turn." header:"Idempotency-Key"`
	Body           newTurn
}

// enqueuedTurn says where a message is in the queue.
type enqueuedTurn struct {
	ID        uuid.UUID     `json:"id"`
	SessionID uuid.UUID     `json:"session_id"`
	Number    int           `json:"number"`
	Status    db.TurnStatus `enum:"queued,running,succeeded,failed,cancelled" json:"status"`
}

type enqueueOut struct {
	Status int
	Body   enqueuedTurn
}

// TurnFacts is a message and what became of it, whether alone or in a list.
type TurnFacts struct {
	ID        uuid.UUID      `json:"id"`
	SessionID uuid.UUID      `json:"session_id"`
	Number    int32          `json:"number"`
	Status    db.TurnStatus  `enum:"queued,running,succeeded,failed,cancelled" json:"status"`
	Message   string         `json:"message"`
	Goal      *string        `json:"goal"`
	Reply     *string        `json:"reply"`
	Said      *string        `doc:"What the reply had said when the turn was cancelled." json:"said,omitempty"`
	Error     *turnError     `json:"error,omitempty"`
	Model     string         `doc:"Of the reply, or of the last call." json:"model,omitempty"`
	Wrote     []follow.Wrote `doc:"Rows that the assistant, or the undo that it is, made, changed and deleted in it, in order." json:"wrote"`
	Unwritten bool           `doc:"It was to write, and no row was saved, changed or deleted, whatever the reply says." json:"unwritten,omitempty"`
	Feedback  *feedback      `json:"feedback,omitempty"`
	Undo      *undo          `doc:"Missing where the turn has written nothing." json:"undo,omitempty"`
	Undoes    *uuid.UUID     `doc:"The turn that this one takes back." json:"undoes,omitempty"`
	CreatedAt time.Time      `json:"created_at"`
	RepliedAt *time.Time     `json:"replied_at"`
}

// turn is a message and all that became of it.
type turn struct {
	TurnFacts

	Steps    []step           `json:"steps"`
	Question *follow.Question `json:"question,omitempty"`
	Usage    follow.Usage     `json:"usage"`
}

type step struct {
	Step        int32           `json:"step"`
	StepType    db.StepType     `enum:"read,analyze,generate,write" json:"step_type"`
	Subdomain   string          `json:"subdomain"`
	Description string          `json:"description"`
	Refs        []string        `json:"refs"`
	Outcome     *db.StepOutcome `enum:"ok,partial,empty,failed,skipped" json:"outcome"`
	Summary     *string         `json:"summary"`
	Note        *string         `json:"note"`
}

type turnError follow.Error

// TurnPath names a turn.
type TurnPath struct {
	ID pathID `doc:"Turn id." path:"id"`
}

type turnGetIn struct {
	TurnPath

	Wait  string `doc:"Wait until the turn ends, this long at most: 30s." query:"wait"`
	Until string `doc:"With wait: reply (default) or summarized."        enum:"reply,summarized" query:"until"`
}

// turnLine is a turn in a list.
type turnLine struct {
	TurnFacts

	CostUSD float64 `json:"cost_usd"`
}

// cancelledTurn is the result of a cancellation.
type cancelledTurn struct {
	Cancelled bool `doc:"False when the turn had ended already." json:"cancelled"`
}

// enqueues describes what a route that makes a turn answers when it is asked again.
func (a *api) enqueues(op huma.Operation) huma.Operation {
	op.Responses = map[string]*huma.Response{"200": {
		Description: "The Idempotency-Key was seen before: its turn.",
		Content: map[string]*huma.MediaType{"application/json": {
			Schema: a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[enqueuedTurn](), true, ""),
		}},
	}}

	return op
}

func (a *api) turnEnqueue(ctx context.Context, in *enqueueIn) (*enqueueOut, error) {
	if strings.TrimSpace(in.Body.Message) == "" {
		return nil, problem.Invalid("The message is empty.")
	}
	if err := a.checkInputs(in.Body); err != nil {
		return nil, err
	}
	made, err := pg.Value(ctx, a.door.Write, func(tx pgx.Tx) (*jobs.Enqueued, error) {
		return jobs.EnqueueTurn(ctx, tx, jobs.EnqueueParams{
			SessionID: in.ID.UUID, Message: in.Body.Message, Mode: in.Body.Mode, IfBusy: in.Body.IfBusy,
			IdempotencyKey: in.IdempotencyKey, UIChanges: in.Body.UIChanges, MentionedEntities: in.Body.MentionedEntities,
			Answer: in.Body.Answer, Limits: a.Limits,
		})
	})
	if err != nil {
		return nil, err
	}

	return enqueued(ctx, in.ID.UUID, made), nil
}

// enqueued is the response to creating a turn, or to sending the same one again.
func enqueued(ctx context.Context, session uuid.UUID, made *jobs.Enqueued) *enqueueOut {
	telemetry.LinkTurn(ctx, made.TurnID)
	out := &enqueueOut{Status: http.StatusAccepted, Body: enqueuedTurn{ID: made.TurnID, SessionID: session, Number: made.Number, Status: made.Status}}
	if made.Existing {
		out.Status = http.StatusOK
	}

	return out
}

// checkInputs rejects what no turn could apply, while its sender is still listening.
func (a *api) checkInputs(in newTurn) error {
	for _, c := range in.UIChanges {
		if !slices.Contains([]string{"created", "updated", "deleted"}, strings.TrimSuffix(c.Action, ":user")) {
			return problem.Unprocessable(fmt.Sprintf("ui_changes: there is no action %q; use created:user, updated:user or deleted:user.", c.Action))
		}
		if a.Domain.Entity(c.EntityType) == nil {
			return problem.Unprocessable(fmt.Sprintf("ui_changes: there is no type %q.", c.EntityType))
		}
	}
	for _, m := range in.MentionedEntities {
		if a.Domain.Entity(m.RefType) == nil {
			return problem.Unprocessable(fmt.Sprintf("mentioned_entities: there is no type %q.", m.RefType))
		}
	}

	return nil
}

func (a *api) turnList(ctx context.Context, in *sessionPageIn) (Page[turnLine], error) {
	return paged(ctx, a.ofSession(in.ID), in.PageQuery, func(tx pgx.Tx, after, size int32) ([]*db.TurnPageRow, error) {
		return a.q.TurnPage(ctx, tx, &db.TurnPageParams{SessionID: &in.ID.UUID, AfterNumber: after, PageSize: size})
	}, turnLineOf, func(r *db.TurnPageRow) int32 { return r.Number })
}

func turnLineOf(r *db.TurnPageRow) turnLine { return turnLine{factsOf(r), r.CostUsd} }

func factsOf(r *db.TurnPageRow) TurnFacts {
	return TurnFacts{
		ID: r.ID, SessionID: r.SessionID, Number: r.Number, Status: r.Status, Message: r.Message, Goal: r.Goal, Reply: r.Reply, Said: r.Said,
		Error: turnErrorOf(r.ErrorCode, r.ErrorMessage), Model: r.Model, Wrote: follow.WroteOf(r), Unwritten: r.Unwritten, Feedback: feedbackOf(r),
		Undo: undoOf(r), Undoes: r.Undoes, CreatedAt: r.CreatedAt, RepliedAt: r.RepliedAt,
	}
}

func (a *api) turnGet(ctx context.Context, in *turnGetIn) (*turn, error) {
	read := a.door.Read
	if in.Wait != "" {
		read = a.door.Watcher(ctx).Read
		if err := a.waitForTurn(ctx, read, in.ID.UUID, in.Wait, in.Until == "summarized"); err != nil {
			return nil, err
		}
	}

	return pg.Value(ctx, read, func(tx pgx.Tx) (*turn, error) {
		row, steps, err := follow.Load(ctx, tx, in.ID.UUID)
		if err != nil {
			return nil, err
		}
		asked, err := follow.QuestionOf(row)

		return &turn{
			TurnFacts: factsOf(row), Question: asked, Usage: follow.UsageOf(row),
			Steps: mapped(steps, func(s *db.TurnStepListTurnRow) step { return step(*s) }),
		}, err
	})
}

func (a *api) turnCancel(ctx context.Context, in *TurnPath) (cancelledTurn, error) {
	cancelled, err := pg.Value(ctx, a.door.Write, func(tx pgx.Tx) (bool, error) { return jobs.CancelTurn(ctx, tx, in.ID.UUID) })

	return cancelledTurn{cancelled}, err
}

func turnErrorOf(code, message *string) *turnError {
	return (*turnError)(follow.ErrorOf(code, message))
}

// undo says whether what a turn wrote can be undone.
type undo struct {
	Status string     `doc:"possible, as far as is known before it is tried." enum:"possible,impossible,done" json:"status"`
	Reason string     `doc:"Why it is impossible." json:"reason,omitempty"`
	TurnID *uuid.UUID `doc:"The turn that took it back." json:"turn_id,omitempty"`
}

func undoOf(r *db.TurnPageRow) *undo {
	if r.Undo == nil {
		return nil
	}

	return &undo{Status: *r.Undo, Reason: *cmp.Or(r.UndoReason, new("")), TurnID: r.UndoneBy}
}

type undoIn struct {
	TurnPath

	IdempotencyKey string `doc:"A second request with the same key gives the first one's turn." header:"Idempotency-Key"`
	IfBusy         string `doc:"What happens if a turn runs: enqueue (default), reject or interrupt." query:"if_busy"`
}

// turnUndo enqueues a turn that undoes another one. What prevents it is said in that turn's reply.
func (a *api) turnUndo(ctx context.Context, in *undoIn) (*enqueueOut, error) {
	made, err := pg.Value(ctx, a.door.Write, func(tx pgx.Tx) (*jobs.Undo, error) {
		return jobs.UndoTurn(ctx, tx, jobs.UndoParams{TurnID: in.ID.UUID, IdempotencyKey: in.IdempotencyKey, IfBusy: in.IfBusy})
	})
	if err != nil {
		return nil, err
	}

	return enqueued(ctx, made.SessionID, &made.Enqueued), nil
}
