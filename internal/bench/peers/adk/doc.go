// Command adk has turns on the database session service of Google's ADK: the session is read, and each node's answer
// appended as an event. The row that a turn writes is in a transaction of its own: the service offers no other.
//
// It knows nothing of Alfred. Start reading at main.go.
package main
