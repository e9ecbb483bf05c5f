// Package sse writes server-sent events to one client. It must not know what the events say, or where they come from.
// Start reading at [Writer].
package sse
