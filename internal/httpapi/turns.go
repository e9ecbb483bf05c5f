package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/follow"
	"alfred/internal/httpapi/door"
	"alfred/internal/httpapi/problem"
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
	Wrote     []follow.Wrote `doc:"Rows that the assistant made, changed and deleted in it, in order." json:"wrote"`
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

type turnError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// TurnPath names a turn.
type TurnPath struct {
	ID string `doc:"Turn id." path:"id"`
}

type turnGetIn struct {
	TurnPath

	Wait  string `doc:"Wait until the turn ends, this long at most: 30s." query:"wait"`
	Until string `doc:"With wait: reply (default) or summarized."        enum:"reply,summarized" query:"until"`
}

type turnOut struct {
	Body turn
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

type cancelOut struct {
	Body cancelledTurn
}

func (a *api) registerTurns() {
	enqueue := operation(http.MethodPost, "/v1/sessions/{id}/turns", "enqueue-turn", "Send a message", http.StatusAccepted,
		http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity)
	enqueue.Responses = map[string]*huma.Response{"200": {
		Description: "The Idempotency-Key was seen before: its turn.",
		Content: map[string]*huma.MediaType{"application/json": {
			Schema: a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[enqueuedTurn](), true, ""),
		}},
	}}
	huma.Register(a.huma, enqueue, a.turnEnqueue)
	huma.Register(a.huma, operation(http.MethodGet, "/v1/sessions/{id}/turns", "list-turns", "List a conversation's turns", http.StatusOK), a.turnList().ofSession(a))
	huma.Register(a.huma, operation(http.MethodGet, "/v1/turns/{id}", "get-turn", "Get a turn, and wait for its end if asked to", http.StatusOK), a.turnGet)
	huma.Register(a.huma, operation(http.MethodPost, "/v1/turns/{id}/cancel", "cancel-turn", "Cancel a turn", http.StatusOK), a.turnCancel)
	huma.Register(a.huma, operation(http.MethodPost, "/v1/sessions/{id}/fork", "fork-session", "Begin a conversation as another stood after a turn", http.StatusCreated, http.StatusConflict, http.StatusRequestEntityTooLarge), a.sessionFork)
	huma.Register(a.huma, operation(http.MethodGet, "/v1/sessions/{id}/fork", "get-fork", "Get what a conversation is a fork of, and what changed in the rows that it knows since", http.StatusOK), a.forkGet)
	huma.Register(a.huma, operation(http.MethodGet, "/v1/sessions/{id}/branches", "list-branches", "List the forks of a conversation, and what it is a fork of", http.StatusOK), a.sessionBranches)
	huma.Register(a.huma, operation(http.MethodPost, "/v1/turns/{id}/undo", "undo-turn", "Take back what a turn wrote", http.StatusAccepted, http.StatusConflict), a.turnUndo)
}

func (a *api) turnEnqueue(ctx context.Context, in *enqueueIn) (*enqueueOut, error) {
	sessionID, err := door.ParseID(in.ID)
	if err != nil {
		return nil, failed(ctx, err)
	}
	if strings.TrimSpace(in.Body.Message) == "" {
		return nil, failed(ctx, problem.Invalid("The message is empty."))
	}
	if err := a.checkInputs(in.Body); err != nil {
		return nil, failed(ctx, err)
	}
	var made *jobs.Enqueued
	err = a.write(ctx, func(tx pgx.Tx) error {
		made, err = jobs.EnqueueTurn(ctx, tx, jobs.EnqueueParams{
			SessionID: sessionID, Message: in.Body.Message, Mode: in.Body.Mode, IfBusy: in.Body.IfBusy,
			IdempotencyKey: in.IdempotencyKey, UIChanges: in.Body.UIChanges, MentionedEntities: in.Body.MentionedEntities,
			Answer: in.Body.Answer,
			Limits: a.Limits,
		})

		return err
	})
	if err != nil {
		return nil, failed(ctx, err)
	}

	return enqueued(ctx, sessionID, made), nil
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

	return nil
}

func (a *api) turnList() list[int32, *db.TurnPageRow, turnLine] {
	return list[int32, *db.TurnPageRow, turnLine]{
		parse: parseNumberCursor,
		rows: func(ctx context.Context, tx pgx.Tx, session uuid.UUID, after, size int32) ([]*db.TurnPageRow, error) {
			return a.q.TurnPage(ctx, tx, &db.TurnPageParams{SessionID: session, AfterNumber: after, PageSize: size})
		},
		item: func(r *db.TurnPageRow) turnLine {
			return turnLine{CostUSD: r.CostUsd, TurnFacts: TurnFacts{
				ID: r.ID, SessionID: r.SessionID, Number: r.Number, Status: r.Status, Message: r.Message, Goal: r.Goal, Reply: r.Reply, Said: r.Said,
				Error: errorOf(r.ErrorCode, r.ErrorMessage), Model: r.Model, Wrote: wroteOf(r.Wrote), Unwritten: r.Unwritten, Feedback: feedbackOf(r.FeedbackRating, r.FeedbackText, r.FeedbackAt),
				Undo: undoOf(r.Undo, r.UndoReason, r.UndoneBy), Undoes: r.Undoes, CreatedAt: r.CreatedAt, RepliedAt: r.RepliedAt,
			}}
		},
		cursor: func(r *db.TurnPageRow) string { return strconv.Itoa(int(r.Number)) },
	}
}

func (a *api) turnGet(ctx context.Context, in *turnGetIn) (*turnOut, error) {
	id, err := door.ParseID(in.ID)
	if err != nil {
		return nil, failed(ctx, err)
	}
	if in.Wait != "" {
		if err := a.waitForTurn(ctx, id, in.Wait, in.Until == "summarized"); err != nil {
			return nil, failed(ctx, err)
		}
	}
	t, err := a.turn(ctx, id)
	switch {
	case in.Wait == "":
	case err == nil:
		err = a.stillGood(ctx)
	default:
		err = a.believed(ctx, err)
	}
	if err != nil {
		return nil, failed(ctx, err)
	}

	return &turnOut{Body: *t}, nil
}

func (a *api) turn(ctx context.Context, id uuid.UUID) (*turn, error) {
	var (
		row   *db.TurnDetailRow
		steps []*db.TurnStepListTurnRow
	)
	err := a.read(ctx, func(tx pgx.Tx) error {
		var err error
		if row, err = a.q.TurnDetail(ctx, tx, id); err != nil {
			return fmt.Errorf("get turn: %w", err)
		}
		steps, err = a.q.TurnStepListTurn(ctx, tx, id)

		return err
	})
	if err != nil {
		return nil, fmt.Errorf("get turn's steps: %w", err)
	}
	asked, err := follow.QuestionOf(row)
	if err != nil {
		return nil, err
	}
	t := &turn{
		TurnFacts: TurnFacts{
			ID: row.ID, SessionID: row.SessionID, Number: row.Number, Status: row.Status, Message: row.Message, Goal: row.Goal, Reply: row.Reply, Said: row.Said,
			Error: errorOf(row.ErrorCode, row.ErrorMessage), Model: row.Model, Wrote: wroteOf(row.Wrote), Unwritten: row.Unwritten, Feedback: feedbackOf(row.FeedbackRating, row.FeedbackText, row.FeedbackAt),
			Undo: undoOf(row.Undo, row.UndoReason, row.UndoneBy), Undoes: row.Undoes, CreatedAt: row.CreatedAt, RepliedAt: row.RepliedAt,
		},
		Steps: make([]step, 0, len(steps)), Question: asked,
		Usage: follow.Usage{
			Calls: row.Calls, InputTokens: row.InputTokens, OutputTokens: row.OutputTokens,
			CachedTokens: row.CachedTokens, CostUSD: row.CostUsd,
		},
	}
	for _, s := range steps {
		t.Steps = append(t.Steps, step(*s))
	}

	return t, nil
}

func (a *api) turnCancel(ctx context.Context, in *TurnPath) (*cancelOut, error) {
	id, err := door.ParseID(in.ID)
	if err != nil {
		return nil, failed(ctx, err)
	}
	out := &cancelOut{}
	err = a.write(ctx, func(tx pgx.Tx) error {
		out.Body.Cancelled, err = jobs.CancelTurn(ctx, tx, id)

		return err
	})
	if err != nil {
		return nil, failed(ctx, err)
	}

	return out, nil
}
