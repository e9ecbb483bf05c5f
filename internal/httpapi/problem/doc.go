// Package problem is how the API refuses: problem JSON with stable codes, and the one map from our errors to HTTP
// ([Of]). [Note] keeps the cause for the log, because the caller must not learn it. It must not know routes, or what
// another protocol calls an error. Start reading at [Of].
package problem
