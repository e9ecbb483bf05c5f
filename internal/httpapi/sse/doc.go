// Package sse writes server-sent events to one client.
//
// It must not know what events say, nor where they come from.
//
// Start reading at [Writer].
package sse
