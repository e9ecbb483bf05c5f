package e2e_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/domain"
	"alfred/internal/llm"
	"alfred/internal/llm/lexical"
	"alfred/internal/llm/script"
	"alfred/internal/prompt"
	"alfred/internal/recall"
)

// deployments are conversations that begin under one declaration and continue under another. The second turn runs
// during the deployment; the others wait.
const deployments = `turns:
  - understand: {intent: read}
    think: {goal: g, decision: plan, steps: [{type: read, subdomain: recipes, description: Read the recipes}, {type: read, subdomain: tasks, description: Read the tasks},
      {type: generate, subdomain: tasks, description: Draft a task}]}
    reply: There.
    summarize: {response_summary: s}
  - understand: {intent: write}
    think: {goal: g, decision: plan, steps: [{type: read, subdomain: tasks, description: Read the tasks}, {type: write, subdomain: recipes, description: Rename the recipe, refs: [recipe_1]},
      {type: write, subdomain: shopping, description: Add milk}, {type: write, subdomain: tasks, description: Save the task, refs: [gen_task_1]}]}
    reply: Done.
    summarize: {response_summary: s}
  - understand: {intent: chat}
    think: {goal: g, decision: plan, steps: []}
    reply: You are welcome.
    summarize: {response_summary: s}
  - understand: {intent: read}
    think: {goal: g, decision: plan, steps: [{type: read, subdomain: recipes, description: Read the recipes}]}
    reply: There.
    summarize: {response_summary: s}
`

var stepCalls = map[[2]int]llm.ToolCall{
	{1, 1}: {Name: "db_read", Args: []byte(`{"table": "recipes"}`)},
	{1, 2}: {Name: "db_read", Args: []byte(`{"table": "tasks"}`)},
	{1, 3}: {Name: "generate", Args: []byte(`{"creates": [{"type": "task", "content": {"title": "Buy bread"}}]}`)},
	{2, 1}: {Name: "db_read", Args: []byte(`{"table": "tasks"}`)},
	{2, 2}: {Name: "db_update", Args: []byte(`{"table": "recipes", "filters": [{"field": "id", "op": "=", "value": "recipe_1"}], "data": {"name": "Renamed"}}`)},
	{2, 3}: {Name: "db_create", Args: []byte(`{"table": "shopping_list", "data": {"name": "milk"}}`)},
	{2, 4}: {Name: "db_create", Args: []byte(`{"table": "tasks", "from_ref": "gen_task_1"}`)},
	{4, 1}: {Name: "db_read", Args: []byte(`{"table": "recipes"}`)},
}

// withoutTasks and dishes are deployed in place of the kitchen: one type fewer, and one type renamed.
func withoutTasks(decl *domain.Declaration) {
	decl.Entities = slices.DeleteFunc(decl.Entities, func(e domain.EntityDecl) bool { return e.Type == "task" })
	decl.Subdomains = slices.DeleteFunc(decl.Subdomains, func(s domain.Subdomain) bool { return s.Name == "tasks" })
	decl.Offline = nil
}

func dishes(decl *domain.Declaration) {
	for i := range decl.Entities {
		if decl.Entities[i].Type == "recipe" {
			decl.Entities[i].Type = "dish"
		}
	}
	decl.Offline = nil
}

// redeploy stops the house's worker and starts one with another declaration. What the old one began continues once it
// ends.
func (h *house) redeploy(change func(*domain.Declaration), model llm.Model, goOn func()) {
	h.t.Helper()
	fsys, path := domain.Find("kitchen")
	decl, err := domain.Load(fsys, path)
	require.NoError(h.t, err)
	change(decl)
	d, err := domain.Bind(h.t.Context(), h.pool, decl)
	require.NoError(h.t, err)
	search, config := recall.New(d, lexical.Embedder{}), prompt.DefaultConfig()
	stopping := time.AfterFunc(300*time.Millisecond, goOn)
	defer stopping.Stop()
	h.stopWorker()
	h.jobs.Domain, h.jobs.Tools, h.jobs.Index = d, crud.New(d, search), recall.NewIndex(search, h.pool)
	h.jobs.Prompts = prompt.New(d, config)
	h.jobs.Models = func(string) llm.Model { return model }
	h.startWorker()
}

// K01: a type that is removed from the declaration, or renamed there, fails only the parts of waiting or running turns
// that need it, and is named; everything else is unaffected.
func TestK01TypesChangeBetweenTwoDeployments(t *testing.T) {
	t.Parallel()

	t.Run("RemovedWhileItActs", func(t *testing.T) {
		t.Parallel()
		deployedAt(t, "act", withoutTasks, "There is no table \"tasks\" any more", "read ok, write ok, write ok, write failed")
	})
	t.Run("RemovedWhileItReplies", func(t *testing.T) {
		t.Parallel()
		deployedAt(t, "reply", withoutTasks, "", "read ok, write ok, write ok, write ok")
	})
	t.Run("RenamedWhileItUnderstands", func(t *testing.T) {
		t.Parallel()
		deployedAt(t, "understand", dishes, "recipe_1 does not exist in this conversation", "read ok, write failed, write ok, write skipped")
	})
	t.Run("RenamedWhileItActs", func(t *testing.T) {
		t.Parallel()
		deployedAt(t, "act", dishes, "recipe_1 does not exist in this conversation", "read ok, write failed, write ok, write skipped")
	})
}

func deployedAt(t *testing.T, node string, change func(*domain.Declaration), missing, outcomes string) {
	t.Helper()
	played, err := script.Parse([]byte(deployments))
	require.NoError(t, err)
	model := &stepwise{Model: played, call: func(req *llm.Request) llm.ToolCall { return stepCalls[[2]int{req.Turn, req.Step}] }}
	m, reached, over := &moment{Model: model}, make(chan struct{}), make(chan struct{})
	h := openHouse(t, fixtures{model: func(*domain.Domain) llm.Model { return m }})
	c := h.resident("ada").talk()
	c.exec(`INSERT INTO kitchen.tasks (user_id, title) VALUES ($1, 'Water the plants')`)
	c.say("What is there?")
	m.at(2, node, 1, func() { close(reached); <-over })
	second := c.enqueue(message{"message": "Do all of it"})
	third, fourth := c.enqueue(message{"message": "Thanks"}), c.enqueue(message{"message": "What can I cook?"})
	<-reached
	h.redeploy(change, model, func() { close(over) })

	for _, made := range []*turn{second, third, fourth} {
		*made = *c.end(made)
		require.Equal(t, "succeeded", made.Status, "turn %d: %+v", made.Number, made.Error)
	}
	c.fact("milk", `SELECT name FROM kitchen.shopping_list WHERE user_id = $2 AND name = 'milk'`)
	said := func(number string) string {
		return c.one(`SELECT string_agg(concat_ws(' ', e.step, e.error_code, e.error_message), E'\n' ORDER BY e.step, e.call) FROM turn_step_results AS e JOIN turns AS t ON t.id = e.turn_id
			WHERE t.session_id = $1 AND t.number = ` + number + ` AND e.error_code IS NOT NULL`)
	}
	require.Empty(t, said("4"))
	require.Contains(t, said("2"), missing)
	require.Equal(t, outcomes, second.outcomes(), said("2"))
}
