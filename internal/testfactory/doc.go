// Package testfactory creates rows for tests, with defaults for everything the test does not care about, and declares
// schemas as init does. Its functions fail the test themselves and return what they created. It knows the engine's
// tables, and must not know what runs on them. Start reading at testfactory.go.
package testfactory
