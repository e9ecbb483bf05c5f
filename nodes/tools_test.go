package nodes_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/llm"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// Write tools offer the tables that the step may write, read tools all that it may name.
func TestToolsOfferTheStepsTables(t *testing.T) {
	t.Parallel()
	model := &scripted{answers: []llm.Response{{ToolCalls: []llm.ToolCall{calls("step_complete", `{"summary": "done"}`)}}}}
	in := nodes.ActInput{Frame: frame(), StepType: "write", Toolbox: nodes.Toolbox{Tables: []string{"vases", "rooms"}, Writable: map[string][]string{vocab.ToolCreate: {"vases"}, vocab.ToolUpdate: {"vases"}, vocab.ToolDelete: {"vases"}}, EntityTypes: []string{"vase"}}, Changed: true}
	_, err := nodes.Act(t.Context(), model, in)
	require.NoError(t, err)

	offered := map[string][]string{}
	for _, tool := range model.requests[0].Tools {
		var schema struct {
			Properties struct {
				Table struct {
					Enum []string `json:"enum"`
				} `json:"table"`
			} `json:"properties"`
		}
		require.NoError(t, json.Unmarshal(tool.Schema, &schema))
		if schema.Properties.Table.Enum != nil {
			offered[tool.Name] = schema.Properties.Table.Enum
		}
	}
	require.Equal(t, map[string][]string{
		"db_create": {"vases"}, "db_update": {"vases"}, "db_delete": {"vases"}, "db_read": {"vases", "rooms"},
	}, offered)
}
