// Command api serves the HTTP API and the page (`api serve`) and manages the keys
// of both (`api keys`). It enqueues turns and reads rows; the worker does the work.
//
// Settings come from the environment (settings.go); `api serve --help` lists them.
package main
