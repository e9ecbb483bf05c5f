// Package lexical is an embedder that needs no network, key or download: hashed
// words and character n-grams.
//
// It finds texts that share words, word stems or most of their letters ("chiken"
// is near "chicken"), not texts that only mean the same. It owns the features and
// their weights; a change of either changes the vectors and so must change the
// model's name. It must not know what the texts are. Start reading at lexical.go.
package lexical
