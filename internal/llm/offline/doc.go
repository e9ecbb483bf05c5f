// Package offline is a language model without a network, a key or weights: rules
// over the typed inputs of Alfred's nodes.
//
// It owns a small grammar of requests (list, show, find, add, change, delete,
// draft, save, plan, forget) and nothing else: every word for a thing, a column's
// value or a dish comes from the catalog and the declaration, so it also serves
// other domains. It is deterministic, and says that it is rule-based when asked for
// something beyond it.
//
// It must not know Postgres, sessions or jobs, nor the wording of prompts: what a
// node sees reaches it as nodes.Facts with the request.
//
// A message's path: command.go turns the user's words into a command by the rules of
// rules.go and looks.go, scene.go resolves what they mean, understand.go and think.go
// turn that into curation and steps. A step carries its operation (op.go), which
// act.go turns into tool calls; reply.go words the results.
package offline
