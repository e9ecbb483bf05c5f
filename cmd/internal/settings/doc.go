// Package settings owns the configuration of both programs: each setting is one line of the table in table.go, from
// which parsing, `doctor --config`, --help and the table in docs/operations.md derive. To add a setting, add a field to
// [Settings] and a line to the table, then run `make generate`. Other packages get their own Config and must not read
// the environment.
package settings
