// Command worker runs Alfred's jobs (`worker run`) and contains the operator's commands, one file each. It parses flags
// and settings and calls the packages that do the work; nothing imports it. Start reading at run in main.go, which the
// tests call too.
package main
