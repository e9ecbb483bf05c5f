// Command bench measures what a turn costs besides its model: time, transactions,
// queries, round trips, WAL and rows, for one session and for many. `make bench`
// runs it on a real Postgres with fsync on and writes docs/benchmarks.md.
//
// The model answers at once with fixed, valid outputs (model.go); all else is what
// a worker runs: memory, the data tools, the kitchen. A turn of it reads the user's
// recipes and puts one thing on the shopping list.
//
// Beside it stands the floor (floor.go): the rows of one such turn, recorded by
// triggers (record.go) and written again with values made before, transaction by
// transaction, by as many clients. What lies between is reading, thinking in Go,
// round trips and River.
//
// With -growth (sizes.go) it measures what long sessions, large tables, first words
// and the programs themselves take, and writes docs/growth.md; with -peers (peers.go)
// the same turn on what others use. With -cost (cost.go) nothing is measured: a long
// conversation is recorded (talk.go), and simulated providers (provider.go) say what its
// calls would cost and take, beside those of agent loops; writes docs/cost.md.
//
// It knows no package's inside: milestones are taken from the statements that pass
// the connection (meter.go). Timing decides no test; counts do (counts_test.go).
// Start reading at main.go, then rig.go.
package main
