// Command recall measures how well and how fast the past is found: vectors of users
// with few and many of them against exact search, a conversation of ten thousand
// turns, and what a search adds to a turn. It writes docs/recall.md.
//
// It works on a database of its own. With -users 50,5000,100000,1000000 it wants half an hour of two idle CPUs and 3 GB.
//
// It must not be imported. Start reading at main.go.
package main
