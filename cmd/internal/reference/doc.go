// Package reference holds the documents to what they describe: docs/sql.md to the
// catalog's comments, the settings' table of docs/operations.md to package settings,
// and every package to a doc.go. All of it is tests; with -update, which `make generate`
// gives, they write the documents instead of comparing them.
package reference
