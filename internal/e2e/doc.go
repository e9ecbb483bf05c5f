// Package e2e holds whole conversations to what they must leave behind: HTTP in,
// jobs on a real Postgres, rows out.
//
// Each test has a database, an API and a worker of its own, in one process, and a
// model: the offline one, a script, or a script behind a server that speaks a
// provider's protocol. Facts are asserted in SQL; a prompt is read from llm_calls,
// where every request is kept.
//
// It must not reach into a package to arrange a state that a conversation could
// not reach. Start reading at harness_test.go, then at any scenario.
package e2e
