// Package alfred lets a Go program hold conversations over its own rows.
//
// It owns the way in for host programs: [Open] a database and work its turns ([Worker] takes a program's own types, model
// and embedder), enqueue a turn in the program's own transaction ([StartSession], [Enqueue], [Cancel]), and follow it
// ([Assistant.Follow], [Assistant.Wait]). Whatever is not named here may change.
//
// It must not decide anything: jobs, follow and the packages below them do. Start reading at alfred.go; examples/embed is
// a whole program.
package alfred
