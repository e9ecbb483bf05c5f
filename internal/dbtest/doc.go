// Package dbtest gives each test a real, migrated Postgres.
//
// [Tx] is the default: a transaction that is rolled back, at almost no cost. [Pool] and [URL] give the test its own
// database, for tests that need commits visible to others, notifications, several connections, or real processes.
//
// Databases are cloned from a template that is migrated once per state of the migrations. The server is that of
// TEST_DATABASE_URL; if it is unset, `scripts/postgres test-url` starts one. Clones are dropped when their test
// succeeds; a failed test keeps its database and logs the address until the next run sweeps it.
//
// It knows only package pg. Start reading at [Tx]; server.go holds the template and the clones.
package dbtest
