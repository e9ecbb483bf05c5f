// Package follow shows one turn to clients that wait for it: its events in order as they are committed (Reader.Events), the
// reply as text that only grows (Speech), and its result (Reader.Turn). It subscribes before it reads, so it misses
// nothing, and holds no transaction while it waits. It must not know who waits: HTTP, the terminal and MCP are built on
// it. Start reading at tail.go.
package follow
