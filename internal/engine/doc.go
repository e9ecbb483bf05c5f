// Package engine assembles a worker for a domain: prompts, tools and search, the runner of jobs, and the sweep that
// keeps search complete. The worker program, package alfred and the trials of a suite all use it. It must not know
// settings, or where models come from. Start reading at engine.go.
package engine
