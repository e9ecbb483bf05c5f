// Package scratch makes databases that live for a moment: for a test, for a trial of an evaluation, for a replay.
//
// It owns their names, how they are made and dropped, and the reaper that drops what an interrupted run left: the names
// start with the run's own, and a run holds a connection whose application name is that, as long as it lives.
//
// It knows package pg and what stands in no database. Start reading at [Open].
package scratch
