// Package preview shows what a node would see in a session's next turn. It only reads, in the caller's transaction, and
// must not know jobs or HTTP. Start reading at preview.go.
package preview
