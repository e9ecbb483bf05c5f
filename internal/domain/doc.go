// Package domain is what an entity type is: its table and columns, and how a row is labelled, displayed, looked up and
// searched. It reads one YAML file with snippets (declaration.go) and the live catalog (catalog.go), and binds the one to
// the other (bind.go). The result, [Domain], is immutable. It must not know sessions, refs, turns or models; no domain has
// Go code. For tables that nobody may alter, source.go finds whose rows are, and views.go writes views of them, with the
// columns of conversions.go in another form. init.go guesses a first declaration, from names and from rows (init_read.go),
// and probe.go proves that users are kept apart. Start reading at domain.go; docs/domain.md is for those who write a
// declaration.
package domain
