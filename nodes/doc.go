// Package nodes holds the six decisions of a turn: understand, think, act,
// reply, summarize and compress.
//
// A node is a pure function of its Input: it renders a prompt (prompts/*.md),
// asks an llm.Model, decodes the answer strictly, checks it against the facts in
// the Input and asks again, once or twice, if a model can repair it. It owns each
// node's output contract, the tools a step may use and the wording of the prompts.
//
// It must not know Postgres, River, row identifiers or where its Input came from:
// package internal/prompt builds Inputs, package jobs commits Outputs. Start
// reading at input.go, then one node, say think.go.
package nodes
