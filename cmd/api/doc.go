// Command api serves the HTTP API and the page (`api serve`) and the Model Context
// Protocol on standard input and output (`api mcp`), and manages keys (`api keys`).
// It enqueues turns and reads rows; the worker does the work.
//
// Its settings are those of package settings; `api serve --help` lists them. It parses
// flags and calls the packages that do the work; nothing imports it. Start reading at
// main.go, then serve.go.
package main
