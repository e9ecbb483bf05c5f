package wire

import (
	"fmt"
	"slices"

	"alfred/internal/llm"
)

// Group is a message with what providers expect beside it: the ids of its calls, or all consecutive results together
// with the calls they answer.
type Group struct {
	llm.Message

	// IDs are the ids of the message's calls, or of the calls that Results answer. They follow from the calls' order in
	// the request, so a longer conversation repeats those of a shorter one. Their form is that of the strictest server:
	// nine letters and digits.
	IDs     []string
	Names   []string // of the calls that Results answer
	Results []string
}

// Groups divides messages for providers that keep calls and their results apart.
func Groups(messages []llm.Message) []Group {
	var groups []Group
	made := 0
	for len(messages) > 0 {
		group := Group{Message: messages[0]}
		messages = messages[1:]
		results := Group{Message: llm.Message{Role: llm.RoleTool}}
		for _, call := range group.ToolCalls {
			made++
			id := fmt.Sprintf("call%05d", made)
			group.IDs = append(group.IDs, id)
			if len(messages) > 0 && messages[0].Role == llm.RoleTool {
				results.IDs, results.Names, results.Results = append(results.IDs, id), append(results.Names, call.Name), append(results.Results, messages[0].Content)
				messages = messages[1:]
			}
		}
		groups = append(groups, group)
		if len(results.Results) > 0 {
			groups = append(groups, results)
		}
	}

	return groups
}

// Flat describes calls and results in text, for servers that do not accept them as messages. It makes roles alternate,
// because many of those servers insist on it.
func Flat(messages []llm.Message) []llm.Message {
	var flat []llm.Message
	add := func(role, text string, stable int) {
		if last := len(flat) - 1; last >= 0 && flat[last].Role == role {
			flat[last].Content += "\n\n" + text
			return
		}
		flat = append(flat, llm.Message{Role: role, Content: text, Stable: stable})
	}
	for _, group := range Groups(messages) {
		if group.Content != "" {
			add(group.Role, group.Content, group.Stable)
		}
		switch {
		case len(group.ToolCalls) > 0:
			text := "These were the tools you called, with what arguments:"
			for i, call := range group.ToolCalls {
				text += fmt.Sprintf("\n%d. %s: %s", i+1, call.Name, call.Args)
			}
			add(llm.RoleUser, text, 0)
		case len(group.Results) > 0:
			text := "This is what they returned:"
			for i, result := range group.Results {
				text += fmt.Sprintf("\n%d. %s", i+1, result)
			}
			add(llm.RoleUser, text, 0)
		}
	}

	return flat
}

// exchanges reports whether a request has calls and results as messages.
func exchanges(req *llm.Request) bool {
	return slices.ContainsFunc(req.Messages, func(m llm.Message) bool { return len(m.ToolCalls) > 0 })
}
