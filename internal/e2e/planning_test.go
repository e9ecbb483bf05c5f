package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/internal/llm"
)

// planning are the messages of testdata/planning.yaml.
var planning = []string{
	"We are two, I am allergic to shellfish, and we like Thai and Indian",
	"My sister moves in: for three from now on, and dinners within 40 minutes",
	"Plan dinners for January 4 to 7: four, no cod, one vegetarian, and use up the eggs",
	"Three are enough, leave the ginger one out",
	"Save the curry",
	"Arrange them: the curry first, then Pad See Ew, then Butter Chicken",
	"Save that, put what is missing on the list, and note what I have to do before",
	"How do I make Tuesday's?",
}

// A plan over eight turns: its result, and its maximum cost, repairs included.
func TestPlanningConversation(t *testing.T) {
	t.Parallel()
	if *everyApart {
		t.Skip("its costs are those of one call for both")
	}
	yaml, err := os.ReadFile("testdata/planning.yaml")
	require.NoError(t, err)
	c := converse(t, string(yaml))
	for _, message := range planning {
		c.say(message)
		c.settle() // a later compression would leave longer prompts
	}
	c.fact("3 {shellfish} 40", `SELECT concat_ws(' ', household_adults, allergies, time_budget_minutes) FROM kitchen.preferences WHERE user_id = $2`)
	c.fact("Egg Curry, Pad See Ew, Butter Chicken", `SELECT string_agg(r.name, ', ' ORDER BY m.date) FROM kitchen.meal_plans m JOIN kitchen.recipes r ON r.id = m.recipe_id WHERE m.user_id = $2`)
	c.fact("4 2 2", `SELECT concat_ws(' ', (SELECT count(*) FROM kitchen.recipes WHERE user_id = $2), (SELECT count(*) FROM kitchen.shopping_list WHERE user_id = $2), (SELECT count(*) FROM kitchen.tasks WHERE user_id = $2))`)
	c.fact("", `SELECT string_agg(t.number || ': ' || s.description, '; ') FROM turn_steps s JOIN turns t ON t.id = s.turn_id WHERE t.session_id = $1 AND s.outcome <> 'ok'`)

	calls := c.priced()
	input, cached, late := 0, 0, 0
	for _, one := range calls {
		input += one.tokens
		if one.turn >= 5 {
			late, cached = late+one.tokens, cached+one.cached
		}
		t.Logf("turn %d %s: %d tokens, of which %d were sent before", one.turn, one.node, one.tokens, one.cached)
	}
	t.Logf("%d calls, %d tokens; from turn 5 on %d%% of them sent before", len(calls), input, 100*cached/late)
	require.LessOrEqual(t, len(calls), 32)
	require.LessOrEqual(t, input, 90000)
	require.GreaterOrEqual(t, 100*cached/late, 60, "the beginning of a prompt is that of an earlier one")
}

// priced is one call with the part that a caching provider would already have.
type priced struct {
	turn           int
	node           string
	tokens, cached int
}

// minCached is how many tokens a prefix needs before providers cache it.
const minCached = 1024

// priced returns the conversation's calls, each with the longest prefix that it shares with an earlier one: tools and
// schema first, in the providers' order, then the instructions, then the messages.
func (c *talk) priced() []priced {
	c.t.Helper()
	rows, err := c.pool.Query(c.bg(), `SELECT coalesce(t.number, 0), l.node, l.request FROM v_llm_calls l LEFT JOIN turns t ON t.id = l.turn_id WHERE l.session_id = $1 ORDER BY l.id`, c.session)
	require.NoError(c.t, err)
	var list []priced
	var earlier []string
	var one priced
	var data json.RawMessage
	_, err = pgx.ForEachRow(rows, []any{&one.turn, &one.node, &data}, func() error {
		var request llm.Request
		require.NoError(c.t, json.Unmarshal(data, &request))
		text := inOrder(&request)
		one.tokens, one.cached = llm.EstimateTokens(text), 0
		for _, before := range earlier {
			one.cached = max(one.cached, llm.EstimateTokens(common(before, text)))
		}
		if one.cached < minCached {
			one.cached = 0
		}
		earlier, list = append(earlier, text), append(list, one)

		return nil
	})
	require.NoError(c.t, err)

	return list
}

func inOrder(r *llm.Request) string {
	var b strings.Builder
	for _, tool := range r.Tools {
		fmt.Fprintf(&b, "%s %s %s\n", tool.Name, tool.Description, tool.Schema)
	}
	fmt.Fprintf(&b, "%s\n%s\n", r.Schema, r.System)
	for _, m := range r.Messages {
		fmt.Fprintf(&b, "%s: %s\n", m.Role, m.Content)
		for _, call := range m.ToolCalls {
			fmt.Fprintf(&b, "%s %s\n", call.Name, call.Args)
		}
	}

	return b.String()
}

func common(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}

	return strings.ToValidUTF8(a[:n], "")
}
