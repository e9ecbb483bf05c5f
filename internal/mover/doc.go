// Package mover moves a user from one database of Alfred to another: the engine's rows and the domain's, with nothing
// lost, doubled or altered, whatever dies in between. Each step is recorded in the directory and can be repeated. At
// most one database serves the user: the source refuses, the rows are copied and compared, the directory switches, the
// target serves, and the source forgets. It must not know what sessions, prompts or jobs mean: the catalog says which
// tables move. Start reading at mover.go.
package mover
