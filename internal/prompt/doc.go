// Package prompt decides what each node sees: it shapes a view into the sections of a prompt, within a token budget,
// and returns the Input types of package nodes. Every function is pure. It must not know SQL, models, jobs or HTTP.
// Start reading at sections.go (the table of sections, which docs/prompts.md lists), then prompt.go (one function per
// node) and frame.go (how sections become a prompt).
package prompt
