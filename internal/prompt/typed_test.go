package prompt_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/testfactory"
	"alfred/nodes"
)

// Q01: a prompt's content is also available as data, so that nothing has to parse its text.
func TestInputsCarryFacts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	past := testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: 1, Message: "show my recipes", Reply: "Butter Chicken."})
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "recipe_1", Label: "Butter Chicken"})
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "ri_1", Label: "butter"})
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "gen_recipe_1", Label: "Thai Curry", Created: 1, LastRef: 2})
	testfactory.Artifact(t, b.tx, b.session, "gen_recipe_1", `{"name": "Thai Curry", "servings": 2}`)
	testfactory.Event(t, b.tx, b.session, 1, "recipe_1", "read")
	testfactory.StepResult(t, b.tx, past, testfactory.ResultOpts{Step: 1, Type: "recipe",
		Rows: `[{"id": "recipe_1", "name": "Butter Chicken", "servings": 4, "recipe_ingredients": [{"id": "ri_1", "name": "butter", "recipe_id": "recipe_1"}]}]`})
	turn := testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: 2, Message: "how many does it serve?", Status: db.TurnStatusRunning})
	testfactory.Step(t, b.tx, turn, testfactory.StepOpts{Type: db.StepTypeRead, Description: "Read it", Refs: []string{"recipe_1"}})
	b.exec(t, `INSERT INTO questions (session_id, turn_id, kind, payload) VALUES ($1, $2, 'propose', '{"text": "Shall I save recipe_1?", "options": [{"label": "Yes"}, {"label": "", "ref": "recipe_1"}]}')`,
		b.session, past.ID)

	u := b.understand(t, turn).Facts()
	require.Equal(t, "how many does it serve?", u.Message)
	require.Equal(t, "2026-01-13", u.Today.Format("2006-01-02"))
	require.Equal(t, []nodes.Exchange{{Turn: 1, Message: "show my recipes"}}, u.Said)
	require.Equal(t, &nodes.OpenQuestion{Turn: 1, Options: []string{"recipe_1"}}, u.Question)
	require.Nil(t, u.Asked)
	require.Len(t, u.Results, 1)
	require.Equal(t, []string{"recipe_1"}, u.Results[0].Refs)
	require.False(t, u.Results[0].Current)

	draft := entityOf(t, u, "gen_recipe_1")
	require.True(t, draft.Pending)
	require.Equal(t, "generated", draft.Tier)
	require.Equal(t, map[string]any{"name": "Thai Curry", "servings": json.Number("2")}, draft.Draft)

	in := b.act(t, turn, 1)
	recipe := entityOf(t, in.Facts(), "recipe_1")
	require.Equal(t, "4", fmt.Sprint(recipe.Columns["servings"]))
	require.NotContains(t, recipe.Columns, "instructions", "what was not read is not there")
	require.Equal(t, "butter", recipe.Children["recipe_ingredients"][0]["name"])
	require.Equal(t, "ri_1", recipe.Children["recipe_ingredients"][0]["id"])
	require.Equal(t, 1, in.Step.Number)
	require.Equal(t, nodes.Step{Type: "read", Subdomain: "recipes", Description: "Read it", Refs: []string{"recipe_1"}, Needs: "refs"}, in.Step.Step)
	require.Len(t, in.Facts().Plan, 1)
	require.Equal(t, "Thai Curry", entityOf(t, b.reply(t, turn).Facts(), "gen_recipe_1").Draft["name"])
}

func entityOf(t *testing.T, f nodes.Facts, ref string) nodes.Entity {
	t.Helper()
	for _, e := range f.Entities {
		if e.Ref == ref {
			return e
		}
	}
	require.Fail(t, "no entity "+ref)

	return nodes.Entity{}
}
