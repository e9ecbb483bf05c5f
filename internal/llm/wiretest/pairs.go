package wiretest

import (
	"fmt"
	"slices"
)

// Each call of a conversation needs its result, placed as the protocol demands.

// pairsOfOpenAI: the results of an answer's calls are the messages right after it, one each, and occur nowhere else.
func pairsOfOpenAI(request map[string]any) string {
	var open []any
	for _, message := range list(request["messages"]) {
		if message["role"] == "tool" {
			at := slices.Index(open, message["tool_call_id"])
			if at < 0 {
				return "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'."
			}
			open = slices.Delete(open, at, at+1)

			continue
		}
		if len(open) > 0 {
			break
		}
		for _, call := range list(message["tool_calls"]) {
			open = append(open, call["id"])
		}
	}
	if len(open) > 0 {
		return fmt.Sprintf("An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %v", open)
	}

	return ""
}

// pairsOfAnthropic: the message after one with calls begins with their results; ids are unique.
func pairsOfAnthropic(request map[string]any) string {
	var open, used []any
	for i, message := range list(request["messages"]) {
		text := false
		for _, block := range list(message["content"]) {
			switch block["type"] {
			case "tool_result":
				at := slices.Index(open, block["tool_use_id"])
				if at < 0 || text {
					return fmt.Sprintf("messages.%d: unexpected `tool_use_id` found in `tool_result` blocks: %v", i, block["tool_use_id"])
				}
				open = slices.Delete(open, at, at+1)
			case "text":
				text = true
			}
		}
		if len(open) > 0 {
			return fmt.Sprintf("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %v", i, open)
		}
		for _, block := range list(message["content"]) {
			if block["type"] != "tool_use" {
				continue
			}
			if slices.Contains(used, block["id"]) {
				return "messages: `tool_use` ids must be unique"
			}
			open, used = append(open, block["id"]), append(used, block["id"])
		}
	}
	if len(open) > 0 {
		return fmt.Sprintf("messages: `tool_use` ids were found without `tool_result` blocks immediately after: %v", open)
	}

	return ""
}

// pairsOfGemini: a turn of calls follows the user or results, and as many results with the same names follow it.
func pairsOfGemini(request map[string]any) string {
	var open []any
	before := ""
	for _, content := range list(request["contents"]) {
		var called, returned []any
		for _, part := range list(content["parts"]) {
			if call := object(part, "functionCall"); call != nil {
				called = append(called, call["name"])
			}
			if result := object(part, "functionResponse"); result != nil {
				returned = append(returned, result["name"])
			}
		}
		if !slices.Equal(open, returned) {
			return "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."
		}
		if len(called) > 0 && before != "user" {
			return "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
		}
		open = called
		before, _ = content["role"].(string)
	}
	if len(open) > 0 {
		return "Please ensure that function response turn comes immediately after a function call turn."
	}

	return ""
}
