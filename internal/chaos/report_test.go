package chaos_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// rounds is how much `make chaos` asks for; 0 in the short form that `go test` runs.
func rounds() int {
	n, err := strconv.Atoi(os.Getenv("CHAOS"))
	if err != nil {
		return 0
	}

	return n
}

// reports are the lines of the tables in docs/chaos.md, by table.
type reports struct {
	mu    sync.Mutex
	lines map[string][]string
}

var theReports = reports{lines: map[string][]string{}}

// report adds a line to a table; the tests have verified its content.
func report(table, line string) {
	theReports.mu.Lock()
	defer theReports.mu.Unlock()
	theReports.lines[table] = append(theReports.lines[table], line)
}

var tables = []struct{ name, text string }{
	{"failpoints", `## A death at every statement

Two workers play a conversation of two turns, one of which reads and writes. One kills itself (SIGKILL) when it is about to send the n-th
statement of the decisions' load, run and commit, or has just had the answer to a COMMIT; the other continues. With CHAOS=4 or more this is
done for every n, otherwise for a part of them, a different one each day. Afterwards the database equals that of an undisturbed run, and no model answer was bought twice.

| fault | tried | differences | took |
|---|---|---|---|`},
	{"monkey", `## Everything at random

Four workers, one of them with a pool of two connections, an API and a Postgres that writes to disk. Sessions of five turns (reads, writes, a draft,
its saving with children, an update, a deletion) come through the API with idempotency keys, and are resent until accepted. Afterwards
every session equals an undisturbed one, row by row, except for ids and times.

| played | turns, writes, replies |
|---|---|`},
	{"streams", `## Readers

Two replicas of the API, four workers. What a reader has seen is compared with the events in the database.

| readers | events read | connected again | compared |
|---|---|---|---|`},
	{"limits", `## At the limits

| what | measured | turns |
|---|---|---|`},
	{"odd", `## Odd databases

Two workers and an API on a database that is not as one expects. Six sessions of five turns, with replies, writes and a draft; afterwards each holds what it
holds on a plain database.

| database | turns | outcome |
|---|---|---|`},
	{"moves", `## Users who move

Two databases and a directory, each on a server of its own, a worker for each database, an API for both. Users are moved there and back while they talk; their messages are resent
under their keys until accepted. Afterwards each conversation is in one database, and equals an undisturbed one. Paused is how long nothing was served, beyond the end of the
running turn, in moves during which nothing was killed. Moves are by either way in turn, while the user is served and with ` + "`--off`" + `; in the end no slot and no publication is left.

| moved | turns, writes, replies | paused |
|---|---|---|`},
	{"recovery", `## How long a turn stands still

24 sessions at work on two workers, each answer of the model taking 300 ms; one worker meets with an accident. Measured by the database's clock from the
accident to the moment at which another worker has fetched the interrupted decision. A stopped process is resumed later: nothing that it then does is committed.

| accident | interrupted turns | p50 | p95 | longest | limit of p95 |
|---|---|---|---|---|---|`},
	{"clocks", `## Wrong clocks

Written by ` + "`make chaos/clocks`" + `. The programs are built with a standard library whose wall clock is off; the database's is right, and so is the one that measures.
An overloaded model's server is asked again after 0.5, 1, 2 and 4 s at least; one that asks for pauses wants 3 s, then names a moment in 3 to 4 s; the deadline is 20 s.

| clocks | tried | measured |
|---|---|---|`},
	{"contention", `## Many clients, few sessions

Four workers. Meanwhile, a probe looks for a session with two running turns.

| what | turns | refused | deadlocks | two running turns |
|---|---|---|---|---|`},
	{"soak", `## All of it at once, for long

Written by ` + "`make soak`" + `: half an hour with a fixed seed, for a nightly job. In addition to the accidents above, there are readers of every stream, a person at the page, another
program that writes rows and renames a column, a user who fills the queue, and conversations that are forgotten while they run.

| length | conversations | accidents | beside them | outcome | a worker's memory at most |
|---|---|---|---|---|---|`},
}

// write updates the tables of docs/chaos.md that have lines; the others stay as measured.
func (r *reports) write(path string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	old, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("# What Alfred survives\n\nMeasured by `make chaos`, `make chaos/clocks` and `make soak`, which write this page. `go test ./internal/chaos` runs a part of it.\n")
	for _, table := range tables {
		switch lines := slices.Compact(r.lines[table.name]); {
		case len(lines) > 0:
			b.WriteString("\n" + table.text + "\n" + strings.Join(lines, "\n") + "\n\nMeasured on " + time.Now().UTC().Format(time.DateOnly) + ".\n")
		default:
			b.WriteString(section(string(old), table.text))
		}
	}

	return os.WriteFile(filepath.Clean(path), []byte(b.String()), 0o644)
}

// section is the part of a page below the heading that starts with text, "" if there is none.
func section(page, text string) string {
	heading, _, _ := strings.Cut(text, "\n")
	_, rest, found := strings.Cut(page, "\n"+heading+"\n")
	if !found {
		return ""
	}
	rest, _, _ = strings.Cut(rest, "\n## ")

	return "\n" + heading + "\n" + strings.TrimRight(rest, "\n") + "\n"
}
