// Package reference holds the documents to what they describe: docs/sql.md to the
// catalog's comments, the settings' table of docs/operations.md to package settings,
// every package to a doc.go, and every command in README.md, AGENTS.md and docs/ to
// what it does. All of it is tests.
//
// With -update, which `make generate` gives, those of the two written documents write
// instead of comparing.
//
// Commands are fenced blocks of sh and sql; commands_test.go runs them in order, in a
// database where the README's conversation was held, against one worker and one API.
// In sql, :session and :turn are that conversation and its last turn; a block without
// a language right after one is its output. Lines that call make are not run: their
// targets must exist, and continuous integration runs them. A block that cannot run on
// any machine stands after a comment with the reason:
//
//	<!-- not run: needs a key -->
//
// and one about migrating runs on a database of its own after
//
//	<!-- run on an empty database -->
package reference
