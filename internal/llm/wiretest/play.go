package wiretest

import (
	"context"
	"net/http"
	"sync"

	"alfred/internal/llm"
)

// player infers what no wire protocol says: which decision a request is for. It follows one session whose requests come
// in order.
type player struct {
	model llm.Model

	mu   sync.Mutex
	turn int
	last map[string]*decision // by node
}

type decision struct {
	turn, ordinal, attempt int
	prompt                 string
}

// Play lets model answer the requests of one session. The schema's name identifies the node; a request with tools is
// act, one with neither is reply. Each new understand begins a turn. A request whose prompt begins like its node's last
// one is a retry if it is identical, and a repair if more messages follow.
func Play(model llm.Model) Handler {
	p := &player{model: model, last: map[string]*decision{}}
	return func(ctx context.Context, call *Call) Reply {
		request := call.Request
		p.locate(&request)
		response, err := p.model.Generate(ctx, &request)
		if err != nil {
			return failure(err)
		}

		return Reply{Text: response.Text, ToolCalls: response.ToolCalls, Usage: response.Usage}
	}
}

func (p *player) locate(request *llm.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	request.Node = node(request)
	asked, repairs := rounds(request.Messages)
	prompt := request.System
	for _, message := range asked {
		prompt += "\n" + message.Content
	}
	d := p.last[request.Node]
	switch {
	case d != nil && d.prompt == prompt:
		d.attempt = 1 + repairs
	case request.Node == "understand":
		p.turn++
		d = &decision{turn: p.turn, ordinal: 1, attempt: 1, prompt: prompt}
	case d != nil && d.turn == p.turn:
		d = &decision{turn: p.turn, ordinal: d.ordinal + 1, attempt: 1, prompt: prompt}
	default:
		d = &decision{turn: p.turn, ordinal: 1, attempt: 1, prompt: prompt}
	}
	p.last[request.Node] = d
	request.Turn, request.Ordinal, request.Attempt = d.turn, d.ordinal, d.attempt
}

// rounds divides messages into those of a decision's first request, which end with the prompt or with results, and the
// later repairs, each with a complaint and perhaps an answer.
func rounds(messages []llm.Message) (asked []llm.Message, repairs int) {
	end := min(1, len(messages))
	for i, message := range messages {
		if message.Role == llm.RoleTool {
			end = i + 1
		}
	}
	for _, message := range messages[end:] {
		if message.Role == llm.RoleUser {
			repairs++
		}
	}

	return messages[:end], repairs
}

func node(request *llm.Request) string {
	switch {
	case request.SchemaName != "":
		return request.SchemaName
	case len(request.Tools) > 0:
		return "act"
	}

	return "reply"
}

// failure converts a model's error to a server's response.
func failure(err error) Reply {
	reply := Reply{Status: http.StatusBadRequest, Code: "invalid_request_error", Message: err.Error()}
	switch llm.KindOf(err) {
	case llm.KindAuth:
		reply.Status, reply.Code = http.StatusUnauthorized, "invalid_api_key"
	case llm.KindContextOverflow:
		reply.Code = "context_length_exceeded"
	case llm.KindInvalidOutput:
		return Reply{Text: "...", End: EndCutOff}
	case llm.KindOverloaded:
		reply.Status, reply.Code = http.StatusServiceUnavailable, "overloaded_error"
	case llm.KindRateLimit:
		reply.Status, reply.Code = http.StatusTooManyRequests, "rate_limit_error"
	case llm.KindRefusal:
		return Reply{Text: "I can't help with that.", End: EndRefused}
	case llm.KindInvalidRequest, llm.KindScriptExhausted, llm.KindTooLarge:
	}

	return reply
}
