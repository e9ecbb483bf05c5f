package pg

import (
	"reflect"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Queue adds an sqlc query to a batch: its exported text, its parameters (the struct of its name, or its only value)
// and where its rows go, in order. The rows are available once the batch is closed without an error.
func Queue[Row any](b *pgx.Batch, query string, params any, rows *[]*Row) {
	b.Queue(query, arguments(params)...).Query(func(found pgx.Rows) error {
		var err error
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

// QueueTenant makes everything queued after it run under the tenant's role, as the given user and in that user's time
// zone. The batch must be sent to a pool, not in a transaction: the settings hold until all of it has run.
func QueueTenant(b *pgx.Batch, userID uuid.UUID, zone string) {
	b.Queue(actIn, TenantRole, userID.String(), zone)
}

// QueueAsTenant is QueueTenant for what is queued within. The batch must be sent in a transaction. Whoever that acts for,
// in which role and time zone, holds again after it; if it fails, so does the transaction.
func QueueAsTenant(b *pgx.Batch, userID uuid.UUID, zone string, queue func()) {
	b.Queue(enter, TenantRole, userID.String(), zone)
	queue()
	b.Queue(leave)
}

const (
	// acting sets role, user and time zone; "" is the connection's own time zone.
	acting = `set_config('alfred.user_id', $2, true), set_config('TimeZone', nullif($3, ''), true), set_config('role', $1, true)`
	actIn  = `SELECT ` + acting

	enter = `SELECT set_config('alfred.outside', json_build_array(current_setting('role'), current_setting('alfred.user_id', true), current_setting('TimeZone'))::text, true), ` + acting
	leave = `SELECT set_config('alfred.user_id', coalesce(o ->> 1, ''), true), set_config('TimeZone', o ->> 2, true), set_config('role', o ->> 0, true)
		FROM (SELECT current_setting('alfred.outside')::json) AS x (o)`
)
