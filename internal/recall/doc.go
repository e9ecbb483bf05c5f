// Package recall finds rows and past turns by their text: words ranked by rarity,
// names by their letters, embeddings by cosine, fused with measured weights in one
// statement, for one user.
//
// It must not know refs, tools or prompts: it returns keys, and its callers
// translate them. Embedding a text never happens inside a transaction; what a
// transaction changed is embedded afterwards by a background job, keyed by the
// hash of its text, so that nothing is embedded twice.
//
// Start reading at recall.go (the searcher), then embed.go.
package recall
