// Package cassette records a provider's HTTP exchanges in a file and replays them, so tests see a server's real answers
// without a network or a key. On replay, requests must equal the recorded ones in method, path, body and order, and the
// file must be used up. Recording (`make cassettes`) never writes keys. It is only for tests and must not know any
// provider. Start reading at cassette.go.
package cassette
