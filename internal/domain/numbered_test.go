package domain_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
)

// ranked has states that only programs have words for, as those of Rails, Django, Laravel, Hibernate and Entity Framework keep them.
const ranked = `CREATE SCHEMA ranked; CREATE TABLE ranked.users (id integer PRIMARY KEY, name text NOT NULL);
	CREATE TABLE ranked.jobs (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, user_id integer NOT NULL REFERENCES ranked.users, title text NOT NULL,
		status smallint NOT NULL DEFAULT 0 CHECK (status < 9), priority bigint, role integer, visits_status integer);
	COMMENT ON COLUMN ranked.jobs.role IS '0 is guest, 1 is host';
	INSERT INTO ranked.users VALUES (1, 'Ada'), (2, 'Eve');
	INSERT INTO ranked.jobs (user_id, title, status, priority, visits_status) SELECT 1, 'Job ' || i, i % 3, 10 * (i % 2), i FROM generate_series(1, 30) AS i;
	INSERT INTO ranked.jobs (user_id, title, status) VALUES (1, 'Odd', 7)`

// Views show the words that a declaration has for numbers, and take words for them: whoever wrote a state had to know its number.
func TestWordsOfNumbers(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, ranked)
	d := attached(t, tx, "ranked", "\n  - type: job\n", `
  - type: job
    words: {status: {0: open, 1: "in progress", 2: "it's done"}, priority: {10: high, 0: low}}
    writes: [create, update, delete]
    columns: [title, status, priority]
`)
	require.Contains(t, d.Text, "    # unsure: these numbers may stand for words of your programs, which models know by a comment of the column, or where views show them\n"+
		"    # instead: words: {status: {0: \"...\", 1: \"...\", 2: \"...\", 7: \"...\"}, priority: {0: \"...\", 10: \"...\"}}\n")
	job := d.ByType("job")
	require.Equal(t, []string{"open", "in progress", "it's done"}, job.Column("status").Enum)
	require.Equal(t, []string{"low", "high"}, job.Column("priority").Enum, "in the order of the numbers")
	require.Contains(t, job.Describe(), "- status: text, one of open | in progress | it's done\n")
	require.False(t, job.Column("status").Nullable)
	require.True(t, job.Column("priority").Nullable)

	seen := `SELECT string_agg(concat_ws(' ', title, status, priority), ', ' ORDER BY id) FROM ranked_alfred.jobs WHERE title IN ('Job 1', 'Odd', 'New')`
	require.Equal(t, "Job 1 in progress high, Odd 7", as(t, tx, adaID, seen))
	exec(t, tx, `SELECT set_config('role', 'alfred_tenant', true), set_config('alfred.user_id', '`+adaID+`', true);
		INSERT INTO ranked_alfred.jobs (title, priority) VALUES ('New', 'low');
		UPDATE ranked_alfred.jobs SET status = 'it''s done', priority = NULL WHERE title = 'Job 1'; UPDATE ranked_alfred.jobs SET priority = 'high' WHERE title = 'Odd';
		RESET ROLE`)
	require.Equal(t, "Job 1 it's done, Odd 7 high, New open low", as(t, tx, adaID, seen))
	exec(t, tx, `DO $$ BEGIN ASSERT (SELECT string_agg(concat_ws(' ', title, status, priority), ', ' ORDER BY id) FROM ranked.jobs WHERE title IN ('Job 1', 'Odd', 'New')) = 'Job 1 2, Odd 7 10, New 0 0', 'as programs write them'; END $$`)

	for field, why := range map[string]string{
		`{state: {0: open}}`:           "job: words: column state does not exist in jobs",
		`{title: {0: open}}`:           "job: words: title is no whole number",
		`{status: {0: open, 1: open}}`: "job: words: each number of status needs a word of its own",
		`{status: {0: ""}}`:            "job: words: each number of status needs a word of its own",
	} {
		text := strings.Replace(d.Text, "\n  - type: job\n", "\n  - type: job\n    words: "+field+"\n", 1)
		require.ErrorContains(t, refusedViews(t, tx, text), why)
	}
}
