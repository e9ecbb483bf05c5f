package script

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"alfred/internal/llm"
)

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
