// Package preview shows what a node of a session's coming turn would see.
//
// It must not know jobs or HTTP, and it only reads, in the caller's transaction.
//
// Start reading at preview.go.
package preview
