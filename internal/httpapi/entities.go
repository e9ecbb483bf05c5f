package httpapi

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/httpapi/problem"
	"alfred/internal/pg"
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

func (a *api) entityList(ctx context.Context, in *entitiesIn) (page entityPage, err error) {
	read := func(ctx context.Context, work func(tx pgx.Tx) error) error {
		_, err := inSession(ctx, a, in.ID, func(tx pgx.Tx, row *db.SessionGetRow) (none struct{}, err error) {
			page.CurrentTurn = cmp.Or(in.Turn, row.LastTurn)
			if in.Turn > row.LastTurn {
				return none, problem.New(http.StatusNotFound, "not_found", "The conversation has no such turn yet.")
			}

			return none, work(tx)
		})

		return err
	}
	page.Page, err = paged(ctx, read, PageQuery{in.Limit, in.Cursor}, func(tx pgx.Tx, after entityPlace, size int32) ([]*db.EntityListRow, error) {
		if after.Turn != in.Turn && after.Ref != "" {
			return nil, errCursor
		}

		return a.q.EntityList(ctx, tx, &db.EntityListParams{
			SessionID: in.ID.UUID, TurnNumber: pg.OrNil(in.Turn), PageSize: size,
			AfterTier: after.Tier, AfterType: after.Type, AfterTurn: after.TurnCreated, AfterRef: pg.OrNil(after.Ref),
		})
	}, func(r *db.EntityListRow) entity {
		e := entity(*r)
		if !in.Keys {
			e.Key = ""
		}

		return e
	}, func(r *db.EntityListRow) entityPlace {
		return entityPlace{Turn: in.Turn, Tier: r.Tier, Type: r.EntityType, TurnCreated: r.TurnCreated, Ref: r.Ref}
	})

	return page, err
}

// entityPlace is a place in the registry's order, as of a turn; 0 is now.
type entityPlace struct {
	Turn        int32  `json:"turn"`
	Tier        string `json:"tier"`
	Type        string `json:"type"`
	TurnCreated int32  `json:"turn_created"`
	Ref         string `json:"ref"`
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
	return a.writeAll(ctx, func(tx pgx.Tx) error {
		last, err := a.q.SessionChange(ctx, tx, &db.SessionChangeParams{ID: session.UUID, UserID: userOf(ctx)})
		if err != nil {
			return fmt.Errorf("change registry: %w", err)
		}

		return change(registry.New(tx, a.Domain, registry.Scope{
			SessionID: session.UUID, UserID: userOf(ctx), Turn: int(last) + 1, Actor: registry.ActorUser,
		}))
	})
}
