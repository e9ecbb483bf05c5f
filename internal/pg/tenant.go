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

// act runs work in a role.
func act(ctx context.Context, tx pgx.Tx, role, userID string, work func(tx pgx.Tx) error) error {
	var was, user, zone string
	first := &Batch{}
	first.Scan("act as "+role, actAs, []any{role, userID, ""}, &was, &user, &zone, nil, nil, nil)
	if err := first.Send(ctx, tx); err != nil {
		return err
	}
	if err := work(tx); err != nil {
		return err
	}
	last := &Batch{}
	last.Exec("act as before", actAs, []any{was, user, zone})

	return last.Later(ctx, tx)
}

// actAs returns the current settings and sets new ones; the time zone "" is the user's. An output list is evaluated from
// left to right.
const actAs = `SELECT current_setting('role'), coalesce(current_setting('alfred.user_id', true), ''), current_setting('TimeZone'),
	set_config('role', $1, true), set_config('alfred.user_id', $2, true),
	set_config('TimeZone', coalesce(nullif($3, ''), CASE WHEN $2 <> '' THEN alfred.tenant_timezone() END, current_setting('TimeZone')), true)`

// BecomeTenant makes everything added after it run under the tenant's role, as the given user and in that user's time
// zone. The batch must be sent to a pool or with a transaction's commit: the settings hold until all of it has run.
func (q *Batch) BecomeTenant(userID uuid.UUID, zone string) {
	q.Exec("become the tenant", actIn, []any{TenantRole, userID.String(), zone})
}

// AsTenant is BecomeTenant for what is added within. The batch must be sent in a transaction. Afterwards the user, role
// and time zone are as before; if a statement fails, so does the transaction.
func (q *Batch) AsTenant(userID uuid.UUID, zone string, add func()) {
	q.Exec("become the tenant", enter, []any{TenantRole, userID.String(), zone})
	add()
	q.Exec("act as before", leave, nil)
}

const (
	// acting sets role, user and time zone; "" is the connection's own time zone.
	acting = `set_config('alfred.user_id', $2, true), set_config('TimeZone', nullif($3, ''), true), set_config('role', $1, true)`
	actIn  = `SELECT ` + acting

	enter = `SELECT set_config('alfred.outside', json_build_array(current_setting('role'), current_setting('alfred.user_id', true), current_setting('TimeZone'))::text, true), ` + acting
	leave = `SELECT set_config('alfred.user_id', coalesce(o ->> 1, ''), true), set_config('TimeZone', o ->> 2, true), set_config('role', o ->> 0, true)
		FROM (SELECT current_setting('alfred.outside')::json) AS x (o)`
)
