// Package chaos kills whatever can be killed while conversations run, and compares
// what they leave in the database with an undisturbed run: each turn once, each write
// once, each reply once, in order.
//
// Its tests start their own Postgres that writes to disk, and real processes.
// Failpoints end a worker at every statement of every decision, one after the
// other (failpoint_test.go); the monkey kills, stops and disconnects at random
// (monkey_test.go, network_test.go); recovery is timed (recovery_test.go); many
// clients contend for few sessions (contention_test.go); readers lose their
// sockets (streams_test.go); a new version joins (deploy_test.go); resources
// run out (limits_test.go); and clocks are wrong (clocks_test.go).
//
// `go test` runs a part of it. `make chaos` runs all but `make chaos/clocks` and `make soak`, and writes docs/chaos.md.
//
// It must not use package jobs's internals: what a process does is observed only in
// its rows. Start reading at lab_test.go.
package chaos
