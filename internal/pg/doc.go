// Package pg is the hand-written Postgres layer: the pool, transactions, the tenant's scope, errors by constraint name,
// the migrator, and notifications about turns.
//
// It knows Postgres and package db, and nothing of turns, entities or models beyond a turn's id.
//
// Read in this order: [Open] (pool.go), [InTx] and [InReadTx] (tx.go), statements that belong together ([Batch],
// [CommitWith], [Rows]), [AsTenant] (tenant.go), [Migrator] (migrate.go)
// and [CheckSchema] (status.go), [Notifier] and [Listener] (notifier.go, listener.go).
package pg
