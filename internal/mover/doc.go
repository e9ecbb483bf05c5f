// Package mover moves a user from one database of Alfred to another: engine rows and rows of the domain, with nothing lost,
// doubled or altered whoever dies when. Each step is noted in the directory when it is done, and can be done again.
//
// The order is what keeps exactly one database serving the user: the source refuses first, then all rows have been brought and
// compared, then the directory gives the user to the target, then the target serves, and last the source forgets. Where the
// source can be followed, most rows are copied before it refuses, and only what has changed since is brought behind that.
//
// It must not know of sessions' meaning, prompts or jobs' kinds: what a table holds is its rows, and which tables there are
// the catalog says. Start reading at mover.go.
package mover
