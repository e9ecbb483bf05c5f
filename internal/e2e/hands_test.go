package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/domain"
	"alfred/internal/llm"
	"alfred/internal/llm/script"
)

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

// instants are the moments of a turn at which somebody else may write: while its model works on each decision. The rest
// of the turn has seen that write, unless it was the last.
var instants = []struct {
	name  string
	node  string
	nth   int
	apart bool   // each decision has a call of its own
	item  string // what the row is in the end
	draft string // how many servings the draft is for in the end
	shown int    // the request of act that shows the item as it was left; 0: none
	drawn int    // the same for the draft
}{
	{"understand", "understand", 1, false, "77", "2", 2, 3},
	{"understand apart", "understand", 1, true, "77", "2", 2, 3},
	{"think apart", "think", 1, true, "77", "2", 2, 3},
	{"act", "act", 1, false, "77", "2", 2, 3},
	{"act, after the row was written", "act", 2, false, "77", "2", 0, 3},
	{"act, while the draft is written", "act", 3, false, "77", "66", 0, 4},
	{"act, after the draft was written", "act", 4, false, "77", "66", 0, 0},
	{"reply", "reply", 1, false, "77", "66", 0, 0},
	{"summarize", "summarize", 1, false, "77", "66", 0, 0},
}

// K03: a person at the page, another program and another conversation write the same row, and the person the same
// draft, at each moment of a turn. The turn does not overwrite what it has not seen; whoever writes last has seen what
// was there before.
func TestK03TwoHandsOnOneThing(t *testing.T) {
	t.Parallel()

	for i := range instants {
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
			t.Run(instants[i].name+"/"+name, func(t *testing.T) {
				t.Parallel()
				twoHandsAt(t, i, write)
			})
		}
	}
}

// firstItem is the key of inv_1.
func (c *talk) firstItem() string {
	return c.one(`SELECT entity_id FROM entity_refs WHERE session_id = $1 AND ref = 'inv_1'`)
}

func twoHandsAt(t *testing.T, at int, write func(*talk)) {
	t.Helper()

	instant := &instants[at]
	// A short turn is summarized without a model.
	played, err := script.Parse([]byte(strings.Replace(twoHands, "Done.", strings.Repeat("Done. ", 300), 1)))
	require.NoError(t, err)
	m := &moment{Model: played}
	c := openHouse(t, fixtures{apart: instant.apart, model: func(*domain.Domain) llm.Model { return m }}).resident("ada").talk()
	c.say("What is there?")
	reached := false
	m.at(2, instant.node, instant.nth, func() {
		reached = true
		write(c)
		require.Equal(t, http.StatusOK, c.call(http.MethodPatch, c.path("/artifacts/gen_recipe_1"), map[string]any{"content": map[string]any{"name": "Toast", "servings": 66}}, nil))
	})
	c.say("Two of the first, please")
	require.True(t, reached)

	c.fact(instant.item, `SELECT trim_scale(quantity)::text FROM kitchen.inventory WHERE id::text = '`+c.firstItem()+`'`)
	c.fact(instant.draft, `SELECT content ->> 'servings' FROM artifacts WHERE session_id = $1 AND ref = 'gen_recipe_1' ORDER BY version DESC LIMIT 1`)
	if instant.shown > 0 {
		require.Contains(t, c.prompt(2, "act", instant.shown), "(77 ", "the model is shown what there is now")
	}
	if instant.drawn > 0 {
		require.Contains(t, c.prompt(2, "act", instant.drawn), `"servings":66`, "the model is shown the draft as the person left it")
	}
}
