// Package llm is the interface to language models and embedders: the request and response that every provider
// translates, the typed errors that callers act on, and the prices. Each provider has a package below it, and so have
// the models without a network: offline, script and lexical. Package provider chooses among them. It must not know
// turns, refs, SQL or River, and imports no provider: a request is text, tools and a schema. Start reading at model.go.
package llm
