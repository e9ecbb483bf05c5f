package nodes

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"alfred/internal/answer"

	"github.com/google/jsonschema-go/jsonschema"
)

// Answers as models write them. Fields that most messages do not need are grouped in parts that a single null leaves
// out: the user waits for every token before the reply. The outputs themselves, with all fields side by side, are
// accepted too.

// understandAnswer is Understand's output as its schema asks for it.
type understandAnswer struct {
	Intent   string          `json:"intent"`
	Mentions []mentionAnswer `json:"mentions"`
	Quick    string          `json:"quick,omitempty"`
	Memory   *memoryAnswer   `json:"memory,omitempty"`
	Besides  *besidesAnswer  `json:"besides,omitempty"`
}

type mentionAnswer struct {
	Text       string `json:"text"`
	Ref        string `json:"ref"`
	Resolution string `json:"resolution"`
}

// memoryAnswer is what stays in view and what holds from now on.
type memoryAnswer struct {
	Curation

	Constraints []Constraint `json:"constraints"`
	Summary     string       `json:"summary"`
}

// besidesAnswer holds what decides about a turn before a plan does.
type besidesAnswer struct {
	AnswersQuestion bool            `json:"answers_question"`
	Disambiguation  *Disambiguation `json:"disambiguation,omitempty"`
	Clarification   []string        `json:"clarification"`
	Recall          string          `json:"recall"`
}

// togetherAnswer is an answer that also contains Think's decision: its calls, whatever else the plan has to say, and
// the reply if it need not wait for other results. The reply comes last, so that what precedes it says whether it may
// be shown while it is being written.
type togetherAnswer struct {
	understandAnswer

	Calls []json.RawMessage `json:"calls"`
	Think *planAnswer       `json:"think,omitempty"`
	Say   string            `json:"say"`
}

// thinkAnswer is Think's output as its schema asks for it.
type thinkAnswer struct {
	planAnswer

	Calls []json.RawMessage `json:"calls"`
}

type planAnswer struct {
	Goal      string       `json:"goal"`
	Steps     []stepAnswer `json:"steps"`
	Proposal  string       `json:"proposal"`
	Questions []string     `json:"questions"`
}

type stepAnswer struct {
	Type        string   `json:"type"`
	Subdomain   string   `json:"subdomain"`
	Description string   `json:"description"`
	Refs        []string `json:"refs"`
	Needs       string   `json:"needs"`
}

// written is an answer before its fields are checked.
type written map[string]any

// flatten moves the fields of an answer's parts to the top level, where UnderstandOutput has them. It reports whether
// the answer has parts.
func (w written) flatten() (inParts bool) {
	if memory, ok := w.part("memory"); ok {
		memory.add("curation_summary", memory["summary"])
		for _, name := range []string{"constraints", "curation_summary"} {
			w.add(name, memory[name])
			delete(memory, name)
		}
		delete(memory, "summary")
		w.add("curation", map[string]any(memory)) // what is left
	}
	_, inParts = w["besides"]
	if inParts && (w["intent"] == "confirm" || w["intent"] == "answer") { // only an open question can be
		w.add("answers_question", true)
	}
	if besides, ok := w.part("besides"); ok {
		for name, value := range besides {
			w.add(name, value)
		}
	}
	for _, name := range []string{"clarification", "disambiguation", "quick", "recall", "say"} {
		if isNothing(w[name]) {
			delete(w, name)
		}
	}
	w.wrap("quick", "entity_type")
	w.wrap("recall", "query")
	w.wrap("clarification", "questions")

	return inParts
}

// isNothing reports whether a value says no more than that there is none: models write null as a text, or fill in the
// fields of what does not apply.
func isNothing(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case string:
		return slices.Contains([]string{"", "null", "none", "none.", "n/a", "nil"}, strings.ToLower(strings.TrimSpace(value)))
	case []any:
		return !slices.ContainsFunc(value, func(one any) bool { return !isNothing(one) })
	case map[string]any:
		return isNothing(slices.Collect(maps.Values(value)))
	default:
		return false
	}
}

// part removes and returns an object.
func (w written) part(name string) (written, bool) {
	part, ok := w[name].(map[string]any)
	if ok || w[name] == nil {
		delete(w, name)
	}

	return part, ok
}

// add does not replace a value.
func (w written) add(name string, value any) {
	if w[name] == nil {
		w[name] = value
	}
}

// wrap turns a bare value into the object with one field that is meant.
func (w written) wrap(name, field string) {
	switch value := w[name].(type) {
	case nil, map[string]any, bool: // a bool is neither form, which decoding reports
	default:
		w[name] = map[string]any{field: value}
	}
}

// plan removes and returns Think's decision, together with the calls next to it; nil if there is none. In an answer in
// parts, a null plan adds nothing to the calls.
func (w written) plan(inParts bool) any {
	calls, _ := w["calls"].([]any)
	say, _ := w["say"].(string)
	plan, asked := w["think"]
	delete(w, "think")
	delete(w, "calls")
	delete(w, "say")
	if plan == nil && (len(calls) > 0 || say != "" || inParts && asked) {
		plan = map[string]any{} // the calls, if any, are the whole plan
	}
	if own, ok := plan.(map[string]any); ok && len(calls) > 0 {
		more, _ := own["calls"].([]any)
		own["calls"] = append(more, calls...)
	}

	return plan
}

// constraintForm is how a constrained model writes a constraint's value. Any other JSON value is accepted too.
type constraintForm struct {
	From   string   `json:"from,omitempty"`
	Items  []string `json:"items,omitempty"`
	Number *float64 `json:"number,omitempty"`
	To     string   `json:"to,omitempty"`
}

func constraintValue() *jsonschema.Schema {
	return optional(object(fields{
		"from":   optional(text("First day, as 2026-01-31.")),
		"items":  list("What is excluded or required.", text("")),
		"number": optional(&jsonschema.Schema{Type: "number", Description: "A count or an amount."}),
		"to":     optional(text("Last day, as 2026-01-31.")),
	}))
}

// plainValue simplifies a value: nothing becomes null, a single number or item is unwrapped. A constraint is stored and
// shown in the same form however it was written.
func plainValue(given json.RawMessage) json.RawMessage {
	var form constraintForm
	if len(given) == 0 || answer.Decode(given, &form) != nil {
		return given
	}
	dated := form.From != "" || form.To != ""
	var plain any = form
	switch {
	case !dated && form.Number == nil && len(form.Items) == 0:
		return nil
	case !dated && form.Number == nil && len(form.Items) == 1:
		plain = form.Items[0]
	case !dated && form.Number == nil:
		plain = form.Items
	case !dated && len(form.Items) == 0:
		plain = form.Number
	}
	encoded, err := json.Marshal(plain)
	if err != nil {
		return given
	}

	return encoded
}
