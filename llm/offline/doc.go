// Package offline is a language model without a network, a key or weights: rules
// over the typed inputs of Alfred's nodes.
//
// It owns a small grammar of requests (list, show, find, add, change, delete,
// draft, save, plan, forget) and nothing else: every word for a thing, a column's
// value or a dish comes from the catalog and the declaration, so it serves a
// foreign domain too. It is deterministic, and says that it is rule-based when it
// is asked something beyond it.
//
// It must not know Postgres, sessions or jobs, nor the wording of prompts: what a
// node sees reaches it as nodes.Facts with the request.
//
// The way of a message: command.go turns the user's words into a command by the
// rules of rules.go and looks.go, scene.go finds what they mean among what is
// known, understand.go and think.go make curation and steps of it. A step carries
// its operation (op.go), which act.go turns into tool calls; reply.go words what
// the results say.
package offline
