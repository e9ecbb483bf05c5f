// Package scratch creates short-lived databases: for a test, an evaluation trial or a replay.
//
// It owns their names, how they are created and dropped, and the sweeper that drops what an interrupted run left: the
// names start with the run's own, and a run keeps a connection with that application name for as long as it lives.
//
// It knows only package pg, and nothing of the databases' contents. Start reading at [Open].
package scratch
