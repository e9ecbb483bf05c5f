package nodes

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"alfred/internal/exact"
	"alfred/internal/llm"
)

// Round is the step's previous model call. The next one continues it: the same messages, the answer, and what the
// answer's calls returned.
type Round struct {
	Messages []llm.Message
	Answer   llm.Message
}

// Tokens estimates how much of the next prompt the conversation takes, without the results of its last calls.
func (r *Round) Tokens() int {
	req := llm.Request{Messages: append(slices.Clip(r.Messages), r.Answer)}

	return req.EstimateTokens()
}

// calledName matches the tool names that all providers accept.
var calledName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`)

// NewRound returns the model call that was asked with these messages and got this answer. It is nil if no conversation
// can continue from the answer: it has no calls, or one that providers would not take back.
func NewRound(messages []llm.Message, answer *llm.Response) (*Round, error) {
	if answer == nil || len(answer.ToolCalls) == 0 {
		return nil, nil
	}
	said := llm.Message{ // some providers answer with blanks before a call, and refuse to take them back
		Role: llm.RoleAssistant, Content: strings.TrimSpace(answer.Text), ToolCalls: answer.ToolCalls, Reasoning: answer.Reasoning, Provider: answer.Provider,
	}
	data, err := exact.Storable(said)
	if err != nil {
		return nil, fmt.Errorf("encode an answer: %w", err)
	}
	round := &Round{Messages: messages}
	if err := json.Unmarshal(data, &round.Answer); err != nil {
		return nil, fmt.Errorf("read an answer: %w", err)
	}
	if !sendable(round.Answer.ToolCalls) {
		return nil, nil
	}

	return round, nil
}

// sendable normalizes the arguments of calls, so that they are the same from the provider and from the database, and
// reports whether providers take the calls back.
func sendable(calls []llm.ToolCall) bool {
	for i := range calls {
		call, args := &calls[i], map[string]any(nil)
		if len(call.Args) == 0 {
			call.Args = json.RawMessage(`{}`)
		}
		if exact.Decode(call.Args, &args) != nil || args == nil || !calledName.MatchString(call.Name) {
			return false
		}
		var err error
		if call.Args, err = exact.Storable(args); err != nil {
			return false
		}
	}

	return true
}

// StoredRound is NewRound for a call as it is stored.
func StoredRound(provider string, request, response json.RawMessage) (*Round, error) {
	var asked struct {
		Messages []llm.Message `json:"messages"`
	}
	answer := &llm.Response{}
	if len(request) == 0 || len(response) == 0 { // a part of it is lost
		return nil, nil
	}
	if err := json.Unmarshal(request, &asked); err != nil {
		return nil, fmt.Errorf("read a stored request: %w", err)
	}
	if err := json.Unmarshal(response, answer); err != nil {
		return nil, fmt.Errorf("read a stored answer: %w", err)
	}
	if len(asked.Messages) == 0 {
		return nil, nil
	}
	answer.Provider = provider
	for i := range asked.Messages {
		sendable(asked.Messages[i].ToolCalls)
	}

	return NewRound(asked.Messages, answer)
}
