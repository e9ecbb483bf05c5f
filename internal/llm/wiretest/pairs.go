package wiretest

import (
	"fmt"
	"slices"

	"github.com/tidwall/gjson"
)

// Each call of a conversation needs its result, placed as the protocol demands.

// pairsOfOpenAI: the results of an answer's calls are the messages right after it, one each, and occur nowhere else.
func pairsOfOpenAI(request gjson.Result) string {
	var open []string
	for _, message := range request.Get("messages").Array() {
		if message.Get("role").String() == "tool" {
			at := slices.Index(open, message.Get("tool_call_id").String())
			if at < 0 {
				return "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'."
			}
			open = slices.Delete(open, at, at+1)

			continue
		}
		if len(open) > 0 {
			break
		}
		open = strs(message.Get("tool_calls.#.id"))
	}
	if len(open) > 0 {
		return fmt.Sprintf("An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %v", open)
	}

	return ""
}

// pairsOfAnthropic: the message after one with calls begins with their results; ids are unique.
func pairsOfAnthropic(request gjson.Result) string {
	const missing = "messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %v"
	var open, used []string
	messages := request.Get("messages").Array()
	for i, message := range messages {
		left, stray := unanswered(message, open)
		if stray != "" {
			return fmt.Sprintf("messages.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s", i, stray)
		}
		if len(left) > 0 {
			return fmt.Sprintf(missing, i, left)
		}
		open = strs(message.Get(`content.#(type=="tool_use")#.id`))
		used = append(used, open...)
	}
	if len(open) > 0 {
		return fmt.Sprintf(missing, len(messages), open)
	}
	if slices.Sort(used); len(slices.Compact(used)) < len(used) {
		return "messages: `tool_use` ids must be unique"
	}

	return ""
}

// unanswered are the calls that a message leaves without results. A stray result answers none of them, or comes after text.
func unanswered(message gjson.Result, calls []string) (left []string, stray string) {
	text := false
	for _, block := range message.Get("content").Array() {
		switch block.Get("type").String() {
		case "text":
			text = true
		case "tool_result":
			id := block.Get("tool_use_id").String()
			at := slices.Index(calls, id)
			if at < 0 || text {
				return nil, id
			}
			calls = slices.Delete(calls, at, at+1)
		}
	}

	return calls, ""
}

// pairsOfGemini: a turn of calls follows the user or results, and as many results with the same names follow it.
func pairsOfGemini(request gjson.Result) string {
	var open []string
	before := ""
	for _, content := range request.Get("contents").Array() {
		called := strs(content.Get("parts.#.functionCall.name"))
		if !slices.Equal(open, strs(content.Get("parts.#.functionResponse.name"))) {
			return "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."
		}
		if len(called) > 0 && before != "user" {
			return "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
		}
		open, before = called, content.Get("role").String()
	}
	if len(open) > 0 {
		return "Please ensure that function response turn comes immediately after a function call turn."
	}

	return ""
}
