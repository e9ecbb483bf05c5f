package jobs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/vocab"
	"alfred/nodes"
)

func TestV02ConsentIsSemantic(t *testing.T) {
	t.Parallel()

	offer := &answered{kind: vocab.AskPropose, payload: questionPayload{Text: "Shall I save Thai Curry?", Writes: []offer{{Description: "Save Thai Curry", Refs: []string{"gen_recipe_1"}}}}}
	question := &answered{kind: vocab.AskUser, payload: questionPayload{Text: "Delete the two old ones?"}}
	inTheWay := &answered{kind: vocab.AskClarify, payload: questionPayload{Text: "Which day?", Permitted: true}}
	idle := &answered{kind: vocab.AskClarify, payload: questionPayload{Text: "For how many?"}}
	clicked := func(a *answered, id string) *answered {
		c := *a
		c.chosen = id

		return &c
	}
	tests := map[string]struct {
		intent  string
		answers *answered
		allowed bool
	}{
		"asked for":                             {"write", nil, true},
		"exploring":                             {"explore", nil, false},
		"yes to nothing":                        {"confirm", nil, false},
		"yes to the reply's offer":              {"confirm", offer, true},
		"yes, but call it X":                    {"answer", offer, true},
		"talk beside an offer":                  {"chat", offer, false},
		"yes to a question after a read":        {"confirm", question, true},
		"an answer to a question after a read":  {"answer", question, false},
		"what was missing for a write":          {"answer", inTheWay, true},
		"what was missing for an idea":          {"answer", idle, false},
		"a click on yes, misread":               {"chat", clicked(offer, crud.OptionYes), true},
		"a click on no, misread":                {"confirm", clicked(offer, crud.OptionNo), false},
		"a click on no, misread as a new order": {"write", clicked(offer, crud.OptionNo), false},
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
		nodes.Refs{"task_1": {Label: "Call mum"}, "task_2": {Label: "Call mum"}})
	require.Equal(t, []option{{ID: "task_1", Label: "Call mum (1)", Ref: "task_1"}, {ID: "task_2", Label: "Call mum (2)", Ref: "task_2"}}, q.shown())
}
