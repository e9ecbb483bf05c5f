// Package offline is a language model without a network, a key or weights: rules
// that read the same prompt any model gets and answer in the same form.
//
// It owns a small grammar of requests (list, show, find, add, change, delete,
// draft, save, plan, forget) and nothing else: every word for a thing, a column
// value or a dish comes from the domain's declaration, so it serves a foreign
// domain too. It is deterministic, and says that it is rule-based when asked
// something beyond it.
//
// It must not know Postgres, sessions or turns, nor anything of a request that a
// provider would not send: the node is told from the schema's name and the tools.
//
// The way of a message: parse.go turns the prompt into facts, command.go the
// user's words into a command, understand.go and plan.go a command into curation
// and steps. A step's description is an op (op.go), a sentence fit for people
// that act.go reads back and turns into tool calls; reply.go words what was done.
package offline
