// Package httpapi is Alfred over HTTP: sessions, turns, their events as
// server-sent events, the registry, the domain's rows, the protocols of others
// (OpenAI's, AG-UI, the Model Context Protocol), and the page at /.
//
// It owns routes, their JSON, and the one place that maps errors to HTTP
// (errors.go); who a request acts for is package auth's. It enqueues turns and
// reads rows; it never works a job. Every read runs as the tenant's role, so that
// row-level security decides what a user sees. Of package jobs it uses the
// enqueueing half alone, of crud the rows for user interfaces, of internal/preview
// what a node would see.
//
// Start reading at api.go, then turns.go: a message enters there, and
// events.go is the way back.
package httpapi
