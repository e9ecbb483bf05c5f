// Package domain is what an entity type is: which table it stands for, which
// columns it has, how a row is labelled, displayed, looked up and searched.
//
// A domain is declared in one YAML file and a few prompt snippets, and bound to
// the live catalog at start: everything Postgres knows (columns, types,
// nullability, keys, foreign keys, enums, CHECK lists, comments) is read from
// there and never declared twice. No domain has Go code; internal/domain/kitchen is YAML
// and text only.
//
// It must not know sessions, refs, turns or models. Start reading at domain.go
// (what the rest of the program sees), then declaration.go (the YAML), then
// bind.go (declaration + catalog = Domain). The other files are template.go
// (labels and display lines), normalise.go (words to entities), describe.go (a
// table in a prompt), offline.go (words for the rule-based model), init.go (a
// first declaration of an existing schema) and views*.go (views over one).
// docs/domain.md is for those who write a declaration.
package domain
