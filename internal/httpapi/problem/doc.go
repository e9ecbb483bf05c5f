// Package problem is how the API says no: problem JSON with stable codes, and the
// one place that maps our errors to HTTP ([Of]).
//
// It keeps why a request failed for the log ([Note]), because the caller must not
// be told. It must not know routes, or what another protocol calls an error:
// package openai words its own from a [Problem].
//
// Start reading at [Of].
package problem
