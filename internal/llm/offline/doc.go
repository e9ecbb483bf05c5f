// Package offline is a language model without a network, a key or weights: deterministic rules over the nodes' inputs.
// It owns a small grammar of requests (list, show, find, add, change, delete, draft, save, plan, forget); all words for
// things come from the catalog and the declaration. It must not know Postgres, sessions, jobs or the wording of
// prompts: what a node sees arrives as nodes.Facts. Start reading at command.go, which turns a message into a command;
// then scene.go and selection.go resolve it, think.go plans, act.go calls tools and reply.go answers.
package offline
