// Package agui serves the Agent-User Interaction protocol: a run is a turn, a thread is a session, and the refs are the
// run's state. It must not know our own routes, or how a turn is worked. Start reading at [Register].
package agui
