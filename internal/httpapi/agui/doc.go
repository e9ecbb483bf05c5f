// Package agui serves the Agent-User Interaction protocol: a run is a turn, a
// thread a session, the refs are the run's state.
//
// It must not know routes of our own, nor how a turn is worked.
//
// Start reading at [Register].
package agui
