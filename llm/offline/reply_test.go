package offline

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/llm"
	"alfred/nodes"
)

func replyOf(t *testing.T, message, results string, more ...string) string {
	t.Helper()
	blocks := append([]string{
		block("conversation_history", "## Conversation", draftTalk),
		block("execution_results", "## Execution Results", `Request: "`+message+`"`, results),
	}, more...)
	var streamed strings.Builder
	req := &llm.Request{Messages: user(blocks...), OnDelta: func(text string) { streamed.WriteString(text) }}
	text := ask(t, kitchen(t), req).Text
	require.Equal(t, text, streamed.String())
	return text
}

func TestReply(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, message, results, want string }{
		{"list", "show everything", "Outcome: done\n- Read inventory (read): ok. Looked up the inventory items.\nFound 2 inventory items:\n- Eggs (12 count) [fridge]\n- Milk category:dairy\nNot saved (drafts): Thai Basil Chicken (recipe)",
			"2 inventory items:\n1. Eggs (12 count, fridge)\n2. Milk (category: dairy)"},
		{"empty", "show my tasks and list", "Outcome: done\n- Read tasks (read): empty. Looked up the tasks.\nFound: You have no tasks.\nFound: no shopping items that fit", "You have no tasks.\nI found no shopping items that fit."},
		{"one in full", "how do I make the second one?", "Outcome: done\n- Read recipes Pad See Ew in full (read): ok. Looked up the recipes.\nFound 1 recipe:\n- Pad See Ew total_time:30min cuisine:thai\n  instructions:\n  1. Soak the noodles.\n  2. Heat a wok.\n  - gai lan (200 g) notes:chopped",
			"Pad See Ew\n\nIngredients\n- 200 g gai lan (chopped)\n\nMethod\n1. Soak the noodles.\n2. Heat a wok."},
		{"written", "add 12 eggs to the fridge", "Outcome: done\n- Create inventory with [] (write): ok. Added 12 eggs to the inventory items.\nSaved 1 pantry item:\n- eggs (12) [fridge]\nSaved in this turn: eggs", "Added a pantry item: eggs (12, fridge)."},
		{"deleted", "delete the shakshuka", "Outcome: done\n- Delete recipes Shakshuka Classic (write): ok. Deleted Shakshuka Classic.\nDeleted 1 recipe:\n- Shakshuka Classic\nDeleted in this turn: Shakshuka Classic", "Deleted Shakshuka Classic."},
		{"not found", "delete the lasagna", "Outcome: done\n- Read recipes (read): empty. Looked up the recipes.\n- Delete recipes (write): ok. I found no recipe called lasagna.\nFound: no recipes that fit\nNothing was saved, changed or deleted in this turn.", "I found no recipes that fit."},
		{"failed", "save it", "Outcome: not done\n- Save recipes Thai Basil Chicken (write): failed. name needs a value\nBlocked: tool_failure: name needs a value\nNothing was saved, changed or deleted in this turn.", "That did not work: name needs a value."},
		{"draft", "draft a thai basil chicken", "Outcome: done\n- Draft recipes (generate): ok. Drafted Thai Basil Chicken.\nNot saved (drafts): Thai Basil Chicken (recipe)\nDraft of Thai Basil Chicken, not saved:\n{\"name\":\"Thai Basil Chicken\",\"servings\":2,\"instructions\":[\"Chop the garlic.\"],\"recipe_ingredients\":[{\"name\":\"chicken\",\"quantity\":400,\"unit\":\"g\",\"notes\":\"diced\"}]}",
			"Thai Basil Chicken (draft)\n2 servings.\n\nIngredients\n- 400 g chicken (diced)\n\nMethod\n1. Chop the garlic.\n\nIt is not saved yet. Shall I save it?"},
		{"pending", "what did I not save yet?", "Outcome: nothing was read or changed in this turn\nNot saved (drafts): Thai Basil Chicken (recipe), Lemon Cod (recipe)", "Not saved yet: Thai Basil Chicken and Lemon Cod. Shall I save them?"},
		{"nothing pending", "what is unsaved?", "Outcome: nothing was read or changed in this turn", "Nothing is waiting: everything is saved."},
		{"analysis", "how many recipes per cuisine?", "Outcome: done\n- Count recipes by cuisine (analyze): ok. Counted the recipes.\n  Conclusions: Recipes by cuisine: thai: 2.\nComputed: [{\"count\":2}]", "Recipes by cuisine: thai: 2."},
		{"forget", "forget the pantry", "Outcome: nothing was read or changed in this turn", "I have put the inventory items out of mind. Nothing was deleted; ask and I look again."},
		{"dropped", "forget that", "Outcome: nothing was read or changed in this turn\nDiscarded drafts: Thai Basil Chicken", "Forgotten. Nothing that is saved was deleted.\nDropped the draft Thai Basil Chicken."},
		{"identity", "who are you?", "Outcome: nothing was read or changed in this turn", identity + " " + abilities},
		{"beyond", "what is the capital of France?", "Outcome: nothing was read or changed in this turn", "That is beyond me. " + identity + " " + abilities},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, replyOf(t, tt.message, tt.results))
		})
	}
}

func TestReply_AsksExactlyTheQuestion(t *testing.T) {
	t.Parallel()
	results := "Outcome: a question to the user\n\n## Open Question\nKind: disambiguate. Ask exactly this:\nWhich one do you mean: Butter Chicken or Chicken Soup?\n- Butter Chicken\n- Chicken Soup"
	require.Equal(t, "Which one do you mean: Butter Chicken or Chicken Soup?", replyOf(t, "delete the chicken one", results))
	approve := "Outcome: not done\n- Delete inventory (write): partial\n\n## Open Question\nKind: approve. Ask exactly this:\nThis deletes 3 rows. Go on?\n- Yes\n- No"
	require.Equal(t, "This deletes 3 rows. Go on?\n- Yes\n- No", replyOf(t, "remove everything in the freezer", approve))
}

func TestReply_NamesWhatARejectionRulesOut(t *testing.T) {
	t.Parallel()
	guidance := block("reply_guidance", "## Reply Guidance", "- Excluded as the user wished: Cod with Peas, Lemon Cod. Name it, so that the user sees it was heard.")
	require.Equal(t, "Noted: no cod this week. That rules out Cod with Peas and Lemon Cod.", replyOf(t, "no cod this week", "Outcome: nothing was read or changed in this turn", guidance))
}

func TestSummarize(t *testing.T) {
	t.Parallel()
	resp := ask(t, kitchen(t), &llm.Request{SchemaName: "summarize", Messages: user(
		block("conversation_history", "## Conversation", "[Turn 2] User: add 12 eggs to the fridge\nAlfred: Saved: eggs (12) [fridge]."),
		block("execution_results", "## Execution Results", "Outcome: done"))})
	out := &nodes.SummarizeOutput{}
	require.NoError(t, json.Unmarshal([]byte(resp.Text), out))
	require.Equal(t, &nodes.SummarizeOutput{
		ResponseSummary: "Saved: eggs (12) [fridge].", ConversationPhase: "executing", Tone: "informative",
		WhatUserExpressed: "add 12 eggs to the fridge", WhatWeAcknowledged: "Saved: eggs (12) [fridge].", NaturalNext: "The user may ask for something else.",
	}, out)
}

func TestCompress(t *testing.T) {
	t.Parallel()
	resp := ask(t, kitchen(t), &llm.Request{SchemaName: "compress", Messages: user(
		block("conversation_history", "## Conversation", "### Earlier\nThe user listed 12 eggs.\n\n### Since then\n[Turn 2] User: plan 8 dinners\nAlfred: Drafted 8 dinners."))})
	out := &nodes.CompressOutput{}
	require.NoError(t, json.Unmarshal([]byte(resp.Text), out))
	require.Contains(t, out.Text, "12 eggs")
	require.Contains(t, out.Text, "8 dinners")
}

func TestModel_IsDeterministicAndCountsTokens(t *testing.T) {
	t.Parallel()
	req := &llm.Request{System: "12345678", Messages: user(block("execution_results", "## Execution Results", `Request: "who are you?"`))}
	first, second := ask(t, kitchen(t), req), ask(t, kitchen(t), req)
	require.Equal(t, first, second)
	require.Equal(t, (8+len(req.Messages[0].Content)+3)/4, first.Usage.Input)
	require.Positive(t, first.Usage.Output)
	require.Equal(t, "offline", first.Provider)
}
