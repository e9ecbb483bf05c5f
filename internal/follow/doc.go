// Package follow shows one turn to clients waiting for it: its events in order as
// they are committed (Tail), the reply as text that only grows (Speech), and its
// result (Reader.Turn).
//
// It owns the order of reading: subscribe first, then look, so that nothing is
// missed in between. It reads under the tenant's role and holds no transaction while
// it waits. It must not know who asks: HTTP, a terminal and MCP are built on it.
//
// Start reading at tail.go.
package follow
