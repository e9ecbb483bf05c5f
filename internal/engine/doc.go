// Package engine puts a worker together: prompts, tools and search around a domain, the runner of jobs, and the sweep
// that keeps search complete beside it.
//
// It owns what every worker has in common, whoever starts it: the program, a host program through package alfred, a
// trial of a suite. It must not know settings, nor where models come from. Start reading at engine.go.
package engine
