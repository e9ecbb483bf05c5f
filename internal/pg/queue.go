package pg

import (
	"reflect"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Rows adds an sqlc query: its exported text, its parameters, and where its rows go, in order. They are available once
// the batch has been sent without an error.
func Rows[Row any](q *Batch, what, query string, params any, rows *[]*Row) {
	q.Query(what, query, params, func(found pgx.Rows) (err error) {
		*rows, err = pgx.CollectRows(found, pgx.RowToAddrOfStructByPos[Row])

		return err
	})
}

// arguments are the fields of sqlc's parameter struct, which are in the order of their numbers. A []any is the
// parameters themselves, nil none.
func arguments(params any) []any {
	if params == nil {
		return nil
	}
	if list, ok := params.([]any); ok {
		return list
	}
	of := reflect.ValueOf(params)
	if of.Kind() != reflect.Pointer || of.Elem().Kind() != reflect.Struct {
		return []any{params}
	}
	fields := make([]any, of.Elem().NumField())
	for i := range fields {
		fields[i] = of.Elem().Field(i).Interface()
	}

	return fields
}

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
