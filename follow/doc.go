// Package follow shows one turn to those who wait for it: its events in order as
// they are committed (Tail), the reply as text that only grows (Speech), and what
// the turn came to (Reader.Turn).
//
// It owns the order of reading: subscribe first, then look, so that nothing is
// missed in between. It reads under the tenant's role and holds no transaction
// while it waits. It must not know who asks: HTTP, a terminal and MCP stand above
// it.
//
// Start reading at tail.go.
package follow
