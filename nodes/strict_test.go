package nodes_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/llm"
	"alfred/internal/llm/wire"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// Every schema is valid in strict modes: within OpenAI's subset, and within Anthropic's grammar limits over all the
// tools of a request.
func TestSchemasAreStrict(t *testing.T) {
	t.Parallel()

	const maxUnions, maxStrictTools, maxDepth = 16, 20, 5
	check := func(t *testing.T, schemas ...json.RawMessage) {
		t.Helper()
		unions := 0
		for _, schema := range schemas {
			require.True(t, wire.Strict(schema), "%s", schema)
			var decoded any
			require.NoError(t, json.Unmarshal(schema, &decoded))
			unions += countUnions(decoded)
			require.LessOrEqual(t, objectDepth(decoded), maxDepth)
		}
		require.LessOrEqual(t, unions, maxUnions)
		require.LessOrEqual(t, len(schemas), maxStrictTools)
	}

	tables := []string{"vases"}
	writable := map[string][]string{vocab.ToolCreate: tables, vocab.ToolUpdate: tables, vocab.ToolDelete: tables}
	for _, stepType := range []string{"read", "analyze", "generate", "write", "whole turn"} {
		var turn nodes.Tools
		if stepType == "whole turn" {
			stepType = "read"
			box := nodes.Toolbox{Tables: tables, Writable: writable, EntityTypes: []string{"vase"}}
			var err error
			turn, err = box.TurnTools()
			require.NoError(t, err)
		}
		t.Run("Act_"+stepType, func(t *testing.T) {
			t.Parallel()
			m := &scripted{answers: []llm.Response{{ToolCalls: []llm.ToolCall{calls("step_complete", `{"summary":"ok","conclusions":"","note":""}`)}}}}
			_, err := nodes.Act(t.Context(), m, nodes.ActInput{
				Frame: frame(), StepType: stepType, Toolbox: nodes.Toolbox{Tables: tables, Writable: writable, EntityTypes: []string{"vase"}},
				SchemaRequestsLeft: 1, Changed: true, Turn: turn,
			})
			require.NoError(t, err)
			var schemas []json.RawMessage
			for _, tool := range m.requests[0].Tools {
				schemas = append(schemas, tool.Schema)
			}
			check(t, schemas...)
			require.Equal(t, turn != nil || stepType == "write", slices.ContainsFunc(m.requests[0].Tools, func(tool llm.Tool) bool { return tool.Name == vocab.ToolCreate }),
				"one list for all steps of a turn; without it each has its own")
		})
	}

	m := says(`{}`, writePlan, `{}`, `{"text":"x"}`)
	_, err := nodes.Understand(t.Context(), m, nodes.UnderstandInput{Frame: frame(), EntityTypes: []string{"vase"}})
	require.NoError(t, err)
	think := thinkInput()
	think.Permission.Allowed = true
	_, err = nodes.Think(t.Context(), m, think)
	require.NoError(t, err)
	_, err = nodes.Summarize(t.Context(), m, nodes.SummarizeInput{Frame: frame()})
	require.NoError(t, err)
	_, err = nodes.Compress(t.Context(), m, nodes.CompressInput{Frame: frame()})
	require.NoError(t, err)
	for _, request := range m.requests {
		t.Run(request.SchemaName, func(t *testing.T) { t.Parallel(); check(t, request.Schema) })
	}
}

// countUnions counts unions: each multiplies the grammar.
func countUnions(node any) int {
	count := 0
	switch n := node.(type) {
	case map[string]any:
		if _, list := n["type"].([]any); list || n["anyOf"] != nil {
			count++
		}
		for _, child := range n {
			count += countUnions(child)
		}
	case []any:
		for _, child := range n {
			count += countUnions(child)
		}
	}

	return count
}

func objectDepth(node any) int {
	deepest := 0
	switch n := node.(type) {
	case map[string]any:
		for _, child := range n {
			deepest = max(deepest, objectDepth(child))
		}
		if n["type"] == "object" {
			deepest++
		}
	case []any:
		for _, child := range n {
			deepest = max(deepest, objectDepth(child))
		}
	}

	return deepest
}

// A constraint's value is stored in one form, whoever wrote it.
func TestConstraintValue(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		`null`: ``,
		`{"from":null,"items":[],"number":null,"to":null}`:                 ``,
		`{"from":null,"items":[],"number":2,"to":null}`:                    `2`,
		`{"from":null,"items":["cod"],"number":null,"to":null}`:            `"cod"`,
		`{"from":null,"items":["cod","eel"],"number":null,"to":null}`:      `["cod","eel"]`,
		`{"from":"2026-01-01","items":[],"number":null,"to":"2026-01-31"}`: `{"from":"2026-01-01","to":"2026-01-31"}`,
		`"nuts"`:             `"nuts"`,
		`{"max":20,"per":1}`: `{"max":20,"per":1}`,
	} {
		out, err := nodes.Understand(t.Context(), says(`{"constraints":[{"text":"x","kind":"other","scope":"session","value":`+given+`}]}`), nodes.UnderstandInput{Frame: frame()})
		require.NoError(t, err)
		require.Empty(t, out.Degraded)
		require.Equal(t, want, string(out.Constraints[0].Value), given)
	}
}

// Fields that there are none of are told together: what there is stands once.
func TestUnknownFieldsAreToldOnce(t *testing.T) {
	t.Parallel()
	model := says(`{"conversation":"c","narrative":"n","intent":"read","say":"Hi."}`, `{"conversation":"c","narrative":"n"}`)
	_, err := nodes.Compress(t.Context(), model, nodes.CompressInput{Frame: frame()})
	require.NoError(t, err)
	said := model.requests[1].Messages[len(model.requests[1].Messages)-1].Content
	require.Contains(t, said, `there is no field "intent", "say"; there are conversation, narrative`)
	require.NotContains(t, said, "text", "what is accepted besides is not asked for")
}
