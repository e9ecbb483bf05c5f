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

// QueueTenant makes everything queued after it run under the tenant's role and as the given user. The batch must be
// sent to a pool, not in a transaction: the settings hold until all of it has run.
func QueueTenant(b *pgx.Batch, userID uuid.UUID) { b.Queue(actAs, TenantRole, userID.String()) }

// QueueAsTenant queues what must run under the tenant's role and as the given user. The batch must be sent in a
// transaction. Everything set in between ends with it, the role included.
func QueueAsTenant(b *pgx.Batch, userID uuid.UUID, queue func()) {
	b.Queue("SAVEPOINT tenant")
	b.Queue(actAs, TenantRole, userID.String())
	queue()
	b.Queue("ROLLBACK TO SAVEPOINT tenant")
	b.Queue("RELEASE SAVEPOINT tenant")
}
