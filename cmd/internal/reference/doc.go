// Command reference writes what the documents say about settings: the table in
// docs/operations.md, from package settings. `make generate` runs it from the
// project's root; a test compares.
package main
