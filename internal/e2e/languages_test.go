package e2e_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// V02: an offer in the user's language is not repeated in English, and the question is stored as it was asked. If its
// words do not show what a yes does, the options do.
func TestV02AnOfferInAnotherLanguage(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: explore}
    think: {goal: Draft it, decision: plan, steps: [{type: generate, subdomain: recipes, description: Draft the recipe}]}
    act: {calls: [{tool: generate, args: {creates: [{type: recipe, content: `+basil+`}]}}, {tool: step_complete, args: {summary: drafted}}]}
    reply: Hier ist ein Rezept. Soll ich es speichern?
  - understand: {intent: confirm, answers_question: true}
    think: {goal: Save it, decision: plan, steps: [{type: write, subdomain: recipes, description: Save the draft, refs: [gen_recipe_1], calls: [{tool: db_create, table: recipes, from_ref: gen_recipe_1}]}]}
    reply: Gespeichert.
`)
	drafted := c.say("Entwirf etwas mit Basilikum")
	require.Equal(t, "Hier ist ein Rezept. Soll ich es speichern?", drafted.Reply)
	require.Equal(t, "Soll ich es speichern?", drafted.Question.Text)
	require.Equal(t, "Save Thai Basil Chicken", drafted.Question.Options[0].Label)
	saved := c.say("Ja, bitte")
	require.Equal(t, "write ok", saved.outcomes(), "yes to it is permission")
	require.Contains(t, c.prompt(2, "think", 1), "Soll ich es speichern?")
	require.Equal(t, "Created 1 recipe: Thai Basil Chicken (gen_recipe_1).", saved.Steps[0].Summary)
	require.False(t, saved.Unwritten)
}

// V03: whatever a reply claims in a language that code cannot check, the turn says that it was to write and wrote
// nothing.
func TestV03AClaimInAnotherLanguageIsAnsweredByTheRows(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: write}
    think: {goal: Save, decision: plan, steps: [{type: write, subdomain: shopping, description: Add milk}]}
    act: [{calls: [{tool: step_complete, args: {summary: Gespeichert}}]}, {calls: [{tool: step_complete, args: {summary: Gespeichert}}]}]
    reply: Milch steht jetzt auf der Liste.
  - understand: {intent: write}
    think: {goal: Save, decision: plan, steps: []}
    reply: Alles gespeichert.
  - understand: {intent: write, constraints: [{text: no pork, kind: exclude, scope: session}]}
    think: {goal: Note it, decision: plan, steps: []}
    reply: Kein Schwein.
  - understand: {intent: chat}
    think: {goal: Talk, decision: plan, steps: []}
    reply: Gern.
  - understand: {intent: write}
    think: {goal: Save, decision: plan, steps: [{type: write, subdomain: shopping, description: Add milk, calls: [{tool: db_create, table: shopping_list, data: {name: milk}}]}]}
    reply: Milch steht auf der Liste.
`)
	for _, said := range []struct {
		message   string
		unwritten bool
	}{{"Milch auf die Liste", true}, {"Speichere alles", true}, {"kein Schwein", false}, {"danke", false}, {"doch, Milch", false}} {
		require.Equal(t, said.unwritten, c.say(said.message).Unwritten, said.message)
	}
}

// V03: the page says so too, when the turn ends and after a reload.
func TestV03ThePageSaysThatNothingWasSaved(t *testing.T) {
	t.Parallel()
	h := scripted(t, `
turns:
  - understand: {intent: write}
    think: {goal: Save, decision: plan, steps: [{type: write, subdomain: shopping, description: Add milk}]}
    act: [{calls: [{tool: step_complete, args: {summary: Gespeichert}}]}, {calls: [{tool: step_complete, args: {summary: Gespeichert}}]}]
    reply: Milch steht jetzt auf der Liste.
`)
	b := browse(t)
	b.enter(h.resident("ada"), h.url)
	b.say("Milch auf die Liste")
	require.Equal(t, "Milch steht jetzt auf der Liste.", strings.TrimSpace(b.lastReply(1)))
	b.shows(".turn .wrote", "Nothing was saved, changed or deleted.")
	b.do(chromedp.Reload())
	b.shows(".turn .wrote", "Nothing was saved, changed or deleted.")
	b.look("unwritten")
	b.requireNoTrouble()
}

// A turn that changed nothing but parts of rows tells of those: its reply is not the only one to say what it did.
func TestThePageTellsOfPartsAlone(t *testing.T) {
	t.Parallel()
	h := scripted(t, doubledButter+`    reply: I have doubled everything.
`)
	b := browse(t)
	b.enter(h.resident("ada"), h.url)
	b.say("Double the butter of the butter chicken")
	require.Equal(t, "I have doubled everything.", strings.TrimSpace(b.lastReply(1)))
	b.shows(".turn .wrote", "Changed butter")
	b.requireNoTrouble()
}

// A yes to less is no plain yes, in whatever language and whatever a model makes of it: the plan beside it says what is meant.
func TestV02AYesToFewerRowsIsNoPlainYes(t *testing.T) {
	t.Parallel()
	for message, which := range map[string]string{
		"sí, pero solo la primera":                    `{field: id, op: "=", value: inv_1}`,
		"いいえ、鶏肉だけ消して":                                 `{field: id, op: in, value: [inv_1]}`,
		"好的只删鸡肉":                                      `{field: name, op: "=", value: Chicken thighs}`,
		"tamam, ama bir tek tavuk":                    `{field: name, op: in, value: [chicken thighs]}`,
		"sí, pero solo Chicken thighs, y añade leche": `{field: id, op: "=", value: inv_1}`,
	} {
		t.Run(message, func(t *testing.T) {
			t.Parallel()
			more := map[bool]string{true: `, {tool: db_create, table: shopping_list, set: [{column: name, value: leche}]}`}[strings.Contains(message, "leche")]
			c := converse(t, `
turns:
  - understand: {intent: read}
    think: {goal: Look, decision: plan, steps: [], calls: [{tool: db_read, table: inventory, filters: [{field: location, op: "=", value: freezer}]}]}
    reply: There.
  - understand: {intent: write}
    think: {goal: Empty it, decision: plan, steps: [{type: write, subdomain: inventory, description: Delete all}]}
    act: {calls: [{tool: db_delete, args: {table: inventory, filters: []}}]}
    reply: This would delete all pantry items. Shall I?
  - understand: {intent: confirm, answers_question: true}
    think: {goal: One only, decision: plan, steps: [], calls: [{tool: db_delete, table: inventory, filters: [`+which+`]}`+more+`]}
    act: {calls: [{tool: db_delete, args: {table: inventory, filters: [`+which+`]}}, {tool: step_complete, args: {summary: deleted}}]}
    reply: Chicken thighs.
`)
			c.say("¿Qué hay?")
			require.Equal(t, "approve", c.say("bórralo todo").Question.Kind)
			c.say(message)
			c.fact("11", `SELECT count(*) FROM kitchen.inventory WHERE user_id = $2`)
		})
	}
}
