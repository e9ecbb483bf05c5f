// Package auth determines whom a request acts for, and whether it may: API keys, tokens of an identity provider, rate
// limits per caller. It gets the value of an Authorization header and an HTTP method, and returns a [Caller] or a typed
// error, which each protocol words in its own way. It must not know routes, protocols or what is requested. Start
// reading at gate.go.
package auth
