// Command demo plays the conversation of package tour against a running API and prints each reply with the rows it
// left. `make demo` calls it. It reads ALFRED_URL and DATABASE_URL; its exit status says whether every fact holds.
package main
