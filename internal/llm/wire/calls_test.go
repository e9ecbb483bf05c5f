package wire_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/llm"
	"alfred/internal/llm/wire"
)

// A call is a call in whatever form its server leaves it; what only may be one stays text, of which a model is told.
func TestCallsInTexts(t *testing.T) {
	t.Parallel()

	read, end := llm.ToolCall{Name: "db_read", Args: json.RawMessage(`{"table":"x"}`)}, llm.ToolCall{Name: "step_complete", Args: json.RawMessage(`{}`)}
	const one, other = `{"name": "db_read", "arguments": {"table":"x"}}`, `{"name": "step_complete", "parameters": {}}`
	for name, tt := range map[string]struct {
		text string
		want []llm.ToolCall
		rest string
	}{
		"AsAList":     {"[" + one + ", " + other + "]", []llm.ToolCall{read, end}, ""},
		"AboutMarks":  {`<tool_call>{"name": "db_read", "arguments": {"text": "</think>"}}</tool_call>`, []llm.ToolCall{{Name: "db_read", Args: json.RawMessage(`{"text": "</think>"}`)}}, ""},
		"Empty":       {"[]", nil, "[]"},
		"Fenced":      {"```json\n" + one + "\n```", []llm.ToolCall{read}, ""},
		"InProse":     {"Shall I call " + one + "?", nil, "Shall I call " + one + "?"},
		"Marked":      {"Reading.\n<tool_call>\n" + one + "\n</tool_call>\n<tool_call>" + other + "</tool_call>", []llm.ToolCall{read, end}, "Reading."},
		"NoArguments": {`{"name": "db_read"}`, nil, `{"name": "db_read"}`},
		"Only":        {one, []llm.ToolCall{read}, ""},
		"OtherTool":   {"<tool_call>" + one + `</tool_call><tool_call>{"name": "rm", "arguments": {}}</tool_call>`, nil, "<tool_call>" + one + `</tool_call><tool_call>{"name": "rm", "arguments": {}}</tool_call>`},
		"Prose":       {"Done.", nil, "Done."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			response, err := wire.Finish(offering(), &llm.Response{Text: tt.text}, wire.EndWhole)
			require.NoError(t, err)
			require.Equal(t, tt.want, response.ToolCalls)
			require.Equal(t, tt.rest, response.Text)
		})
	}

	response, err := wire.Finish(&llm.Request{}, &llm.Response{Text: one}, wire.EndWhole)
	require.NoError(t, err)
	require.Empty(t, response.ToolCalls, "where no tool is offered, it is a text")
}

func offering() *llm.Request {
	return &llm.Request{Tools: []llm.Tool{{Name: "db_read"}, {Name: "db_update"}, {Name: "step_complete"}}}
}

// The name of a tool may be in a namespace, and have parts of the chat template behind it.
func TestNamesOfTools(t *testing.T) {
	t.Parallel()

	for name, want := range map[string]string{
		"db_read": "db_read", "functions.db_read": "db_read", "default_api:db_read": "db_read", "functions.db_read:0": "db_read",
		"db_read<|channel|>commentary": "db_read", "DB_Read": "db_read",
		"db_read.db_update": "db_read.db_update", "db_reads": "db_reads", "multi_tool_use.parallel": "multi_tool_use.parallel", "": "",
	} {
		response, err := wire.Finish(offering(), &llm.Response{ToolCalls: []llm.ToolCall{{Name: name}}}, wire.EndWhole)
		require.NoError(t, err)
		require.Equal(t, want, response.ToolCalls[0].Name, name)
	}
}

// Nobody reads a call that stands in the text while it is written.
func TestCallsAreNotStreamed(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"Here it is.|\n|<tool_call>|{\"name\": \"db_read\"}|</tool_call>": "Here it is.\n",
		"<tool_call>{\"name\": |\"db_read\"}</tool_call>":                 "",
		"\n|{\"name\": |\"db_read\"}":                                     "",
		"``|`json\n{\"name\": |\"db_read\"}```":                           "",
		"Here is |{one}.":                                                 "Here is {one}.",
	} {
		var heard strings.Builder
		model := wire.Model{Config: &wire.Config{}, Ask: func(_ context.Context, req *llm.Request) (*llm.Response, error) {
			for piece := range strings.SplitSeq(text, "|") {
				req.OnDelta(piece)
			}

			return &llm.Response{}, nil
		}}
		req := offering()
		req.OnDelta = func(piece string) { heard.WriteString(piece) }
		_, err := model.Generate(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, want, heard.String(), text)
	}
}
