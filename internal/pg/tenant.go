package pg

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// TenantRole is the role for everything driven by a model or an API read; row-level security applies to it.
const TenantRole = "alfred_tenant"

// UndoRole is the role under which code undoes what a turn did: a member of the tenant's role that may also delete what
// the tenant may create, and insert, keys included, what it may delete.
const UndoRole = "alfred_undo"

// AsTenant runs work under the tenant's role, as the given user and in that user's time zone, inside a savepoint of tx.
// Afterwards all three are restored, whatever work did: on an error the savepoint is rolled back and tx stays usable.
//
// The settings are made after the savepoint, because only then does rolling back to it undo them. They are in effect
// when work begins, so that whatever fails in it, including a statement that cannot be parsed, fails within the
// savepoint.
func AsTenant(ctx context.Context, tx pgx.Tx, userID uuid.UUID, work func(tx pgx.Tx) error) error {
	return as(ctx, tx, TenantRole, userID.String(), work)
}

// ActAsTenant is AsTenant in a savepoint that its caller has begun, and rolls back if work fails.
func ActAsTenant(ctx context.Context, tx pgx.Tx, userID uuid.UUID, work func(tx pgx.Tx) error) error {
	return act(ctx, tx, TenantRole, userID.String(), work)
}

// AsUndo is [AsTenant] under the undo role, which sees what the tenant sees.
func AsUndo(ctx context.Context, tx pgx.Tx, userID uuid.UUID, work func(tx pgx.Tx) error) error {
	return as(ctx, tx, UndoRole, userID.String(), work)
}

// AsEngine runs work under the connection's own role, inside work of [AsTenant].
func AsEngine(ctx context.Context, tx pgx.Tx, work func(tx pgx.Tx) error) error {
	return as(ctx, tx, "none", "", work)
}

func as(ctx context.Context, tx pgx.Tx, role, userID string, work func(tx pgx.Tx) error) error {
	return InTx(ctx, tx, func(tx pgx.Tx) error { return act(ctx, tx, role, userID, work) })
}

// act runs work in a role. What was before is kept here rather than in the session, because roles nest.
func act(ctx context.Context, tx pgx.Tx, role, userID string, work func(tx pgx.Tx) error) error {
	var was, user, zone string
	first := &Batch{}
	first.Scan("act as "+role, `SELECT `+actor+`, `+acting, []any{role, userID}, &was, &user, &zone, nil, nil, nil)
	if err := first.Send(ctx, tx); err != nil {
		return err
	}
	if err := work(tx); err != nil {
		return err
	}
	last := &Batch{}
	last.Exec("act as before", `SELECT set_config('role', $1, true), set_config('alfred.user_id', $2, true), set_config('TimeZone', $3, true)`, []any{was, user, zone})

	return last.Defer(ctx, tx)
}

// BecomeTenant makes everything added after it run under the tenant's role, as the given user and in that user's time
// zone. The batch must be sent to a pool or with a transaction's commit: the settings hold until all of it has run.
func (q *Batch) BecomeTenant(userID uuid.UUID) {
	q.Exec("become the tenant", `SELECT `+acting, []any{TenantRole, userID.String()})
}

// AsTenant is BecomeTenant for what is added within. The batch must be sent in a transaction. Afterwards the user, role
// and time zone are as before; if a statement fails, so does the transaction.
func (q *Batch) AsTenant(userID uuid.UUID, add func()) {
	q.Exec("become the tenant", enter, []any{TenantRole, userID.String()})
	add()
	q.Exec("act as before", leave, nil)
}

const (
	// actor is who acts: role, user and time zone.
	actor = `current_setting('role'), coalesce(current_setting('alfred.user_id', true), ''), current_setting('TimeZone')`
	// acting sets the actor, in the order in which an output list is evaluated: the user's time zone is read as the
	// tenant. Without a user, the time zone stays.
	acting = `set_config('role', $1, true), set_config('alfred.user_id', $2, true),
	set_config('TimeZone', coalesce(CASE WHEN $2 <> '' THEN alfred.tenant_timezone() END, current_setting('TimeZone')), true)`

	enter = `SELECT set_config('alfred.outside', json_build_array(` + actor + `)::text, true), ` + acting
	leave = `SELECT set_config('role', o ->> 0, true), set_config('alfred.user_id', o ->> 1, true), set_config('TimeZone', o ->> 2, true)
		FROM (SELECT current_setting('alfred.outside')::json) AS x (o)`
)
