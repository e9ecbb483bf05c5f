// Package pg is the hand-written Postgres layer: the pool, transactions, the tenant's scope, errors by constraint name,
// the migrator, and notifications about turns. It must not know turns, entities or models, beyond a turn's id. Start
// reading at [Open] (pool.go), then [InTx] (tx.go), [Batch], [AsTenant] (tenant.go), [Migrator] (migrate.go) and
// [Listener] (listener.go).
package pg
