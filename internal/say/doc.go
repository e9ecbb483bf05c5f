// Package say writes the texts that code writes itself: the reply and the summary if no model does, a row on one line,
// the outcome of a step. It claims no more than the rows of a view do. It must not know models, prompts, jobs, HTTP or
// SQL: everything derives from a view.Scene. Start reading at reply.go, then rows.go (rows in words) and past.go (turns
// in words).
package say
