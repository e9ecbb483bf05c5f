package wire

import (
	"fmt"
	"slices"
	"strings"

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
	var (
		groups []Group
		ids    []string // of calls without a result yet
		names  []string
		made   int
	)
	for _, message := range messages {
		if message.Role == llm.RoleTool && len(ids) > 0 {
			if len(groups[len(groups)-1].Results) == 0 {
				groups = append(groups, Group{Message: llm.Message{Role: llm.RoleTool}})
			}
			last := &groups[len(groups)-1]
			last.IDs, last.Names, last.Results = append(last.IDs, ids[0]), append(last.Names, names[0]), append(last.Results, message.Content)
			ids, names = ids[1:], names[1:]

			continue
		}
		group := Group{Message: message}
		ids, names = nil, nil
		for _, call := range message.ToolCalls {
			made++
			ids, names = append(ids, fmt.Sprintf("call%05d", made)), append(names, call.Name)
		}
		group.IDs = slices.Clone(ids)
		groups = append(groups, group)
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
		var words strings.Builder
		for i, call := range group.ToolCalls {
			fmt.Fprintf(&words, "\n%d. %s: %s", i+1, call.Name, call.Args)
		}
		if words.Len() > 0 {
			add(llm.RoleUser, "These were the tools you called, with what arguments:"+words.String(), 0)
			continue
		}
		for i, result := range group.Results {
			fmt.Fprintf(&words, "\n%d. %s", i+1, result)
		}
		if words.Len() > 0 {
			add(llm.RoleUser, "This is what they returned:"+words.String(), 0)
		}
	}

	return flat
}

// exchanges reports whether a request has calls and results as messages.
func exchanges(req *llm.Request) bool {
	return slices.ContainsFunc(req.Messages, func(m llm.Message) bool { return len(m.ToolCalls) > 0 })
}
