package jobs_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/crud"
	"alfred/internal/llm/lexical"
	"alfred/internal/prompt"
	"alfred/internal/recall"
	"alfred/jobs"
	"alfred/nodes"
)

// real replaces the fakes by what a real worker uses.
func (h *harness) real() {
	d := h.config.Domain
	h.config.Prompts = prompt.New(d, prompt.DefaultConfig())
	h.config.Tools = crud.New(d, recall.New(d, lexical.Embedder{}))
}

// The draft is shown, saved by ref in a later turn, and what is stored equals it.
func TestDraftIsSavedAsShown(t *testing.T) {
	t.Parallel()

	h := setup(t, `turns:
  - understand: {intent: explore}
    think: {goal: draft, decision: plan, steps: [{type: generate, subdomain: recipes, description: draft a curry}]}
    act:
      - calls:
          - {tool: generate, args: {creates: [{type: recipe, content: {name: Thai Basil Chicken, servings: 2, instructions: [Fry., Serve.], recipe_ingredients: [{name: chicken, quantity: 500, unit: g}]}}]}}
          - {tool: step_complete, args: {summary: drafted}}
    reply: Here is a draft.
  - understand: {intent: write, mentions: [{text: it, ref: gen_recipe_1, resolution: inferred, candidates: [], reason: newest draft}]}
    think: {goal: save, decision: plan, steps: [{type: write, subdomain: recipes, description: save it, refs: [gen_recipe_1]}]}
    act:
      - calls: [{tool: db_create, args: {table: recipes, from_ref: gen_recipe_1}}]
      - calls: [{tool: step_complete, args: {summary: saved}}]
    reply: Saved.
  - understand: {intent: read, quick: {entity_type: recipe, why: one table}}
    act: [{calls: [{tool: db_read, args: {table: recipes}}]}]
compress: {text: earlier}
`)
	h.real()
	h.start()
	first := h.summarized(h.enqueue(jobs.EnqueueParams{Message: "a simple thai basil chicken"}).TurnID)
	require.Equal(t, []string{"1 generate ok"}, h.outcomes(first))
	require.Empty(t, column[string](h, `SELECT name FROM kitchen.recipes AS r JOIN sessions AS s ON s.user_id = r.user_id WHERE s.id = $1`, h.session))

	second := h.summarized(h.enqueue(jobs.EnqueueParams{Message: "save it"}).TurnID)
	require.Equal(t, []string{"1 write ok"}, h.outcomes(second), column[*string](h, `SELECT error_message FROM turn_step_results`))
	require.Equal(t, []string{"Thai Basil Chicken: chicken"}, column[string](h, `SELECT r.name || ': ' || i.name FROM kitchen.recipes AS r
		JOIN sessions AS s ON s.user_id = r.user_id JOIN kitchen.recipe_ingredients AS i ON i.recipe_id = r.id WHERE s.id = $1`, h.session))
	require.Equal(t, []string{"gen_recipe_1 promoted created"}, column[string](h, `SELECT ref || ' ' || state || ' ' || action FROM entity_refs WHERE ref LIKE 'gen%' AND session_id = $1`, h.session))

	third := h.summarized(h.enqueue(jobs.EnqueueParams{Message: "what recipes do I have?"}).TurnID)
	require.Contains(t, *third.Reply, "Thai Basil Chicken")
	require.Equal(t, []int32{1}, column[int32](h, `SELECT call FROM turn_step_results WHERE turn_id = $1`, third.ID), "calls are counted by step and turn")
	require.Equal(t, []int64{2}, column[int64](h, `SELECT count(*) FROM llm_calls WHERE turn_id = $1`, third.ID))
}

func TestForeignMentionsGetANotice(t *testing.T) {
	t.Parallel()

	h := setup(t, `turns: [{understand: {intent: read, recall: {query: tacos}}, think: {goal: g, decision: plan, steps: []}, reply: I cannot find it.}]`)
	h.real()
	h.start()
	turn := h.summarized(h.enqueue(jobs.EnqueueParams{Message: "how long is @[Secret Stew](recipe:0198c0de-0000-7000-8000-000000000000)?"}).TurnID)
	require.Equal(t, []string{"mention not_found", "recall "}, column[string](h,
		`SELECT tool || ' ' || coalesce(error_code, '') FROM turn_step_results WHERE turn_id = $1 ORDER BY call`, turn.ID))
	require.Empty(t, column[string](h, `SELECT ref FROM entity_refs WHERE session_id = $1 AND entity_type = 'recipe'`, h.session))
	require.Empty(t, column[string](h, `SELECT request::text FROM v_llm_calls WHERE request::text LIKE '%0198c0de%'`))
}

// A draft that its user has changed since the model decided to forget it stays.
func TestChangedDraftIsNotForgotten(t *testing.T) {
	t.Parallel()

	h := setup(t, `turns: [{understand: {intent: chat, curation: {forget: [gen_recipe_1, gen_recipe_2]}, curation_summary: no longer wanted}, think: {goal: g, decision: plan, steps: []}, reply: Right.}]`)
	h.prompts.refs = nodes.Refs{"gen_recipe_1": {Type: "recipe", Label: "Soup", Pending: true}, "gen_recipe_2": {Type: "recipe", Label: "Pie", Pending: true}}
	h.exec(`INSERT INTO entity_refs (session_id, ref, entity_type, state, action, label, turn_created, turn_last_ref)
		SELECT $1, ref, 'recipe', 'pending', 'generated', 'Soup', 1, 1 FROM unnest(ARRAY['gen_recipe_1', 'gen_recipe_2']) AS ref`, h.session)
	const version = `INSERT INTO artifacts (session_id, user_id, ref, version, content, turn_number) SELECT s.id, s.user_id, ref, $2, '{"name": "Soup"}', 1 FROM sessions AS s, unnest($3::text[]) AS ref WHERE s.id = $1`
	h.exec(version, h.session, 1, []string{"gen_recipe_1", "gen_recipe_2"})
	h.once("understand", func(context.Context) error {
		h.exec(version, h.session, 2, []string{"gen_recipe_1"})

		return nil
	})
	h.start()
	require.Equal(t, db.TurnStatusSucceeded, h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID).Status)
	require.Equal(t, []string{"gen_recipe_1 pending", "gen_recipe_2 dropped"}, column[string](h, `SELECT ref || ' ' || state FROM entity_refs ORDER BY ref`))
}
