package jobs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/domain"
	"alfred/internal/view"
	"alfred/internal/vocab"
	"alfred/nodes"
)

func TestV02ConsentIsSemantic(t *testing.T) {
	t.Parallel()

	offer := &question{kind: vocab.AskPropose, QuestionPayload: view.QuestionPayload{Text: "Shall I save Thai Curry?"}, Writes: []nodes.Offer{{Description: "Save Thai Curry", Refs: []string{"gen_recipe_1"}}}}
	deletion := &question{kind: vocab.AskUser, QuestionPayload: view.QuestionPayload{Text: "Delete the two old ones?"}}
	inTheWay := &question{kind: vocab.AskClarify, QuestionPayload: view.QuestionPayload{Text: "Which day?"}, Permitted: true}
	idle := &question{kind: vocab.AskClarify, QuestionPayload: view.QuestionPayload{Text: "For how many?"}}
	clicked := func(q *question, id string) *question {
		c := *q
		c.chosen = id

		return &c
	}
	tests := map[string]struct {
		intent  string
		answers *question
		allowed bool
	}{
		"asked for":                             {"write", nil, true},
		"exploring":                             {"explore", nil, false},
		"yes to nothing":                        {"confirm", nil, false},
		"yes to the reply's offer":              {"confirm", offer, true},
		"yes, but call it X":                    {"answer", offer, true},
		"talk beside an offer":                  {"chat", offer, false},
		"yes to a deletion after a read":        {"confirm", deletion, true},
		"an answer to a deletion after a read":  {"answer", deletion, false},
		"what was missing for a write":          {"answer", inTheWay, true},
		"what was missing for an idea":          {"answer", idle, false},
		"a click on yes, misread":               {"chat", clicked(offer, optionYes), true},
		"a click on no, misread":                {"confirm", clicked(offer, optionNo), false},
		"a click on no, misread as a new order": {"write", clicked(offer, optionNo), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := permit(test.intent, test.answers)
			require.Equal(t, test.allowed, got.Allowed, got.Why)
			require.NotEmpty(t, got.Why)
		})
	}
	require.Equal(t, []nodes.Offer{{Description: "Save Thai Curry", Refs: []string{"gen_recipe_1"}}}, permit("confirm", offer).Writes)
}

func TestV18OptionsHaveIDsAndAreToldApart(t *testing.T) {
	t.Parallel()

	q := disambiguation(&nodes.Disambiguation{Question: "Which?", Options: []string{"task_1", "task_2"}},
		nodes.Refs{"task_1": {Label: "Call mum"}, "task_2": {Label: "Call Mum"}})
	require.Equal(t, []view.QuestionOption{{ID: "task_1", Label: "Call mum (1)", Ref: "task_1"}, {ID: "task_2", Label: "Call Mum (2)", Ref: "task_2"}}, distinct(q.Options))
}

// A click means its option alone: if a model reads more into the label, nothing is forgotten, asked or read.
func TestClicksMeanTheirOption(t *testing.T) {
	t.Parallel()

	kept := []nodes.Retain{{Ref: "recipe_1", Reason: "liked"}}
	out := nodes.UnderstandOutput{
		Intent: "write", Clarification: &nodes.Clarification{}, Disambiguation: &nodes.Disambiguation{}, Quick: &nodes.Quick{},
		Curation: nodes.Curation{ClearAll: true, Forget: []string{"recipe_2"}, Demote: []string{"recipe_3"}, Retain: kept},
	}
	(&question{chosen: "recipe_1", QuestionPayload: view.QuestionPayload{Options: []view.QuestionOption{{ID: "recipe_1", Label: "Soup", Ref: "recipe_1"}}}}).applyTo(&out)
	require.Equal(t, nodes.UnderstandOutput{
		Intent: "answer", AnswersQuestion: true, Curation: nodes.Curation{Retain: kept},
		Mentions: []nodes.Mention{{Text: "Soup", Ref: "recipe_1", Resolution: "exact", Candidates: []string{}, Reason: "the user chose it"}},
	}, out)
}

// A click on No is no permission, whoever words the question: a model's options are not told apart by their place alone.
func TestNoIsNoWhoeverAsks(t *testing.T) {
	t.Parallel()

	asks := func(options ...string) *question {
		return askedBy(&nodes.AskUser{Question: "Delete the two old ones?", Options: options, WouldWrite: true}, acted{})
	}
	clicks := func(q *question, id string) nodes.Permission {
		clicked := *q
		clicked.chosen = id

		return permit("answer", &clicked)
	}
	q := asks("Yes, both", "No, keep them.", "No onions", "Northern", "no")
	var ids []string
	for _, o := range q.Options {
		ids = append(ids, o.ID)
	}
	require.Equal(t, []string{"1", optionNo, "3", "4", "5"}, ids)
	require.False(t, clicks(q, optionNo).Allowed)
	require.True(t, clicks(q, "1").Allowed)
	require.True(t, clicks(q, "3").Allowed)
}

// People read the labels of rows, models go on to read their refs.
func TestQuestionsAreWordedForWhoeverReadsThem(t *testing.T) {
	t.Parallel()

	s := acting()
	s.Registry = []*db.EntityRefListInViewRow{{Ref: "recipe_1", EntityType: "recipe", Label: "Soup"}, {Ref: "recipe_2", EntityType: "recipe", Label: "Soup"}}
	ask := askedBy(&nodes.AskUser{Question: "Which one: recipe_1 or recipe_2?", Options: []string{"recipe_1", "recipe_2"}}, acted{})
	told := view.QuestionPayload{Text: "Which one: recipe_1 or recipe_2?", Options: []view.QuestionOption{{ID: "1", Label: "recipe_1"}, {ID: "2", Label: "recipe_2"}}}
	asked := ask.forPeople(s.Scene(true))
	require.Equal(t, view.QuestionPayload{
		Text: "Which one: Soup or Soup?", Options: []view.QuestionOption{{ID: "1", Label: "Soup (1)"}, {ID: "2", Label: "Soup (2)"}}, Told: &told,
	}, asked)
	require.Equal(t, &told, asked.ForModels())

	plain := asking(vocab.AskClarify, "For how many?").forPeople(s.Scene(true))
	require.Equal(t, &view.QuestionPayload{Text: "For how many?", Options: []view.QuestionOption{}}, plain.ForModels())
}

// acting is a state of a turn whose decisions of Act had these results.
func acting(results ...view.CallResult) *state {
	return &state{View: &view.View{
		Domain: &domain.Domain{}, Turn: &db.Turns{}, Runs: []*view.Run{{NodeRunListMadeRow: &db.NodeRunListMadeRow{}, Acted: &view.Acted{Results: results, Undo: "It can be undone."}}},
	}}
}

// What was rolled back was not done.
func TestFailedCallsHaveDoneNothing(t *testing.T) {
	t.Parallel()

	wrote := view.CallResult{Tool: vocab.ToolCreate, RowCount: 1}
	require.Equal(t, nodes.Done{Wrote: true, Undo: "It can be undone."}, acting(wrote).doneSoFar())
	require.Equal(t, nodes.Done{}, acting(wrote, view.CallResult{Tool: vocab.ToolCreate, ErrorCode: "bad_value"}).doneSoFar())
}
