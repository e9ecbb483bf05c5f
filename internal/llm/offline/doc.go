// Package offline is a language model without a network, a key or weights: deterministic rules over the nodes' inputs.
// It owns a small grammar of requests (list, show, find, add, change, delete, draft, save, plan, forget); all words for
// things come from the catalog and the declaration. It must not know Postgres, sessions, jobs or the wording of
// prompts: what a node sees arrives as nodes.Facts. Start reading at rules.go, the table of sentences; command.go applies
// it to a message, scene.go and selection.go find what is meant, and plan.go says which calls that takes. Nothing is
// remembered between the nodes: Act plans again, with what it knows by then.
package offline
