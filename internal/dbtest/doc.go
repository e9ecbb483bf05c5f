// Package dbtest gives each test a real, migrated Postgres: [Tx], the default, is a transaction that is rolled back;
// [Pool] and [URL] are databases of the test's own, cloned from a template. The server is that of TEST_DATABASE_URL,
// else `scripts/postgres test-url` starts one. A failed test keeps its database and logs the address, until the next
// run drops it. It must not know more of Alfred than package pg. Start reading at [Tx]; server.go has the template and
// the clones.
package dbtest
