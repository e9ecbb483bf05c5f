// Command bench measures what a turn costs besides its model: time, transactions,
// queries, round trips, WAL and rows, for one session and for many. `make bench`
// runs it on a real Postgres with fsync on and writes docs/benchmarks.md.
//
// The model answers at once with fixed, valid outputs (model.go); everything else is
// what a worker runs: views, prompts, the data tools, the kitchen. Each turn reads the
// user's recipes and puts one thing on the shopping list.
//
// It is compared with the floor (floor.go): the rows of one such turn, recorded by
// triggers (record.go) and written again with precomputed values, transaction by
// transaction, by as many clients. The difference is reading, computing in Go, round
// trips and River.
//
// With -growth (sizes.go) it measures what long sessions, large tables, first words
// and the programs themselves take, and writes docs/growth.md; with -peers (peers.go)
// the same turn on other frameworks, bare and keeping what Alfred keeps (peers_kept.go).
// With -cost (cost.go) nothing is measured: a long conversation is recorded (talk.go), and
// simulated providers (provider.go) compute what its calls would cost and take, beside
// those of agent loops; writes docs/cost.md.
//
// It knows no package's internals: milestones are taken from the statements that pass
// the connection (meter.go). Timing decides no test; counts do (counts_test.go).
// Start reading at main.go, then rig.go.
package main
