package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"alfred/internal/llm"
	"alfred/nodes"
)

// reword turns rule-based answers into what a model would have written.
func (m *listening) reword(req *llm.Request, resp *llm.Response) error {
	var answer any
	switch req.Node {
	case "reply":
		resp.Text = cmp.Or(m.now.Reply, resp.Text)

		return nil
	case "understand":
		both := &nodes.UnderstandOutput{}
		if err := json.Unmarshal([]byte(resp.Text), both); err != nil {
			return err
		}
		m.writeOut(req, both)
		answer = inParts(both)
	case "compress": // in a hundred words each
		short := &nodes.CompressOutput{}
		if err := json.Unmarshal([]byte(resp.Text), short); err != nil {
			return err
		}
		for _, text := range []*string{&short.Conversation, &short.Narrative} {
			words := strings.Fields(*text)
			*text = strings.Join(words[max(0, len(words)-100):], " ")
		}
		answer = short
	default:
		return nil
	}
	text, err := json.Marshal(answer)
	if err == nil {
		resp.Text, err = spelledOut(req.Schema, text)
	}

	return err
}

var drafts = regexp.MustCompile(`gen_recipe_\d+`)

// writeOut adds what models write out beside the plan: its calls, including the message's, and the reply if the calls
// do everything.
func (m *listening) writeOut(req *llm.Request, both *nodes.UnderstandOutput) {
	plan := both.Think
	if plan == nil {
		return
	}
	for i := range plan.Steps {
		for _, call := range plan.Steps[i].Calls {
			plan.Calls = append(plan.Calls, json.RawMessage(fmt.Sprintf(`{"step": %d, %s`, i+1, call[1:])))
		}
		plan.Steps[i].Calls = nil
	}
	if m.now.Call == "" {
		return
	}
	newest := slices.MaxFunc(append(drafts.FindAllString(req.Messages[0].Content, -1), ""), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	plan.Calls = []json.RawMessage{json.RawMessage(strings.ReplaceAll(m.now.Call, "$draft", newest))}
	both.Say = m.now.Reply
}

// inParts is an answer in the form of its schema: parts that the message does not need are null.
func inParts(both *nodes.UnderstandOutput) map[string]any {
	answer := map[string]any{"intent": both.Intent, "mentions": both.Mentions, "say": both.Say}
	if both.Quick != nil {
		answer["quick"] = both.Quick.EntityType
	}
	if c := both.Curation; c.ClearAll || len(c.Retain)+len(c.Demote)+len(c.Forget)+len(c.Exclude)+len(both.Constraints) > 0 {
		answer["memory"] = map[string]any{
			"retain": c.Retain, "demote": c.Demote, "forget": c.Forget, "exclude": c.Exclude, "clear_all": c.ClearAll,
			"constraints": both.Constraints, "summary": both.CurationSummary,
		}
	}
	answers := both.AnswersQuestion && both.Intent != "confirm" && both.Intent != "answer"
	if answers || both.Disambiguation != nil || both.Clarification != nil || both.Recall != nil {
		besides := map[string]any{"answers_question": both.AnswersQuestion, "disambiguation": both.Disambiguation}
		if both.Clarification != nil {
			besides["clarification"] = both.Clarification.Questions
		}
		if both.Recall != nil {
			besides["recall"] = both.Recall.Query
		}
		answer["besides"] = besides
	}
	if plan := both.Think; plan != nil {
		answer["calls"] = plan.Calls
		if len(plan.Calls) < len(plan.Steps) || plan.Proposal != "" || len(plan.Questions) > 0 {
			answer["think"] = map[string]any{"goal": plan.Goal, "steps": plan.Steps, "proposal": plan.Proposal, "questions": plan.Questions}
		}
	}

	return answer
}

// spelledOut is an answer with every property its schema requires, as servers enforce it.
func spelledOut(schema, answer json.RawMessage) (string, error) {
	var s map[string]any
	var v any
	if err := errors.Join(json.Unmarshal(schema, &s), json.Unmarshal(answer, &v)); err != nil {
		return "", err
	}
	text, err := json.Marshal(spelled(s, v))

	return string(text), err
}

func spelled(schema map[string]any, v any) any {
	if either, ok := schema["anyOf"].([]any); ok && v != nil {
		schema, _ = either[0].(map[string]any)
	}
	switch schema["type"] {
	case "string":
		return cmp.Or(v, any(""))
	case "array":
		given, _ := v.([]any)
		items, _ := schema["items"].(map[string]any)
		list := make([]any, len(given))
		for i := range given {
			list[i] = spelled(items, given[i])
		}

		return list
	case "object":
		given, _ := v.(map[string]any)
		properties, _ := schema["properties"].(map[string]any)
		fields := map[string]any{}
		for name, property := range properties {
			property, _ := property.(map[string]any)
			fields[name] = spelled(property, given[name])
		}

		return fields
	}

	return v
}
