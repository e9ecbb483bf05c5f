// Package cassette records HTTP exchanges with a provider in a file and replays
// them, so that a provider is tested against what its server really says without a
// network or a key.
//
// A test names a cassette and gets an HTTP client. Replaying, a request must equal
// the recorded one in method, path and body, in order, and the file must be used
// up. Recording (make cassettes, with keys in the environment) asks the real servers
// and overwrites the files. Neither keys nor headers but a few harmless ones
// are written.
//
// It is for tests only and must not know any provider. Start reading at
// cassette.go.
package cassette
