// Package say words what code says itself, to people and to models: the reply and
// the summary if no model writes them, a row on one line, the outcome of a step. It
// claims no more than the rows of a view do.
//
// It must not know models, prompts, jobs, HTTP or SQL: everything is derived from a
// view.Scene.
//
// Start reading at reply.go (the reply and the summary without a model), then rows.go
// (rows in words) and past.go (turns in words).
package say
