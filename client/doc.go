// Package client calls Alfred's HTTP API from Go.
//
// client.gen.go and typescript/dist/api.d.ts (the same types for TypeScript) are
// generated from openapi.json, which is what the API says of itself; `make generate`
// writes all three, and compiles typescript/, the npm package that stands on the
// last. Written by hand is what no description can say: that problems are errors
// and how to wait for a reply (client.go), and how to follow what happens until
// then, over connections that break (events.go).
//
// It must not import any other package of Alfred: programs use it against an
// Alfred of another version. Start reading at client.go.
package client
