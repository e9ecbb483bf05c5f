package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/goccy/go-yaml"

	"alfred/internal/llm"
	"alfred/internal/vocab"
)

var (
	errForm  = errors.New("unexpected form")
	errSteps = errors.New("either all act entries of a turn carry a step or none")
)

// file is the YAML document: what each node answers, turn by turn. Entries stay untyped, because an output's fields are
// mixed with the script's own keys.
type file struct {
	Turns    []map[string]any `yaml:"turns"`
	Compress any              `yaml:"compress"`
}

var nodes = []string{vocab.NodeUnderstand, vocab.NodeThink, vocab.NodeAct, vocab.NodeReply, vocab.NodeSummarize, vocab.NodeCompress}

// extras are the script's own keys of an entry.
type extras struct {
	Delay   duration `json:"delay"`
	Error   *failure `json:"error"`
	Raw     *string  `json:"raw"`
	Repairs []any    `json:"repairs"`
	Step    int      `json:"step"`
}

// call is one tool call of an act entry.
type call struct {
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args"`
	Raw  *string         `json:"raw"`
}

// duration is written as 200ms.
type duration time.Duration

// UnmarshalText accepts what time.ParseDuration does.
func (d *duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = duration(parsed)

	return err
}

// Parse parses a script. Unknown keys are errors.
//
// The file lists what each node answers in each turn of a session:
//
//	turns:
//	  - understand: {intent: read, ...}       # the node's output
//	    think:                                # a list, if the node decides several times
//	      - {decision: plan, steps: [...]}
//	      - {decision: plan, steps: [...]}    # after a replan
//	    act:
//	      - calls: [{tool: db_read, args: {table: recipes}}]
//	      - calls: [{tool: step_complete, args: {summary: "2 recipes"}}]
//	    reply: You have two recipes.
//	    summarize: {response_summary: ...}
//	compress: {text: ...}                     # for every turn without its own
//
// Turns count within a session. An entry is found from the request alone (Node, Turn, Ordinal; Call if Ordinal is 0).
// Act's list counts over the whole turn; if all its entries carry `step: 2` or the like, they count within that step, by
// Call. The ends of a step (step_complete, ask_user, blocked, request_schema) are tool calls. An entry may also hold:
//
//	delay: 200ms                 # before the answer
//	error: {kind: rate_limit, retry_after: 2s, times: 1}   # times 0: always
//	raw: "{not json"             # the answer's literal text
//	repairs: [...]               # entries for attempts 2, 3, ...
//
// and a call may have `raw: "{not json"` instead of args. An attempt without a repair gets the last answer again. `times`
// counts only in this process. A request without an entry fails with llm.KindScriptExhausted.
func Parse(text []byte) (*Model, error) {
	var parsed file
	if err := yaml.UnmarshalWithOptions(text, &parsed, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("parse script: %w", err)
	}
	model := &Model{failed: map[*entry]int{}}
	for i, t := range parsed.Turns {
		turn, err := ofTurn(t)
		if err != nil {
			return nil, fmt.Errorf("parse script: turn %d: %w", i+1, err)
		}
		model.turns = append(model.turns, turn)
	}
	var err error
	if model.compress, err = entries(vocab.NodeCompress, parsed.Compress); err != nil {
		return nil, fmt.Errorf("parse script: %w", err)
	}

	return model, nil
}

func ofTurn(values map[string]any) (map[string][]*entry, error) {
	turn := map[string][]*entry{}
	for node, value := range values {
		if !slices.Contains(nodes, node) {
			return nil, fmt.Errorf("%w: there is no node %s", errForm, node)
		}
		var err error
		if turn[node], err = entries(node, value); err != nil {
			return nil, err
		}
	}
	if act := turn[vocab.NodeAct]; stepped(act) && len(ofStep(act, 0)) > 0 {
		return nil, errSteps
	}

	return turn, nil
}

// entries parses what is below a node: nothing, one entry or a list.
func entries(node string, value any) ([]*entry, error) {
	if value == nil {
		return nil, nil
	}
	values, isList := value.([]any)
	if !isList {
		values = []any{value}
	}
	list := make([]*entry, 0, len(values))
	for i, v := range values {
		e, err := newEntry(node, v)
		if err != nil {
			return nil, fmt.Errorf("%s entry %d: %w", node, i+1, err)
		}
		list = append(list, e)
	}

	return list, nil
}

func newEntry(node string, value any) (*entry, error) {
	if text, ok := value.(string); ok {
		return textEntry(node, text)
	}
	fields, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%w: %T", errForm, value)
	}
	output, own := split(fields)
	var x extras
	if err := convert(own, &x); err != nil {
		return nil, err
	}
	if x.Error != nil {
		if err := x.Error.check(); err != nil {
			return nil, err
		}
	}
	e := &entry{step: x.Step, delay: time.Duration(x.Delay), failure: x.Error}
	if err := e.answer(node, output, x.Raw); err != nil {
		return nil, err
	}
	for i, v := range x.Repairs {
		repair, err := newEntry(node, v)
		if err != nil {
			return nil, fmt.Errorf("repair %d: %w", i+1, err)
		}
		e.repairs = append(e.repairs, repair)
	}

	return e, nil
}

// textEntry is the short form for nodes whose output is a text.
func textEntry(node, text string) (*entry, error) {
	switch node {
	case vocab.NodeReply:
		return &entry{text: text}, nil
	case vocab.NodeCompress:
		e := &entry{}
		return e, e.answer(node, map[string]any{"text": text}, nil)
	}

	return nil, fmt.Errorf("%w: a text", errForm)
}

// split separates the node's output from the script's own keys.
func split(fields map[string]any) (output, own map[string]any) {
	output, own = maps.Clone(fields), map[string]any{}
	for _, key := range []string{"delay", "error", "raw", "repairs", "step"} {
		if value, ok := fields[key]; ok {
			own[key] = value
			delete(output, key)
		}
	}

	return output, own
}

// answer sets what the entry answers.
func (e *entry) answer(node string, output map[string]any, raw *string) error {
	switch {
	case raw != nil:
		e.text = *raw
		return nil
	case node == vocab.NodeAct:
		return e.answerCalls(output)
	case node == vocab.NodeReply:
		text, isText := output["text"].(string)
		if e.failure == nil && (!isText || len(output) != 1) {
			return fmt.Errorf("%w: a reply is a text, or {text: ...}", errForm)
		}
		e.text = text

		return nil
	}
	encoded, err := json.Marshal(output)
	if err != nil {
		return fmt.Errorf("encode output: %w", err)
	}
	e.text = string(encoded)

	return nil
}

func (e *entry) answerCalls(output map[string]any) error {
	var act struct {
		Calls []call `json:"calls"`
		Text  string `json:"text"`
	}
	if err := convert(output, &act); err != nil {
		return err
	}
	e.text = act.Text
	for _, c := range act.Calls {
		e.calls = append(e.calls, llm.ToolCall{Name: c.Tool, Args: c.args()})
	}

	return nil
}

func (c *call) args() json.RawMessage {
	switch {
	case c.Raw != nil:
		return json.RawMessage(*c.Raw)
	case c.Args == nil:
		return json.RawMessage(`{}`)
	}

	return c.Args
}

// convert decodes untyped fields into a struct and rejects unknown keys.
func convert(fields map[string]any, into any) error {
	text, err := json.Marshal(fields)
	if err != nil {
		return fmt.Errorf("encode entry: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("read entry: %w", err)
	}

	return nil
}
