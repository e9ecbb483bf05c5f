// Package jobs runs turns: it enqueues a message, works each of the turn's decisions
// as a River job, and recovers what a dead process left behind.
//
// It owns the order of things: which decision follows which (graph.go), what a
// decision's transaction contains (commit.go), how a turn stays with its worker
// (handoff.go), when an error is retried and when it ends the turn (outcome.go), and
// who may work on a turn at all (the fence: a job carries the turn's position and
// commits only while the turn is still there).
//
// It must not know how a prompt is worded (package nodes), what a node may see
// (package view), how a tool works (package crud), nor any HTTP. Only the SQL
// functions of one migration file write to River's table.
//
// Host programs use package alfred; what is exported here is for Alfred's own packages
// and may change. To follow a turn, read the files that AGENTS.md lists, in its order.
package jobs
