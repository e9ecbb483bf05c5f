// Package program is what Alfred's commands share besides their settings: running a command line, opening the database,
// printing, and the version. It knows no command; start reading at [Run].
package program
