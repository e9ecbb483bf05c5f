// Package llm is the interface to language models and embedders.
//
// It owns the request and response that every provider translates, the typed errors
// that callers act on, the prices, and one sub-package per provider: openai (any
// server that speaks Chat Completions), anthropic, gemini, offline (a rule-based
// model without a network, the default), script (plays a YAML file, for tests and
// demos) and lexical (an embedder without a network). Package internal/llm/provider chooses
// among them by configuration; wire is shared by those that speak HTTP; wiretest and
// cassette are for their tests.
//
// It must not know about turns, refs, SQL or River: a request is plain text,
// tools and a schema. It imports none of its sub-packages. Start reading at
// model.go.
package llm
