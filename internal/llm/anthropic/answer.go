package anthropic

import (
	"cmp"
	"context"
	"errors"

	"github.com/anthropics/anthropic-sdk-go"

	"alfred/internal/llm"
	"alfred/internal/llm/wire"
)

// response translates a message as far as it has arrived. The forced tool's input is the text of a structured answer.
func (m *model) response(req *llm.Request, message *anthropic.Message) *llm.Response {
	response := &llm.Response{Model: cmp.Or(message.Model, m.Config.Model), Provider: m.Config.Provider, Usage: usage(&message.Usage)}
	for i := range message.Content {
		block := &message.Content[i]
		switch {
		case block.Type == "text":
			response.Text += block.Text
		case block.Type != "tool_use":
		case len(req.Schema) > 0 && block.Name == req.SchemaName:
			response.Text = string(block.Input)
			return response
		default:
			response.ToolCalls = append(response.ToolCalls, llm.ToolCall{Name: block.Name, Args: block.Input})
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
	var message anthropic.Message
	var form error
	for form == nil && events.Next() {
		event := events.Current()
		if event.Type == "content_block_stop" || event.Type == "message_stop" {
			continue // the SDK would replace arguments that are no JSON
		}
		form = message.Accumulate(event)
		// A tool's input is passed on only if it stands for the text.
		if text := event.Delta.Text + event.Delta.PartialJSON; text != "" && (event.Delta.PartialJSON == "" || len(req.Schema) > 0) {
			req.OnDelta(text)
		}
	}
	err := errors.Join(form, events.Err(), events.Close())
	response := m.response(req, &message)
	if failed, ok := errors.AsType[*anthropic.Error](err); ok {
		return response, m.Config.Event([]byte(failed.RawJSON()))
	}
	if err != nil {
		return response, err
	}

	return wire.Finish(req, response, end(message.StopReason))
}
