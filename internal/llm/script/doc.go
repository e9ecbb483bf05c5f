// Package script is a model that plays a YAML file, for tests and demos. [Parse] describes the format. An entry is
// found from the request alone, so a process that takes over after a crash continues where the other stopped. It must
// not know what a node does with its answer. Start reading at script.go.
package script
