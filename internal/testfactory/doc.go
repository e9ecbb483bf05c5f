// Package testfactory makes rows for tests, each with defaults for what the test
// does not care about. A function fails the test itself and returns what it made.
//
// It knows the engine's tables and nothing of what runs on them. Start reading
// at testfactory.go.
package testfactory
