// Package settings owns the configuration of Alfred's programs: every setting is one
// line of the table in table.go, with its name, default, format and meaning. Reading the
// environment, `doctor --config`, --help and the table in docs/operations.md all derive
// from it.
//
// To add a setting, give [Settings] a field and the table a line, then run
// `make generate`. Other packages get their own small Config and never see the
// environment.
package settings
