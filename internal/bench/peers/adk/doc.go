// Command adk runs the benchmark's turns on the database session service of Google's ADK: it reads the session and
// appends each node's answer as an event. Other rows are written in separate transactions, because the service offers
// no other way. It must not know Alfred. Start reading at main.go.
package main
