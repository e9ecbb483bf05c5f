// Package auth determines whom a request acts for, whether it may, and whether it
// does so too often: API keys, tokens of an identity provider, budgets per caller.
//
// It must not know routes, protocols or what is requested: it gets the value of an
// Authorization header and an HTTP method, and answers with a [Caller] or a typed
// error, which each protocol words in its own way.
//
// Start reading at gate.go.
package auth
