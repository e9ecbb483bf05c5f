// Command demo holds the conversation of package tour with a running API, and prints each reply with the rows it left;
// `make demo` calls it. It reads ALFRED_URL and DATABASE_URL, and its exit status says whether every fact holds. It
// must not know how a turn is worked. Start reading at main.go.
package main
