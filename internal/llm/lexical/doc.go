// Package lexical is an embedder without a network, a key or a download: it hashes words and character n-grams. It
// finds texts that share words, stems or most of their letters ("chiken" is near "chicken"), but not texts that only
// mean the same. It owns the features and their weights; change the model's name with them, because the vectors change.
// It must not know what the texts are. Start reading at lexical.go.
package lexical
