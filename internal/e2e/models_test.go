package e2e_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"alfred/internal/domain"
	"alfred/internal/llm"
)

// moment is a model during whose calls something else happens, each once.
type moment struct {
	llm.Model

	mu      sync.Mutex
	pending []*interruption
}

type interruption struct {
	turn int // 0: any
	node string
	left int // requests to it until then
	then func()
}

// at runs something when a node is asked for the nth time, in a turn or from now on.
func (m *moment) at(turn int, node string, nth int, then func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pending = append(m.pending, &interruption{turn, node, nth, then})
}

func (m *moment) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	m.mu.Lock()
	due := []func(){}
	m.pending = slices.DeleteFunc(m.pending, func(i *interruption) bool {
		if i.node != req.Node || i.turn != 0 && i.turn != req.Turn {
			return false
		}
		if i.left--; i.left == 0 {
			due = append(due, i.then)
		}

		return i.left == 0
	})
	m.mu.Unlock()
	for _, then := range due {
		then()
	}

	return m.Model.Generate(ctx, req)
}

// interruptible is a conversation during whose calls something can happen.
func interruptible(t *testing.T, yaml string) (*talk, *moment) {
	t.Helper()
	m, made := &moment{}, playing(t, yaml)
	c := openHouse(t, fixtures{model: func(d *domain.Domain) llm.Model { m.Model = made(d); return m }}).resident("ada").talk()

	return c, m
}

// stepwise makes one call in each step of a turn, and gives the step up where that fails.
type stepwise struct {
	llm.Model

	call func(*llm.Request) llm.ToolCall
}

func (m *stepwise) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	if req.Node != "act" {
		return m.Model.Generate(ctx, req)
	}
	calls := []llm.ToolCall{m.call(req), {Name: "step_complete", Args: []byte(`{"summary": "done"}`)}}
	if req.Call > 1 {
		calls = []llm.ToolCall{{Name: "blocked", Args: []byte(`{"code": "tool_failure", "details": "It cannot be done now.", "next": "fail"}`)}}
	}

	return &llm.Response{ToolCalls: calls, Model: "stepwise", Provider: "test"}, nil
}
