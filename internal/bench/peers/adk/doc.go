// Command adk runs turns on the database session service of Google's ADK: it reads the session and appends each node's
// answer as an event. The row that a turn writes, and what else is kept, are in separate transactions: the service offers
// no other way.
//
// It knows nothing of Alfred. Start reading at main.go.
package main
