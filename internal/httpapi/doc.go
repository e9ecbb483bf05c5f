// Package httpapi is Alfred over HTTP: sessions, turns, their events as
// server-sent events, the registry, the domain's rows, and the page at /.
//
// It owns routes and their JSON. Package auth decides whom a request acts for,
// package problem is the one place that maps errors to HTTP, and other protocols
// have packages of their own (openai, agui, mcpserver). It enqueues turns and
// reads rows; it never works a job. Every read runs as the tenant's role, so that
// row-level security decides what a user sees. It uses only the enqueueing half of
// package jobs, the rows for user interfaces of crud, and internal/preview for what
// a node would see.
//
// Start reading at api.go, then turns.go, where a message enters, and events.go,
// where its events leave.
package httpapi
