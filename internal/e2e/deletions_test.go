package e2e_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/llm/script"
	"alfred/internal/testfactory"
)

// A plan that deletes rows and those that name them begins with the latter, whether one step deletes both or two: the database would
// refuse it as it was written, or have taken them along.
func TestDeletionsBeginWithWhatNamesTheRows(t *testing.T) {
	t.Parallel()
	c := talkIn(t, `CREATE SCHEMA works; CREATE TABLE works.users (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE works.projects (id integer PRIMARY KEY, user_id integer NOT NULL REFERENCES works.users, name text NOT NULL);
CREATE TABLE works.tasks (id integer PRIMARY KEY, user_id integer NOT NULL REFERENCES works.users, project_id integer NOT NULL REFERENCES works.projects, title text NOT NULL);
CREATE TABLE works.hours (id integer PRIMARY KEY, user_id integer NOT NULL REFERENCES works.users, task_id integer NOT NULL REFERENCES works.tasks ON DELETE CASCADE, note text NOT NULL);
INSERT INTO works.users VALUES (1, 'Ada');
INSERT INTO works.projects SELECT n, 1, 'Project ' || n FROM generate_series(1, 2) AS n;
INSERT INTO works.tasks SELECT n, 1, n, 'Task ' || n FROM generate_series(1, 2) AS n;
INSERT INTO works.hours SELECT n, 1, n, 'Hour ' || n FROM generate_series(1, 2) AS n`)
	d := testfactory.Views(t, c.pool, "works", strings.NewReplacer(
		"\n  - type: project\n", "\n  - type: project\n    writes: [delete]\n", "\n  - type: task\n", "\n  - type: task\n    writes: [delete]\n",
		"\n  - type: hour\n", "\n  - type: hour\n    writes: [delete]\n")).Domain
	c.exec(`INSERT INTO works_alfred.alfred_accounts VALUES ($1, 1)`)
	var calls [3]string
	for i, n := range []string{"1", "2"} {
		for _, row := range [][2]string{{"projects", "project_"}, {"tasks", "task_"}, {"hours", "hour_"}} {
			calls[i] += `{step: ` + string("123"[strings.Index("pth", row[0][:1])]) + `, tool: db_delete, table: ` + row[0] + `, filters: [{field: id, op: "=", value: ` + row[1] + n + `}]}, `
		}
	}
	step := func(subdomain string) string {
		return `{type: write, subdomain: ` + d.SubdomainOf(d.Entity(subdomain)).Name + `, description: "Delete ` + subdomain + `"}`
	}
	model, err := script.Parse([]byte(`
turns:
  - understand: {intent: read}
    think: {goal: Look, decision: plan, steps: [], calls: [{tool: db_read, table: projects, how: order by name}, {tool: db_read, table: tasks, how: order by title}, {tool: db_read, table: hours, how: order by note}]}
    reply: These.
  - understand: {intent: write}
    think: {goal: Delete, decision: plan, steps: [], calls: [` + calls[0] + `]}
    reply: Gone.
  - understand: {intent: write}
    think: {goal: Delete, decision: plan, steps: [` + step("projects") + `, ` + step("tasks") + `, ` + step("hours") + `], calls: [` + calls[1] + `]}
    reply: Gone.
`))
	require.NoError(t, err)
	c.work(d, model)
	c.ask("What is there?")
	c.ask("Delete Project 1, Task 1 and Hour 1")
	c.fact("2 2 2", `SELECT (SELECT string_agg(id::text, '') FROM works.projects) || ' ' || (SELECT string_agg(id::text, '') FROM works.tasks) || ' ' || (SELECT string_agg(id::text, '') FROM works.hours)`)
	c.ask("Delete Project 2, Task 2 and Hour 2")
	c.fact("0", `SELECT (SELECT count(*) FROM works.projects) + (SELECT count(*) FROM works.tasks) + (SELECT count(*) FROM works.hours)`)
}
