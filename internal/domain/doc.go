// Package domain is what an entity type is: its table and columns, and how a row is labelled, displayed, looked up and
// searched. It reads one YAML file with snippets (declaration.go) and binds it to the live catalog (bind.go), from
// which it takes everything Postgres knows. The result, [Domain], is immutable. It must not know sessions, refs, turns
// or models; no domain has Go code. Start reading at domain.go; docs/domain.md is for those who write a declaration.
package domain
