// Package registry is what a session knows: the refs by which a model calls rows and drafts, their lifecycle, the
// content of drafts, and what the user wants kept in view or out of it. A Registry works inside its caller's
// transaction. It writes as the engine's role, so callers collect results under the tenant's role and register them
// once afterwards. It must not know tools, nodes, jobs or the domain's tables. Start reading at registry.go, then
// state.go (every transition of a ref), register.go, translate.go (out to models) and input.go (back from models).
package registry
