// Command worker runs Alfred's jobs and contains the operator's commands, one file each: migrate.go and its neighbours.
//
// It parses flags and environment and calls the packages that do the work; nothing imports it. Start reading at run in
// main.go, which the tests call too.
package main
