// Package nodes holds the six decisions of a turn: understand, think, act, reply, summarize and compress. A node is a
// pure function of its Input: it renders a prompt (prompts/*.md), asks an llm.Model, decodes the answer strictly,
// checks it against the Input's facts, and lets the model repair it up to twice. It must not know Postgres, River, row
// identifiers or where its Input comes from: package prompt builds Inputs, package jobs commits Outputs. Start reading
// at input.go, then one node, such as think.go.
package nodes
