// Package httpapi is Alfred over HTTP: sessions, turns, their events as server-sent events, the registry, the domain's
// rows, and the page. It owns routes and their JSON; package auth decides whom a request acts for, package problem maps
// errors to HTTP, and other protocols have packages of their own. Every read runs under the tenant's role. It must not
// know how jobs work: it enqueues turns and reads rows. Start reading at api.go, then turns.go, where a message enters,
// and events.go, where its events leave.
package httpapi
