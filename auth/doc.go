// Package auth says who a request acts for, whether it may, and whether it does so
// too often: API keys, tokens of an identity provider, budgets per caller.
//
// It must not know of routes, protocols or what is asked for: it gets the value of
// an Authorization header and an HTTP method, and answers with a [Caller] or a typed
// error, which whoever serves words in its own way.
//
// Start reading at gate.go.
package auth
