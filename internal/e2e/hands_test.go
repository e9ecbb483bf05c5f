package e2e_test

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/domain"
	"alfred/llm"
	"alfred/llm/script"
)

// moment runs something once, when a node is asked for the nth time.
type moment struct {
	llm.Model

	mu   sync.Mutex
	node string
	turn int
	then func()
}

func (m *moment) at(turn int, node string, then func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turn, m.node, m.then = turn, node, then
}

func (m *moment) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	m.mu.Lock()
	then := m.then
	if req.Turn == m.turn && req.Node == m.node {
		m.then = nil
	} else {
		then = nil
	}
	m.mu.Unlock()
	if then != nil {
		then()
	}

	return m.Model.Generate(ctx, req)
}

const twoHands = `turns:
  - understand: {intent: read}
    think: {goal: g, decision: plan, steps: [{type: read, subdomain: inventory, description: Read the inventory}, {type: generate, subdomain: recipes, description: Draft}]}
    act: [{calls: [{tool: db_read, args: {table: inventory}}, {tool: step_complete, args: {summary: read}}]},
      {calls: [{tool: generate, args: {creates: [{type: recipe, content: {name: Toast, servings: 1}}]}}, {tool: step_complete, args: {summary: drafted}}]}]
    reply: There.
    summarize: {response_summary: s}
  - understand: {intent: write}
    think: {goal: g, decision: plan, steps: [{type: write, subdomain: inventory, description: "Set the amount", refs: [inv_1]}, {type: generate, subdomain: recipes, description: Change the draft, refs: [gen_recipe_1]}]}
    act: [{calls: [{tool: db_update, args: {table: inventory, filters: [{field: id, op: "=", value: inv_1}], data: {quantity: 2}}}]},
      {calls: [{tool: step_complete, args: {summary: done}}]},
      {calls: [{tool: generate, args: {updates: [{ref: gen_recipe_1, content: {servings: 2}}]}}]},
      {calls: [{tool: step_complete, args: {summary: done}}]}]
    reply: Done.
    summarize: {response_summary: s}
`

// K03: a person at the page, another program and another conversation write the same row, and the person the same
// draft, at each moment of a turn. The turn does not overwrite what it has not seen; whoever writes last has seen what
// was there before.
func TestK03TwoHandsOnOneThing(t *testing.T) {
	t.Parallel()

	for _, node := range []string{"understand", "act", "reply"} {
		for name, write := range map[string]func(*talk){
			"Page": func(c *talk) {
				require.Equal(c.t, http.StatusOK, c.call(http.MethodPatch, "/v1/data/inv/"+c.firstItem()+"?session="+c.session.String(), map[string]any{"quantity": 77}, nil))
			},
			"AnotherConversation": func(c *talk) {
				require.Equal(c.t, http.StatusOK, c.call(http.MethodPatch, "/v1/data/inv/"+c.firstItem()+"?session="+c.talk().session.String(), map[string]any{"quantity": 77}, nil))
			},
			"AnotherProgram": func(c *talk) {
				c.exec(`UPDATE kitchen.inventory SET quantity = 77 WHERE id::text = '` + c.firstItem() + `' AND user_id = $1`)
			},
		} {
			t.Run(node+"/"+name, func(t *testing.T) {
				t.Parallel()
				twoHandsAt(t, node, write)
			})
		}
	}
}

// firstItem is the key of inv_1.
func (c *talk) firstItem() string {
	return c.one(`SELECT entity_id FROM entity_refs WHERE session_id = $1 AND ref = 'inv_1'`)
}

func twoHandsAt(t *testing.T, node string, write func(*talk)) {
	t.Helper()

	played, err := script.Parse([]byte(twoHands))
	require.NoError(t, err)
	m := &moment{Model: played}
	c := openHouse(t, fixtures{model: func(*domain.Domain) llm.Model { return m }}).resident("ada").talk()
	c.say("What is there?")
	m.at(2, node, func() {
		write(c)
		require.Equal(t, http.StatusOK, c.call(http.MethodPatch, c.path("/artifacts/gen_recipe_1"), map[string]any{"content": map[string]any{"name": "Toast", "servings": 66}}, nil))
	})
	c.say("Two of the first, please")

	c.fact("77", `SELECT trim_scale(quantity)::text FROM kitchen.inventory WHERE id::text = '`+c.firstItem()+`'`)
	newest := `SELECT content ->> 'servings' FROM artifacts WHERE session_id = $1 AND ref = 'gen_recipe_1' ORDER BY version DESC LIMIT 1`
	if node == "reply" {
		c.fact("66", newest)
		return
	}
	require.Contains(t, c.prompt(2, "act", 2), "(77 ", "the model is shown what there is now")
	c.fact("2", newest)
	require.Contains(t, c.prompt(2, "act", 3), `"servings":66`, "the draft was seen as the person left it before the model changed it")
}
