package eval

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"alfred/internal/answer"
	"alfred/internal/llm"
)

// Asked is a model that plays the user, or judges, with the cost of its calls.
type Asked struct {
	Model  llm.Model
	Prices llm.Prices
}

// ask requests an answer that conforms to a schema.
func (t *trial) ask(ctx context.Context, who *Asked, name, schema, system, text string, into any) error {
	resp, err := who.Model.Generate(ctx, &llm.Request{
		System: system, SchemaName: name, Schema: json.RawMessage(schema), Messages: []llm.Message{{Role: llm.RoleUser, Content: text}}, MaxTokens: askTokens,
	})
	if resp != nil {
		t.result.Others += resp.Usage.Input + resp.Usage.Output
		usd, _ := who.Prices.Cost(resp.Model, resp.Usage)
		t.result.OtherUSD += usd
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := json.Unmarshal([]byte(answer.Object(resp.Text, name)), into); err != nil {
		return fmt.Errorf("%s: read the model's answer %s: %w", name, oneLine(resp.Text), err)
	}

	return nil
}

const askTokens = 2000

// transcript is the conversation as the user sees it.
func (t *trial) transcript() string {
	var b strings.Builder
	for _, m := range t.said {
		who := "Assistant"
		if m.Role == llm.RoleUser {
			who = "User"
		}
		fmt.Fprintf(&b, "%s: %s\n\n", who, m.Content)
	}

	return b.String()
}

const (
	personSystem = `You play a person who talks to an assistant. Stay in the part that is described. Write only what the person would type next: short, natural, one thing at a time.
Tell no more than is needed at that point, invent nothing that the part does not say, and answer questions from it. When what the person wants is done, or cannot be done, set done and leave message empty.`
	personSchema = `{"type": "object", "additionalProperties": false, "required": ["message", "done"],
		"properties": {"message": {"type": "string", "description": "What the person types next; empty when done."}, "done": {"type": "boolean"}}}`

	judgeSystem = `You judge a conversation between a user and an assistant by a rubric. Judge only by what is said there; what the rubric does not speak of does not count. Give the reason first, in one or two sentences.`
	judgeSchema = `{"type": "object", "additionalProperties": false, "required": ["reason", "pass"],
		"properties": {"reason": {"type": "string"}, "pass": {"type": "boolean", "description": "Whether the conversation meets all of the rubric."}}}`

	mostMessages = 12
)

// simulate lets a model play the user. A turn's expectations apply to the turn with that number.
func (t *trial) simulate(ctx context.Context) error {
	for range cmp.Or(t.c.User.Messages, mostMessages) {
		var next struct {
			Message string `json:"message"`
			Done    bool   `json:"done"`
		}
		text := "The part:\n" + t.c.User.Instructions + "\n\nThe conversation so far:\n" + cmp.Or(t.transcript(), "(nothing yet; the person begins)") + "\nWhat does the person type next?"
		if err := t.ask(ctx, t.lab.Person, "person", personSchema, personSystem, text, &next); err != nil {
			return err
		}
		if next.Done || strings.TrimSpace(next.Message) == "" {
			break
		}
		if err := t.turn(ctx, &Turn{Say: next.Message}); err != nil {
			return err
		}
	}
	if len(t.result.Turns) == 0 {
		t.faults = append(t.faults, Fault{Check: "the person", Got: "the model that plays it said nothing", Broken: true})
	}

	return nil
}

// judge asks for a verdict if the case has a rubric and a judge is configured.
func (t *trial) judge(ctx context.Context) error {
	if t.c.Judge == "" {
		return nil
	}
	if t.lab.Judge == nil {
		t.result.Judged = "not judged: no judge is named"

		return nil
	}
	var verdict struct {
		Reason string `json:"reason"`
		Pass   bool   `json:"pass"`
	}
	if err := t.ask(ctx, t.lab.Judge, "verdict", judgeSchema, judgeSystem, "The rubric:\n"+t.c.Judge+"\n\nThe conversation:\n"+t.transcript(), &verdict); err != nil {
		return err
	}
	if t.result.Judged = verdict.Reason; !verdict.Pass {
		t.fault(0, "judge", oneLine(t.c.Judge), verdict.Reason)
	}

	return nil
}
