// Package reference checks the documents against what they describe: docs/sql.md
// against the catalog's comments, the settings table of docs/operations.md against
// package settings, every package for a doc.go, and every command in README.md,
// AGENTS.md and docs/ by running it. All of it is tests.
//
// With -update, as in `make generate`, generated documents are written instead of
// compared.
//
// Commands are fenced blocks of sh and sql; commands_test.go runs them in order, in a
// database that contains the README's conversation, against one worker and one API.
// In sql, :session and :turn are that conversation and its last turn; a block without
// a language right after one is its output. Lines that call make are not run: their
// targets must exist, and continuous integration runs them. A block that cannot run on
// every machine follows a comment with the reason:
//
//	<!-- not run: needs a key -->
//
// and one about migrating runs on its own database after
//
//	<!-- run on an empty database -->
package reference
