// Package alfred lets a Go program hold conversations over its own rows. It is the public API for Go: [Open] a database
// and work its turns ([Worker] takes the program's own types, model and embedder), enqueue a turn in the program's own
// transaction ([StartSession], [Enqueue], [Cancel]), and follow it ([Assistant.Follow], [Assistant.Wait]). Anything not
// exported here may change. It must not decide anything: package jobs and the packages below it do. Start reading at
// alfred.go; examples/embed is a complete program.
package alfred
