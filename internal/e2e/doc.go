// Package e2e tests whole conversations: HTTP in, jobs on a real Postgres, rows out. Each test has its own database,
// API and worker in one process, and a model that is offline, scripted, or scripted behind a provider's protocol. Facts
// are asserted in SQL. It must not use a package's internals to arrange a state that a conversation could not reach.
// Start reading at harness_test.go, then any scenario.
package e2e
