// Package preview shows what a node of a session's coming turn would see.
//
// It must not know jobs or HTTP, and it writes nothing: it takes one transaction of
// the caller's and only reads.
//
// Start reading at preview.go.
package preview
