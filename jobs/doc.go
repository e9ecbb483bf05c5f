// Package jobs runs turns: it enqueues a message, works each of the turn's decisions as a River job, and recovers what
// a dead process left. It owns which decision follows which (graph.go), what a decision's transaction contains
// (commit.go), how a turn stays with its worker (handoff.go), when an error is retried (outcome.go), and the fence: a
// job carries its turn's position and commits only while the turn is there. It must not know how a prompt is worded,
// what a node sees, how a tool works, or HTTP. Start reading at the files that AGENTS.md lists, in its order; host
// programs use package alfred.
package jobs
