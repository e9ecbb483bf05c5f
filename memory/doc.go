// Package memory decides what each node sees. It loads the three layers of a
// conversation (entities, narrative, dialogue) and this turn's work, shapes them
// into the sections of a prompt within a token budget, and hands them on as the
// Input types of package nodes. Texts that code words itself, such as the reply
// when no model answers, are made here from the same facts.
//
// It must not know models, jobs or HTTP, and it writes nothing: every function
// takes one transaction of the caller's and only reads. Which refs are in view is
// decided by the SQL function entities_at and nowhere here.
//
// Start reading at memory.go (one function per node), then turn.go (what is
// loaded), then frame.go (how sections become a prompt). Each section has one
// function: understand.go, entities.go, drafts.go, data.go, conversation.go,
// narrative.go, session.go, task.go, schema.go, steps.go, results.go, saved.go,
// flow.go, history.go; docs/prompts.md lists them. clean.go and gate.go keep
// identifiers and hostile texts out, plain.go refs from the user.
package memory
