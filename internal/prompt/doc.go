// Package prompt decides what each node sees: it shapes a view into the sections of
// a prompt, within a token budget, and returns them as the Input types of package
// nodes.
//
// It must not know SQL, models, jobs or HTTP: every function is pure.
//
// Start reading at sections.go (the table of what each node sees), then prompt.go (one
// function per node) and frame.go (how sections become a prompt). Each section has one
// function; docs/prompts.md lists them.
package prompt
