// Command bench measures what a turn costs without its model, on a real Postgres, and writes docs/benchmarks.md: time,
// transactions, queries, round trips, WAL and rows. It compares a turn with its floor (floor.go), which writes the same
// recorded rows and does nothing else. An argument names another measurement: growth (growth.go), recall (recall.go), peers
// (peers.go) or cost (cost.go). It must not know any package's internals: it observes the statements that pass the connection (meter.go).
// Only counts decide tests, never times; the words of the documents are in pages. Start reading at main.go, then rig.go.
package main
