// Package program is what both commands share besides their settings: running a command line, opening the database,
// printing and the version. It must not know any particular command. Start reading at [Run].
package program
