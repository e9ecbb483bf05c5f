// Package recall finds a user's rows and past turns by their text: words ranked by rarity, names by their letters and
// embeddings by cosine, fused in one statement. Embedding never happens inside a transaction: a background job embeds
// what a transaction changed, keyed by the text's hash, so nothing is embedded twice. It must not know refs, tools or
// prompts: it returns keys, and callers translate them. Start reading at recall.go, then embed.go.
package recall
