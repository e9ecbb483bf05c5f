// Command api serves the HTTP API and the page (`api serve`) and the Model Context Protocol on standard input and
// output (`api mcp`), and manages keys (`api keys`). It parses flags and calls the packages that do the work; it
// enqueues turns and reads rows, and never works a job. Start reading at main.go, then serve.go.
package main
