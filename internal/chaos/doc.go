// Package chaos kills everything that can be killed while conversations run, and compares the rows with those of an
// undisturbed run. Its tests start their own Postgres, which writes to disk, and real processes. `go test` runs a part;
// `make chaos`, `make chaos/clocks`, `make chaos/move` and `make soak` run everything and write docs/chaos.md. It must
// not use the internals of package jobs: it observes a process only through rows. Start reading at lab_test.go, then
// failpoint_test.go or monkey_test.go.
package chaos
