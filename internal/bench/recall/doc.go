// Command recall measures how well and how fast the past is found: vectors of users
// with few and many of them against exact search, a conversation of ten thousand
// turns, and what a search adds to a turn. It writes docs/recall.md.
//
// It works on a database that the caller has made and may lose:
//
//	createdb alfred_recall && go run ./internal/bench/recall -database postgres://.../alfred_recall -o docs/recall.md
//
// With -users 50,5000,100000,1000000 it wants half an hour of two idle CPUs and, in
// the address, options=-c%20maintenance_work_mem%3D3GB: the index of a million
// vectors of 256 dimensions is built in 2 GB, and many times slower in less.
//
// It must not be imported. Start reading at main.go.
package main
