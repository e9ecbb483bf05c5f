package script

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"alfred/internal/llm"
	"alfred/internal/vocab"
)

const (
	provider = "script"

	// deltaRunes is the longest piece in which a text arrives.
	deltaRunes = 12
)

// Model plays a script. Its methods are safe for concurrent use.
type Model struct {
	turns    []map[string][]*entry
	compress []*entry

	mu     sync.Mutex
	failed map[*entry]int // errors returned so far
}

var _ llm.Model = (*Model)(nil)

// Load reads the script at path.
func Load(path string) (*Model, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("load script: %w", err)
	}
	model, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("load script %s: %w", path, err)
	}

	return model, nil
}

// Generate plays the entry that req addresses.
func (m *Model) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	chosen, err := m.find(req)
	if err != nil {
		return nil, &llm.Error{Kind: llm.KindScriptExhausted, Provider: provider, Err: err}
	}
	if err := sleep(ctx, chosen.delay); err != nil {
		return nil, &llm.Error{Kind: llm.KindOverloaded, Provider: provider, Err: err}
	}
	if failure := m.failure(chosen); failure != nil {
		return nil, failure
	}

	return play(req, m.with(req, chosen)), nil
}

// with adds the turn's first answers of further nodes if the request allows them, as a model does when asked for all at
// once. An answer with scripted errors is left for its own node's request.
func (m *Model) with(req *llm.Request, e *entry) *entry {
	var own map[string]json.RawMessage
	if len(req.Holds) == 0 || json.Unmarshal([]byte(e.text), &own) != nil {
		return e
	}
	for _, node := range req.Holds {
		list := m.list(&llm.Request{Node: node, Turn: req.Turn})
		if len(list) > 0 && list[0].plain() && own[node] == nil {
			own[node] = json.RawMessage(list[0].text)
		}
	}
	text, err := json.Marshal(own)
	if err != nil {
		return e
	}
	both := *e
	both.text = string(text)

	return &both
}

func (m *Model) find(req *llm.Request) (*entry, error) {
	list := m.list(req)
	position := max(req.Ordinal, 1)
	if req.Ordinal == 0 {
		position = max(req.Call, 1)
	}
	if stepped(list) {
		list, position = ofStep(list, req.Step), max(req.Call, 1)
	}
	if position > len(list) {
		return nil, fmt.Errorf("turn %d has no entry %d of %s (step %d)", req.Turn, position, req.Node, req.Step)
	}

	return list[position-1].attempt(req.Attempt), nil
}

func (m *Model) list(req *llm.Request) []*entry {
	var list []*entry
	if req.Turn >= 1 && req.Turn <= len(m.turns) {
		list = m.turns[req.Turn-1][req.Node]
	}
	if list == nil && req.Node == vocab.NodeCompress {
		return m.compress
	}

	return list
}

// failure returns the entry's error while there is one left to return.
func (m *Model) failure(e *entry) *llm.Error {
	if e.failure == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if e.failure.Times > 0 && m.failed[e] >= e.failure.Times {
		return nil
	}
	m.failed[e]++

	return &llm.Error{
		Kind: e.failure.Kind, Provider: provider, RetryAfter: time.Duration(e.failure.RetryAfter), Err: fmt.Errorf("the script says %s", e.failure.Kind),
	}
}

func play(req *llm.Request, e *entry) *llm.Response {
	response := &llm.Response{Text: e.text, ToolCalls: e.calls, Model: provider, Provider: provider}
	response.Usage = llm.Usage{Input: req.EstimateTokens(), Output: response.EstimateTokens()}
	if req.OnDelta != nil {
		stream(e.text, req.OnDelta)
	}

	return response
}

// stream splits text after words, or after a few runes of a long one.
func stream(text string, onDelta func(string)) {
	for word := range strings.SplitAfterSeq(text, " ") {
		for piece := range slices.Chunk([]rune(word), deltaRunes) {
			onDelta(string(piece))
		}
	}
}

func sleep(ctx context.Context, delay time.Duration) error {
	if delay <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// entry is one answer of one node.
type entry struct {
	step    int
	delay   time.Duration
	failure *failure
	text    string
	calls   []llm.ToolCall
	repairs []*entry
}

// failure is an entry's error, returned Times times; 0 means always.
type failure struct {
	Kind       llm.Kind `json:"kind"`
	RetryAfter duration `json:"retry_after"`
	Times      int      `json:"times"`
}

// check rejects a misspelt kind, which nothing would ever handle.
func (f *failure) check() error {
	switch f.Kind {
	case llm.KindAuth, llm.KindContextOverflow, llm.KindInvalidOutput, llm.KindInvalidRequest,
		llm.KindOverloaded, llm.KindRateLimit, llm.KindRefusal, llm.KindScriptExhausted, llm.KindTooLarge:
		return nil
	}

	return fmt.Errorf("%w: error kind %q", errForm, f.Kind)
}

// attempt returns what to play for the n-th request of one decision.
func (e *entry) attempt(n int) *entry {
	repair := min(n-1, len(e.repairs))
	if repair < 1 {
		return e
	}

	return e.repairs[repair-1]
}

// plain reports whether the entry contains only an answer.
func (e *entry) plain() bool {
	return e.failure == nil && e.delay == 0 && len(e.repairs) == 0 && json.Valid([]byte(e.text))
}

func stepped(list []*entry) bool {
	return slices.ContainsFunc(list, func(e *entry) bool { return e.step > 0 })
}

func ofStep(list []*entry, step int) []*entry {
	return slices.DeleteFunc(slices.Clone(list), func(e *entry) bool { return e.step != step })
}
