package main

import (
	"context"
	"encoding/json"
	"fmt"

	"alfred/internal/llm"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// stepsOfTurn is how many steps the model plans: one that reads, one that writes.
const stepsOfTurn = 2

// answers is a model that answers at once: every turn reads the user's recipes and puts one thing on the shopping list.
type answers struct{}

// Generate implements llm.Model.
func (answers) Generate(_ context.Context, req *llm.Request) (*llm.Response, error) {
	resp := &llm.Response{Model: "fixed", Provider: "bench"}
	var err error
	switch req.Node {
	case "act":
		resp.ToolCalls, err = act(req)
	case "reply":
		resp.Text = fmt.Sprintf("You have three recipes, and item %d is on your shopping list.", req.Turn)
	default:
		var text []byte
		text, err = json.Marshal(output(req))
		resp.Text = string(text)
	}
	if err != nil {
		return nil, fmt.Errorf("answer %s: %w", req.Node, err)
	}
	resp.Usage = llm.Usage{Input: req.EstimateTokens(), Output: resp.EstimateTokens()}
	if req.OnDelta != nil {
		req.OnDelta(resp.Text)
	}

	return resp, nil
}

// output is the answer of a node that answers in JSON.
func output(req *llm.Request) any {
	switch req.Node {
	case "understand":
		return nodes.UnderstandOutput{
			Intent: "write", CurationSummary: "Nothing to curate.", Mentions: []nodes.Mention{}, Constraints: []nodes.Constraint{},
			Curation: nodes.Curation{Retain: []nodes.Retain{}, Demote: []string{}, Forget: []string{}, Exclude: []nodes.Exclude{}},
		}
	case "think":
		return nodes.ThinkOutput{
			Goal: "Look at the recipes and extend the shopping list", Decision: "plan", Questions: []string{},
			Steps: []nodes.Step{
				{Type: "read", Subdomain: "recipes", Description: "Read the user's recipes", Refs: []string{}, Needs: "refs"},
				{Type: "write", Subdomain: "shopping", Description: "Put one thing on the shopping list", Refs: []string{}, Needs: "refs"},
			},
		}
	case "summarize":
		return nodes.SummarizeOutput{
			ResponseSummary: "Read three recipes and put one thing on the shopping list.", ConversationPhase: "executing", Tone: "collaborative",
			WhatUserExpressed: "wants one more thing on the list", WhatWeAcknowledged: "the recipes", NaturalNext: "more shopping",
		}
	default: // compress
		return nodes.CompressOutput{
			Conversation: "The user looked at three recipes again and again.", Narrative: "One thing at a time was put on the shopping list.",
		}
	}
}

// act is the step's only decision: its data call and its end.
func act(req *llm.Request) ([]llm.ToolCall, error) {
	name, args := vocab.ToolRead, map[string]any{"table": "recipes"}
	if req.Step == stepsOfTurn {
		name = vocab.ToolCreate
		args = map[string]any{"table": "shopping_list", "data": map[string]any{"name": fmt.Sprintf("Item %d", req.Turn), "quantity": 1}}
	}
	call, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	end, err := json.Marshal(nodes.StepComplete{Summary: "Done."})

	return []llm.ToolCall{{Name: name, Args: call}, {Name: vocab.ToolStepComplete, Args: end}}, err
}
