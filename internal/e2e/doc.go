// Package e2e checks what whole conversations leave behind: HTTP in, jobs on a real
// Postgres, rows out.
//
// Each test has its own database, API and worker, in one process, and a model: the
// offline one, a script, or a script behind a server that speaks a provider's
// protocol. Facts are asserted in SQL; prompts are read from llm_calls, where every
// request is stored.
//
// It must not use a package's internals to arrange a state that a conversation could
// not reach. Start reading at harness_test.go, then at any scenario.
package e2e
