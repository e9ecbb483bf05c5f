package wire

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"alfred/internal/llm"
)

// Servers that do not know a model's form of calls leave parts of it in a call's name, or the whole call in the text.

// named is the offered tool that a name means: functions.db_read, db_read<|channel|>commentary.
func named(name string, offered []llm.Tool) (tool string, ok bool) {
	words := strings.FieldsFunc(name, func(r rune) bool { return r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, one := range offered {
		if one.Name == name {
			return name, true
		}
		if slices.ContainsFunc(words, func(word string) bool { return strings.EqualFold(word, one.Name) }) {
			if ok {
				return "", false // it may mean two of them
			}
			tool, ok = one.Name, true
		}
	}

	return tool, ok
}

var (
	marked      = regexp.MustCompile(`(?s)<tool_call>(.*?)</tool_call>`)
	wholeFenced = regexp.MustCompile("(?s)^```[a-zA-Z_]*\\s*\n(.*?)```$")
)

// calls finds the calls in an answer's text: between marks, or as all there is. It returns what else the text says, and
// no calls if one of them is not a call of an offered tool.
func calls(text string, offered []llm.Tool) (found []llm.ToolCall, rest string) {
	var objects []json.RawMessage
	for _, block := range marked.FindAllStringSubmatch(text, -1) {
		objects = append(objects, list(block[1])...)
	}
	rest = strings.TrimSpace(marked.ReplaceAllString(text, ""))
	if objects == nil {
		whole := strings.TrimSpace(text)
		if fenced := wholeFenced.FindStringSubmatch(whole); fenced != nil {
			whole = fenced[1]
		}
		objects, rest = list(whole), ""
	}
	for _, object := range objects {
		call, ok := written(object, offered)
		if !ok {
			return nil, text
		}
		found = append(found, call)
	}
	if found == nil {
		return nil, text
	}

	return found, rest
}

// mayCall matches the beginning of an answer that may be calls as all there is.
var mayCall = regexp.MustCompile("^\\s*[{\\[`]")

// beforeCalls passes on the pieces of an answer up to the calls in its text. What turns out to be no call comes with the
// whole answer.
func beforeCalls(onDelta func(string), offered []llm.Tool) func(string) {
	if onDelta == nil || len(offered) == 0 {
		return onDelta
	}
	begun, over := false, false

	return func(piece string) {
		said, _, marked := strings.Cut(piece, "<tool_call>") // one token of the models that write it
		over = over || !begun && mayCall.MatchString(piece)
		if !over && said != "" {
			onDelta(said)
		}
		begun, over = true, over || marked
	}
}

// list is the objects of a JSON list, or the one that the text is.
func list(text string) []json.RawMessage {
	var several []json.RawMessage
	if json.Unmarshal([]byte(text), &several) == nil {
		return several
	}

	return []json.RawMessage{json.RawMessage(text)}
}

// written reads a call that is written as {"name": ..., "arguments": {...}}, the form in which models are trained.
func written(object json.RawMessage, offered []llm.Tool) (llm.ToolCall, bool) {
	var one struct {
		Name       string          `json:"name"`
		Arguments  json.RawMessage `json:"arguments"`
		Parameters json.RawMessage `json:"parameters"`
	}
	if json.Unmarshal(object, &one) != nil || (one.Arguments == nil) == (one.Parameters == nil) {
		return llm.ToolCall{}, false
	}
	if one.Arguments == nil {
		one.Arguments = one.Parameters
	}
	name, ok := named(one.Name, offered)

	return llm.ToolCall{Name: name, Args: one.Arguments}, ok
}
