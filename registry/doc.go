// Package registry is what a session knows: the names (refs) by which a model
// calls rows and drafts, their lifecycle, the content of unsaved drafts, and what
// the user wants kept in view or out of it.
//
// A Registry works inside a transaction that its caller opened and commits. It
// writes as the engine's role: what a model drives runs as the tenant, so callers
// collect results under the tenant's role and register them once afterwards.
// Reading (Lookup, Resolve, the input side of the translator) works under either
// role.
//
// It must not know tools, nodes, jobs or the domain's tables: whatever it needs
// from a domain row (labels, versions) it gets through a reader of the caller.
//
// Start reading at registry.go, then state.go (every transition of a ref),
// register.go, translate.go (out to models) and input.go (back from models).
package registry
