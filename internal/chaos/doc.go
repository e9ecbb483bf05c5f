// Package chaos kills what can be killed while conversations run, and holds what
// they leave in the database to what an undisturbed run leaves: each turn once,
// each write once, each reply once, in order.
//
// Its tests start a Postgres of their own that writes to disk, and real processes.
// Failpoints end a worker at every statement of every decision, one after the
// other (failpoint_test.go); the monkey kills, stops and cuts off what it likes
// (monkey_test.go, network_test.go); recovery is timed (recovery_test.go); many
// clients contend for few sessions (contention_test.go); readers lose their
// sockets (streams_test.go); a new version joins (deploy_test.go); and what is
// scarce runs out (limits_test.go).
//
// `go test` tries a part of it. `make chaos` tries all and writes docs/chaos.md.
//
// It must not reach into package jobs: what a process does is seen in its rows
// alone. Start reading at lab_test.go.
package chaos
