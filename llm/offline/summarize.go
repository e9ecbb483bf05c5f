package offline

import (
	"strings"

	"alfred/nodes"
)

func (m *model) summarize(f *facts) *nodes.SummarizeOutput {
	message, reply := f.exchange()
	c := f.command(message)
	out := &nodes.SummarizeOutput{
		ResponseSummary: sentences(reply, summaryLength), ConversationPhase: phase(c), Tone: "informative",
		WhatUserExpressed: clip(message, lineLength), WhatWeAcknowledged: sentences(reply, lineLength), NaturalNext: next(c),
	}
	switch {
	case strings.HasSuffix(strings.TrimSpace(reply), "?"):
		out.Tone = "clarifying"
	case out.ConversationPhase != "executing":
		out.Tone = "collaborative"
	}
	return out
}

const (
	summaryLength  = 400
	lineLength     = 160
	compressLength = 800
)

func phase(c *command) string {
	switch c.verb {
	case verbReject, verbRevise:
		return "narrowing"
	case verbConfirm:
		return "confirming"
	case verbRecall, verbLast, verbPending:
		return "reflecting"
	default:
	}
	if c.writes() {
		return "executing"
	}
	return "exploring"
}

func next(c *command) string {
	switch c.verb {
	case verbDraft, verbRevise, verbPlan:
		return "The user may change the draft or ask to save it."
	case verbList, verbSearch:
		return "The user may ask for one of them in detail."
	case verbReject:
		return "The user may choose among what remains."
	default:
		return "The user may ask for something else."
	}
}

// exchange is the turn to summarize: what the user said and the reply to it.
func (f *facts) exchange() (message, reply string) {
	if n := len(f.talk); n > 0 {
		return f.talk[n-1].user, f.talk[n-1].assistant
	}
	return f.message, ""
}

// sentences cuts text to whole lines and sentences within a length.
func sentences(text string, limit int) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= limit {
		return text
	}
	cut := text[:limit]
	if i := strings.LastIndex(cut, ". "); i > 0 {
		return cut[:i+1]
	}
	return clip(text, limit)
}

func clip(text string, limit int) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= limit {
		return text
	}
	cut := strings.ToValidUTF8(text[:limit-3], "")
	return cut + "..."
}

// compress keeps the newest text that stood for the older turns and one line for
// each turn since, oldest dropped first when there is no room.
func (m *model) compress(f *facts) *nodes.CompressOutput {
	var lines []string
	for _, s := range f.sections {
		for line := range strings.SplitSeq(s.body, "\n") {
			if line = strings.TrimSpace(strings.TrimLeft(line, "#")); line != "" {
				lines = append(lines, clip(line, lineLength))
			}
		}
	}
	text := strings.Join(lines, "\n")
	for len(text) > compressLength && len(lines) > 1 {
		lines = lines[1:]
		text = strings.Join(lines, "\n")
	}
	if text == "" {
		text = "Nothing of note."
	}
	return &nodes.CompressOutput{Text: text}
}
