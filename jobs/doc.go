// Package jobs runs turns: it puts a message into the queue, works each of the
// turn's decisions as a River job, and brings back what a dead process left.
//
// It owns the order of things: which decision follows which (graph.go), what a
// decision's transaction holds (commit.go), how a turn stays with its worker
// (handoff.go), when an error is tried again and when it ends the turn (outcome.go), and who may work on a turn at all (the fence: a
// job carries the turn's position and commits only while it still stands there).
//
// It must not know how a prompt is worded (package nodes), what a node may see
// (package memory), how a tool works (package crud), nor any HTTP. The rows of
// River's table are written by the SQL functions of one migration file alone.
//
// A program that only enqueues needs [EnqueueTurn] and [CancelTurn]. To see a turn
// run, read args.go, worker.go, load.go, commit.go, graph.go, in this order.
package jobs
