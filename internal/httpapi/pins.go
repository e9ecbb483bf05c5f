package httpapi

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/pg"
	"alfred/registry"
)

// RefPath names a ref of a session.
type RefPath struct {
	SessionPath

	Ref string `doc:"Ref of the entity, such as recipe_1." path:"ref"`
}

func (a *api) registerPins() {
	huma.Register(a.huma, operation(http.MethodPut, "/v1/sessions/{id}/entities/{ref}/pin", "pin-entity", "Keep an entity in view", http.StatusNoContent), a.pin)
	huma.Register(a.huma, operation(http.MethodDelete, "/v1/sessions/{id}/entities/{ref}/pin", "unpin-entity", "No longer keep it", http.StatusNoContent), a.unpin)
}

func (a *api) pin(ctx context.Context, in *RefPath) (*struct{}, error) {
	return &struct{}{}, a.asUser(ctx, in.ID, func(r *registry.Registry) error { return r.Pin(ctx, in.Ref) })
}

func (a *api) unpin(ctx context.Context, in *RefPath) (*struct{}, error) {
	return &struct{}{}, a.asUser(ctx, in.ID, func(r *registry.Registry) error { return r.Unpin(ctx, in.Ref) })
}

// asUser changes a session's registry on behalf of its user, between two turns.
func (a *api) asUser(ctx context.Context, sessionID string, change func(*registry.Registry) error) error {
	row, err := a.door.Session(ctx, sessionID)
	if err != nil {
		return failed(ctx, err)
	}
	err = pg.InTx(ctx, a.Pool, func(tx pgx.Tx) error {
		// The session may have been deleted since; from here on it stays.
		if _, err := a.q.SessionChange(ctx, tx, &db.SessionChangeParams{ID: row.ID, UserID: userOf(ctx)}); err != nil {
			return err
		}

		return change(registry.New(tx, a.Domain, registry.Scope{
			SessionID: row.ID, UserID: userOf(ctx), Turn: int(row.LastTurn) + 1, Actor: registry.ActorUser,
		}))
	})
	if err != nil {
		return failed(ctx, fmt.Errorf("change registry: %w", err))
	}

	return nil
}
