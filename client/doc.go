// Package client calls Alfred's HTTP API from Go. `make generate` writes client.gen.go, and the TypeScript types in
// typescript/, from openapi.json; problems as errors, waiting for a reply (client.go) and following a turn across
// broken connections (events.go) are written by hand. It must not import any other package of Alfred, because programs
// use it against other versions. Start reading at client.go.
package client
