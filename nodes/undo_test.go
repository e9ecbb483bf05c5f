package nodes_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/nodes"
)

// togetherPlan is the plan that comes with an answer of Understand that wants to write.
func togetherPlan(t *testing.T, rest string) *nodes.ThinkOutput {
	t.Helper()
	out, err := nodes.Understand(t.Context(), says(`{"intent":"write","mentions":[],"memory":null,"besides":null,`+rest+`,"say":""}`), togetherInput())
	require.NoError(t, err)
	require.Empty(t, out.Degraded)
	require.NotNil(t, out.Think)

	return out.Think
}

const (
	undoLast = `{"step":0,"tool":"undo","table":"vases","filters":[],"detail":"","from_ref":"","set":[]}`
	undoFour = `{"step":1,"tool":"undo","table":"vases","filters":[{"field":"turn","op":"=","value":4},{"field":"id","op":"in","value":["vase_1..vase_1","vase_9"]}]}`
	undoNine = `{"step":0,"tool":"undo","filters":[{"field":"turn","op":"=","value":4},{"field":"id","op":"=","value":"vase_9"}]}`
	deleteIt = `{"step":0,"tool":"db_delete","table":"vases","filters":[{"field":"id","op":"=","value":"vase_3"}]}`
)

// What is taken back is a step of its own before all others: "undo that and add bread instead" lost one of both.
func TestUndoIsAStepBesideOthers(t *testing.T) {
	t.Parallel()
	for rest, want := range map[string]string{
		`"calls":[` + undoLast + `],"think":null`:                  "Take back what was written",
		`"calls":[` + deleteIt + `,` + undoLast + `],"think":null`: "Take back what was written|Delete the vases with id = vase_3",
		`"calls":[` + undoFour + `],"think":{"goal":"","steps":[{"type":"write","subdomain":"vases","description":"Undo it","refs":[],"needs":"refs"},{"type":"analyze","subdomain":"vases","description":"Count","refs":[],"needs":"refs"}],"proposal":"","questions":[]}`: "Take back what turn 4 wrote to vase_1, vase_9|Count",
		`"calls":[` + undoLast + `],"think":{"goal":"","steps":[{"type":"write","subdomain":"vases","description":"Add one","refs":[],"needs":"refs"}],"proposal":"","questions":[]}`:                                                                                       "Take back what was written|Add one",
		`"calls":[{"step":0,"tool":"undo","filters":[{"field":"redo","op":"=","value":true}]}],"think":null`:                                                                                                                                                                "Take back the last undo",
		`"calls":[` + undoFour + `,` + undoLast + `],"think":null`: "Take back what was written|Take back what turn 4 wrote to vase_1, vase_9",
		`"calls":[` + undoNine + `,{"step":0,"tool":"undo","filters":[{"field":"turn","op":"=","value":"4"},{"field":"id","op":"=","value":"vase_1"}]}],"think":null`: "Take back what turn 4 wrote to vase_9, vase_1",
		`"calls":[` + undoFour + `,{"step":0,"tool":"undo","filters":[{"field":"turn","op":"=","value":"turn 4"}]}],"think":null`:                                     "Take back what turn 4 wrote",
	} {
		var got []string
		plan := togetherPlan(t, rest)
		in := togetherInput().Plan
		in.Deleted, in.Permission, in.MaxSteps = []string{"vase_9"}, nodes.Permission{Allowed: true}, 5
		ready, refused := in.Ready(plan)
		require.NotNil(t, ready, "%s: %s", rest, refused)
		for _, step := range ready.Steps {
			got = append(got, step.Description)
		}
		require.Equal(t, want, strings.Join(got, "|"), rest)
	}
	require.Equal(t, &nodes.UndoRequest{Turn: 4, Refs: []string{"vase_1", "vase_9"}}, nodes.UndoIn(togetherPlan(t, `"calls":[`+undoFour+`],"think":null`).Steps[0].ReadyCalls()))
}

// An undo writes, takes a turn that exists by its number, and waits for no answer.
func TestUndoThatCannotBeFollowed(t *testing.T) {
	t.Parallel()
	allowed := nodes.Permission{Allowed: true}
	for call, complaint := range map[string]string{
		`"calls":[{"step":0,"tool":"undo","filters":[{"field":"turn","op":"=","value":"the third"}]}],"think":null`: "number of a turn",
		`"calls":[{"step":0,"tool":"undo","filters":[{"field":"id","op":"=","value":"vase_77"}]}],"think":null`:     "no vase_77",
		`"calls":[{"step":0,"tool":"undo","filters":[{"field":"tint","op":"=","value":"blue"}]}],"think":null`:      "and no others",
		`"calls":[{"step":0,"tool":"undo","filters":[{"field":"id","op":"!=","value":"vase_1"}]}],"think":null`:     "and no others",
		`"calls":[{"step":0,"tool":"undo","filters":[{"field":"id","op":"in","value":[]}]}],"think":null`:           "and no others",
		`"calls":[{"step":0,"tool":"undo","filters":[{"field":"turn","op":"in","value":[3,4]}]}],"think":null`:      "and no others",
		`"calls":[` + undoLast + `,` + undoLast + `],"think":null`:                                                  "without turn it takes back the last one that wrote, all of it at once",
		`"calls":[` + undoLast + `],"think":{"goal":"","steps":[],"proposal":"Shall I buy one?","questions":[]}`:    "waits for no answer",
	} {
		in := togetherInput().Plan
		in.Permission, in.MaxSteps = allowed, 5
		ready, refused := in.Ready(togetherPlan(t, call))
		require.Nil(t, ready)
		require.Contains(t, refused, complaint)
	}
	in := togetherInput().Plan
	in.MaxSteps = 5
	ready, refused := in.Ready(togetherPlan(t, `"calls":[`+undoLast+`],"think":null`))
	require.Nil(t, ready, "nobody asked for it")
	require.Empty(t, refused)
}
