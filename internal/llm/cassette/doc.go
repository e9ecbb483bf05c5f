// Package cassette records HTTP exchanges with a provider in a file and replays
// them, so that a provider is tested against its server's real answers without a
// network or a key.
//
// A test names a cassette and gets an HTTP client. On replay, a request must equal
// the recorded one in method, path and body, in order, and the file must be used
// up. Recording (make cassettes, with keys in the environment) calls the real servers
// and overwrites the files. Keys are never written, and only a few harmless headers
// are.
//
// It is only for tests and must not know any provider. Start reading at
// cassette.go.
package cassette
