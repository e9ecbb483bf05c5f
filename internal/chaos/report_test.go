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

// rounds is the number of rounds that `make chaos` runs; 0 in the short form that `go test` runs.
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

Two workers work a conversation of two turns, one of which reads and writes. One worker kills itself (SIGKILL) just before it sends the n-th
statement of a decision's load, run and commit, or just after the answer to a COMMIT; the other continues. CHAOS=4 or more tries every n; otherwise
a different part is tried each day. Afterwards the database equals that of an undisturbed run, and no model answer was bought twice.

| fault | tried | differences | took |
|---|---|---|---|`},
	{"monkey", `## Everything at random

Four workers, one of them with a pool of two connections, an API, and a Postgres that writes to disk. Sessions of five turns (reads, writes, drafting,
saving with children, an update, a deletion) arrive through the API with idempotency keys and are resent until accepted. Afterwards
every session equals an undisturbed one, row by row, except for ids and times.

| played | turns, writes, replies |
|---|---|`},
	{"streams", `## Readers

Two replicas of the API and four workers. The events each reader received are compared with those in the database.

| readers | events read | reconnects | compared |
|---|---|---|---|`},
	{"limits", `## At the limits

| what | measured | turns |
|---|---|---|`},
	{"odd", `## Unusual databases

Two workers and an API on a database with unusual settings or faults. Six sessions of five turns, with replies, writes and a draft. Afterwards each session equals
the same one on a plain database.

| database | turns | outcome |
|---|---|---|`},
	{"moves", `## Users who move

Two databases and a directory, each on its own server, a worker for each database, and an API for both. Users are moved back and forth while they talk; their messages are resent
with the same keys until accepted. Moves alternate between the two ways, while the user is served and with ` + "`--off`" + `. Afterwards each conversation is in one database and equals an undisturbed one, and no slot and no
publication is left. The pause is how long nothing was served after the running turn ended, in moves during which nothing was killed.

| moved | turns, writes, replies | pause |
|---|---|---|`},
	{"recovery", `## How long a turn stands still

24 sessions run on two workers, with model answers of 300 ms, when one worker fails. The database's clock measures the time from the
fault until another worker has fetched the interrupted decision. A stopped process is resumed later; nothing it then does is committed.

| fault | interrupted turns | p50 | p95 | longest | limit for p95 |
|---|---|---|---|---|---|`},
	{"clocks", `## Wrong clocks

Written by ` + "`make chaos/clocks`" + `. The programs are built with a standard library whose wall clock is wrong. The clocks of the database and of the measurement are right.
An overloaded model server must be retried after at least 0.5, 1, 2 and 4 s. One that asks for pauses wants 3 s, then names a time 3 to 4 s ahead. The turn's deadline is 20 s.

| clocks | tried | measured |
|---|---|---|`},
	{"contention", `## Many clients, few sessions

Four workers, while a probe looks for a session with two running turns.

| what | turns | refused | deadlocks | two running turns |
|---|---|---|---|---|`},
	{"soak", `## Everything at once, for half an hour

Written by ` + "`make soak`" + `: half an hour with a fixed seed, for a nightly job. Besides the faults above there are readers of every stream, a person at the page, another
program that writes rows and renames a column, a user who fills the queue, and conversations that are forgotten while they run.

| length | conversations | faults | meanwhile | outcome | a worker's peak memory |
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
	b.WriteString("# What Alfred survives\n\nNo turn, write or reply was lost or doubled in any of these tests. A few model answers were bought twice, by workers that died while one was on its way.\n\n`make chaos`, `make chaos/clocks`, `make chaos/move` and `make soak` measure this and write this page. `go test ./internal/chaos` runs a part of it.\n")
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
