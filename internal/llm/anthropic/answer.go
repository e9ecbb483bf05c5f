package anthropic

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"

	"alfred/internal/llm"
	"alfred/internal/llm/wire"
)

// part is a block of an answer: a text, or a tool's name and input.
type part struct {
	tool string
	text strings.Builder
}

// answer translates a message that arrived in one piece.
func (m *model) answer(req *llm.Request, message *anthropic.Message) (*llm.Response, error) {
	var parts []*part
	for i := range message.Content {
		block := &message.Content[i]
		p := &part{}
		switch block.Type {
		case "text":
			p.text.WriteString(block.Text)
		case "tool_use":
			p.tool = block.Name
			p.text.Write(block.Input)
		}
		parts = append(parts, p)
	}
	response := m.response(req, message.Model, parts)
	response.Usage = usage(&message.Usage)

	return wire.Finish(req, response, end(cmp.Or(message.StopReason, anthropic.StopReasonEndTurn)))
}

// response combines parts; the forced tool's input is the text of a structured answer.
func (m *model) response(req *llm.Request, model string, parts []*part) *llm.Response {
	response := &llm.Response{Model: cmp.Or(model, m.Config.Model), Provider: m.Config.Provider}
	for _, p := range parts {
		switch {
		case p.tool == "":
			response.Text += p.text.String()
		case len(req.Schema) > 0 && p.tool == req.SchemaName:
			response.Text = p.text.String()
			return response
		default:
			response.ToolCalls = append(response.ToolCalls, llm.ToolCall{Name: p.tool, Args: json.RawMessage(p.text.String())})
		}
	}

	return response
}

// usage totals what the API counts separately: fresh input, cache reads and writes.
func usage(given *anthropic.Usage) llm.Usage {
	return llm.Usage{
		Input:  int(given.InputTokens + given.CacheReadInputTokens + given.CacheCreationInputTokens),
		Output: int(given.OutputTokens), Cached: int(given.CacheReadInputTokens),
	}
}

func end(reason anthropic.StopReason) wire.End {
	switch reason {
	case "":
		return wire.EndIncomplete
	case anthropic.StopReasonMaxTokens:
		return wire.EndCutOff
	case anthropic.StopReasonRefusal:
		return wire.EndRefused
	case "model_context_window_exceeded":
		return wire.EndOverflow
	default:
		return wire.EndWhole
	}
}

// stream reads an answer piece by piece. A connection that closes without a stop reason broke off, although reading it
// yields no error.
func (m *model) stream(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	events := m.service.NewStreaming(ctx, m.params(req))
	collected := streamed{onDelta: req.OnDelta, structured: len(req.Schema) > 0}
	for events.Next() {
		event := events.Current()
		collected.add(&event)
	}
	err := errors.Join(events.Err(), events.Close())
	response := m.response(req, collected.model, collected.parts)
	response.Usage = usage(&collected.usage)
	if err != nil {
		if failed, ok := errors.AsType[*anthropic.Error](err); ok {
			return response, m.Config.Event([]byte(failed.RawJSON()))
		}

		return response, err
	}

	return wire.Finish(req, response, end(collected.stop))
}

// streamed collects the pieces of an answer.
type streamed struct {
	model      string
	onDelta    func(string)
	parts      []*part
	stop       anthropic.StopReason
	structured bool
	usage      anthropic.Usage
}

func (s *streamed) add(event *anthropic.MessageStreamEventUnion) {
	switch event.Type {
	case "message_start":
		s.model, s.usage = event.Message.Model, event.Message.Usage
	case "content_block_start":
		s.parts = append(s.parts, &part{tool: event.ContentBlock.Name})
	case "content_block_delta":
		s.addDelta(event)
	case "message_delta":
		s.stop = event.Delta.StopReason
		s.usage.OutputTokens = event.Usage.OutputTokens
	}
}

// addDelta forwards text; a tool's input only if it stands for the text.
func (s *streamed) addDelta(event *anthropic.MessageStreamEventUnion) {
	if len(s.parts) == 0 {
		return
	}
	text := event.Delta.Text + event.Delta.PartialJSON
	s.parts[len(s.parts)-1].text.WriteString(text)
	if text != "" && (event.Delta.PartialJSON == "" || s.structured) {
		s.onDelta(text)
	}
}
