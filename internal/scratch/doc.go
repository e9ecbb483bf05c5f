// Package scratch creates short-lived databases for a test, a trial or a replay, empty or with our tables. It owns their
// names, and drops those that an interrupted run left: names start with the run's own, and a live run keeps a connection
// with that application name. It must not know what else the databases contain. Start reading at [Open].
package scratch
