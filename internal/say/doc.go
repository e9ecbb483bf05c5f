// Package say words what code says itself, for people and for models: the reply and
// the summary when no model makes them, a row in a line, what came of a step. It
// claims no more than the rows of a view do.
//
// It must not know models, prompts, jobs, HTTP or SQL: everything is made of a
// view.Scene.
//
// Start reading at reply.go (the reply and the summary without a model), then rows.go
// (rows in words) and past.go (turns in words).
package say
