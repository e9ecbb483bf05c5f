package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/httpapi/problem"
	"alfred/nodes"
	"alfred/registry"
)

// entity is one ref of the registry.
type entity struct {
	Ref         string      `json:"ref"`
	EntityType  string      `json:"type"`
	Label       string      `json:"label"`
	Action      string      `json:"action"`
	State       db.RefState `enum:"stored,pending,promoted,dropped,deleted" json:"state"`
	Tier        string      `enum:"generated,recent,retained,excluded,background" json:"tier"`
	Reason      *string     `json:"reason"`
	TurnCreated int32       `json:"turn_created"`
	TurnLastRef int32       `json:"turn_last_ref"`
	Key         string      `doc:"Of its row, as in /v1/data/{type}; only if asked for by keys, none for drafts and what is gone." json:"key,omitempty"`
}

// entityPage is a page of the registry.
type entityPage struct {
	Page[entity]

	CurrentTurn int32 `doc:"Turn from which tiers are counted." json:"current_turn"`
}

type entitiesIn struct {
	SessionPath

	Turn   int32  `doc:"As it was when that turn ended; now if left out." minimum:"1" query:"turn"`
	Keys   bool   `doc:"Name each row's key too." query:"keys"`
	Limit  int    `default:"1000" doc:"Items per page." maximum:"1000" minimum:"1" query:"limit"`
	Cursor string `doc:"next_cursor of the page before." query:"cursor"`
}

type contextIn struct {
	SessionPath

	Node string `default:"think" enum:"understand,think,act,reply,summarize" query:"node"`
}

// contextItem says why something is in a prompt.
type contextItem struct {
	Section string `json:"section"`
	Ref     string `json:"ref,omitempty"`
	Turn    int    `json:"turn_number,omitempty"`
	Reason  string `json:"reason"`
	Tokens  int    `json:"tokens"`
}

// contextPreview is what a node would see now.
type contextPreview struct {
	Node  string        `json:"node"`
	Turn  int           `doc:"The coming turn." json:"turn"`
	Text  string        `doc:"What the node would see, as it would see it." json:"text"`
	Items []contextItem `json:"items"`
}

// summary is what is remembered about a turn.
type summary struct {
	TurnNumber          int32           `json:"turn_number"`
	UserMessage         string          `json:"user_message"`
	Goal                string          `json:"goal"`
	Steps               json.RawMessage `json:"steps"`
	CurationSummary     string          `json:"curation_summary"`
	RetainedRefs        []string        `json:"retained_refs"`
	DemotedRefs         []string        `json:"demoted_refs"`
	ExcludedRefs        []string        `json:"excluded_refs"`
	AnalysisConclusions string          `json:"analysis_conclusions"`
	ResponseSummary     string          `json:"response_summary"`
	ConversationPhase   string          `json:"conversation_phase"`
	Tone                string          `json:"tone"`
	WhatUserExpressed   string          `json:"what_user_expressed"`
	WhatWeAcknowledged  string          `json:"what_we_acknowledged"`
	NaturalNext         string          `json:"natural_next"`
	Model               string          `json:"model"`
}

func (a *api) entityList(ctx context.Context, in *entitiesIn) (entityPage, error) {
	after, err := parseEntityCursor(in.Cursor, in.Turn)
	if err != nil {
		return entityPage{}, err
	}

	return inSession(ctx, a, in.ID, func(tx pgx.Tx, row *db.SessionGetRow) (page entityPage, err error) {
		page.CurrentTurn = cmp.Or(in.Turn, row.LastTurn)
		if in.Turn > row.LastTurn {
			return page, problem.New(http.StatusNotFound, "not_found", "The conversation has no such turn yet.")
		}
		refs, err := a.q.EntityList(ctx, tx, after.params(row.ID, in.Turn, int32(in.Limit)))
		page.Page = pageOf(refs, in.Limit,
			func(r *db.EntityListRow) entity {
				e := entity(*r)
				if !in.Keys {
					e.Key = ""
				}

				return e
			},
			func(r *db.EntityListRow) string {
				return opaque(entityCursor{Turn: in.Turn, Tier: r.Tier, Type: r.EntityType, TurnCreated: r.TurnCreated, Ref: r.Ref})
			})

		return page, err
	})
}

// entityCursor is a position in the registry's order, as of a turn; 0 is now.
type entityCursor struct {
	Turn        int32  `json:"turn"`
	Tier        string `json:"tier"`
	Type        string `json:"type"`
	TurnCreated int32  `json:"turn_created"`
	Ref         string `json:"ref"`
}

// refForm matches every ref; anything else cannot be in a cursor of ours.
var refForm = regexp.MustCompile(`^[a-z][a-z0-9_]*_[0-9]{1,18}$`)

// parseEntityCursor parses a registry cursor as of the same turn.
func parseEntityCursor(cursor string, turn int32) (c entityCursor, err error) {
	if err := parseOpaque(cursor, &c); err != nil || cursor == "" {
		return c, err
	}
	tiers := []string{"generated", "recent", "retained", "excluded", "background"}
	if c.Turn != turn || !slices.Contains(tiers, c.Tier) || !refForm.MatchString(c.Ref) || strings.ContainsRune(c.Type, 0) {
		return c, errCursor
	}

	return c, nil
}

func (c entityCursor) params(session uuid.UUID, turn, size int32) *db.EntityListParams {
	params := &db.EntityListParams{SessionID: session, AfterTier: c.Tier, AfterType: c.Type, AfterTurn: c.TurnCreated, PageSize: size}
	if turn > 0 {
		params.TurnNumber = &turn
	}
	if c.Ref != "" {
		params.AfterRef = &c.Ref
	}

	return params
}

func (a *api) contextPreview(ctx context.Context, in *contextIn) (contextPreview, error) {
	return inSession(ctx, a, in.ID, func(tx pgx.Tx, row *db.SessionGetRow) (contextPreview, error) {
		frame, err := a.Preview.Frame(ctx, tx, row.ID, in.Node)
		if err != nil {
			return contextPreview{}, fmt.Errorf("preview context: %w", err)
		}

		return contextPreview{
			Node: in.Node, Turn: int(row.LastTurn) + 1, Text: nodes.RenderBlocks(frame.Blocks),
			Items: mapped(frame.Items, func(i nodes.Item) contextItem { return contextItem(i) }),
		}, nil
	})
}

func (a *api) summaryList(ctx context.Context, in *sessionPageIn) (Page[summary], error) {
	return paged(ctx, a.ofSession(in.ID), in.PageQuery, parseNumberCursor, func(tx pgx.Tx, after, size int32) ([]*db.TurnSummaryPageRow, error) {
		return a.q.TurnSummaryPage(ctx, tx, &db.TurnSummaryPageParams{SessionID: in.ID.UUID, AfterNumber: after, PageSize: size})
	}, func(r *db.TurnSummaryPageRow) summary { return summary(*r) }, func(r *db.TurnSummaryPageRow) string { return strconv.Itoa(int(r.TurnNumber)) })
}

// refs are a session's refs, as other protocols show them.
func (a *api) refs(ctx context.Context, tx pgx.Tx, session uuid.UUID, most int) (any, error) {
	rows, err := a.q.EntityList(ctx, tx, &db.EntityListParams{SessionID: session, PageSize: int32(most)})

	return mapped(rows, func(r *db.EntityListRow) entity { return entity(*r) }), err
}

// RefPath names a ref of a session.
type RefPath struct {
	SessionPath

	Ref string `doc:"Ref of the entity, such as recipe_1." path:"ref"`
}

func (a *api) pin(ctx context.Context, in *RefPath) error {
	return a.changeRegistry(ctx, in.ID, func(r *registry.Registry) error { return r.Pin(ctx, in.Ref) })
}

func (a *api) unpin(ctx context.Context, in *RefPath) error {
	return a.changeRegistry(ctx, in.ID, func(r *registry.Registry) error { return r.Unpin(ctx, in.Ref) })
}

// changeRegistry changes a session's registry on behalf of its user, between two turns.
func (a *api) changeRegistry(ctx context.Context, session pathID, change func(*registry.Registry) error) error {
	row, err := a.door.Session(ctx, session.UUID)
	if err != nil {
		return err
	}

	return a.writeAll(ctx, func(tx pgx.Tx) error {
		// The session may have been deleted since; from here on it stays.
		if _, err := a.q.SessionChange(ctx, tx, &db.SessionChangeParams{ID: row.ID, UserID: userOf(ctx)}); err != nil {
			return fmt.Errorf("change registry: %w", err)
		}

		return change(registry.New(tx, a.Domain, registry.Scope{
			SessionID: row.ID, UserID: userOf(ctx), Turn: int(row.LastTurn) + 1, Actor: registry.ActorUser,
		}))
	})
}

// decision is one line of the log of what was kept in view or removed from it.
type decision struct {
	TurnNumber int32     `json:"turn_number"`
	Action     string    `enum:"retain,demote,forget,exclude,clear_all,expire" json:"action"`
	Ref        *string   `doc:"None for clear_all." json:"ref"`
	Reason     string    `json:"reason"`
	Actor      string    `enum:"assistant,user,system" json:"actor"`
	CreatedAt  time.Time `json:"created_at"`
}

// constraint is something the user wants observed.
type constraint struct {
	ID         uuid.UUID       `json:"id"`
	SessionID  uuid.UUID       `doc:"Where it was asked for." json:"session_id"`
	Text       string          `json:"text"`
	Kind       string          `enum:"count,date_range,exclude,require,budget,other" json:"kind"`
	Value      json.RawMessage `json:"value"`
	Scope      string          `enum:"session,lasting" json:"scope"`
	SourceTurn int32           `json:"source_turn"`
	ExpiresAt  *time.Time      `json:"expires_at"`
	EndedTurn  *int32          `json:"ended_turn"`
	ReplacedBy *uuid.UUID      `json:"replaced_by" nullable:"true"`
	CreatedAt  time.Time       `json:"created_at"`
	InForce    bool            `json:"in_force"`
}

func (a *api) decisionList(ctx context.Context, in *sessionPageIn) (Page[decision], error) {
	return paged(ctx, a.ofSession(in.ID), in.PageQuery, parseIDCursor, func(tx pgx.Tx, after *uuid.UUID, size int32) ([]*db.DecisionPageRow, error) {
		return a.q.DecisionPage(ctx, tx, &db.DecisionPageParams{SessionID: in.ID.UUID, AfterID: after, PageSize: size})
	}, decisionOf, func(r *db.DecisionPageRow) string { return r.ID.String() })
}

func decisionOf(r *db.DecisionPageRow) decision {
	return decision{TurnNumber: r.TurnNumber, Action: r.Action, Ref: r.Ref, Reason: r.Reason, Actor: r.Actor, CreatedAt: r.CreatedAt}
}

func (a *api) constraintList(ctx context.Context, in *sessionPageIn) (Page[constraint], error) {
	return paged(ctx, a.ofSession(in.ID), in.PageQuery, parseIDCursor, func(tx pgx.Tx, after *uuid.UUID, size int32) ([]*db.ConstraintPageRow, error) {
		return a.q.ConstraintPage(ctx, tx, &db.ConstraintPageParams{SessionID: in.ID.UUID, UserID: userOf(ctx), AfterID: after, PageSize: size})
	}, func(r *db.ConstraintPageRow) constraint { return constraint(*r) }, func(r *db.ConstraintPageRow) string { return r.ID.String() })
}
