package memory

import (
	"maps"
	"slices"
	"strings"

	"alfred/db"
	"alfred/domain"
)

// A prompt may name a ref only if it is loaded, and a session may have a hundred
// thousand of them. So what is loaded are the refs in view and those whose names
// stand in what this turn's prompts are made of.

// namesIn are the refs that a text names, whether or not there are such.
func (t *turn) namesIn(text string) []string {
	names := map[string]bool{}
	t.collectNames(text, names)

	return slices.Sorted(maps.Keys(names))
}

// collectNames looks for names of the form type_7 and gen_type_7.
func (t *turn) collectNames(text string, into map[string]bool) {
	for at := 0; ; {
		next := strings.IndexByte(text[at:], '_')
		if next < 0 {
			return
		}
		at += next + 1
		end := at
		for end < len(text) && isDigit(text[end]) {
			end++
		}
		if end == at || end < len(text) && isNameByte(text[end]) {
			continue
		}
		start := at - 1
		for start > 0 && isNameByte(text[start-1]) {
			start--
		}
		if stem := strings.TrimPrefix(text[start:at-1], "gen_"); t.memory.domain.ByType(stem) != nil {
			into[text[start:end]] = true
		}
	}
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

func isNameByte(b byte) bool {
	return isDigit(b) || b == '_' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// spokenOf are the names and the mentioned keys in everything that is loaded.
func (t *turn) spokenOf() (refs, types, ids []string) {
	names := map[string]bool{}
	for _, text := range t.texts() {
		t.collectNames(text, names)
		for _, parts := range mentionPattern.FindAllStringSubmatch(text, -1) {
			types, ids = append(types, parts[2], parts[2]), append(ids, parts[3], strings.ToLower(parts[3]))
		}
	}
	for _, r := range t.results {
		for _, ref := range r.Refs {
			names[ref] = true
		}
		for _, columns := range r.rows {
			t.namesInValue(columns, names)
		}
	}

	return slices.Sorted(maps.Keys(names)), types, ids
}

// namesInValue takes the names that stand alone in a value, as keys do.
func (t *turn) namesInValue(value any, into map[string]bool) {
	switch v := value.(type) {
	case string:
		t.collectNames(v, into)
	case []any:
		for _, item := range v {
			t.namesInValue(item, into)
		}
	case map[string]any:
		for _, item := range v {
			t.namesInValue(item, into)
		}
	}
}

// texts are all loaded texts in which a ref or a mention may stand.
func (t *turn) texts() []string {
	texts := []string{t.row.Message, text(t.row.Reply), text(t.row.Goal)}
	for _, p := range t.past {
		texts = append(texts, p.Message, p.Reply, p.Goal, string(p.Steps), p.CurationSummary, p.AnalysisConclusions, p.ResponseSummary,
			p.WhatUserExpressed, p.NaturalNext)
	}
	for _, covered := range t.earlier {
		texts = append(texts, covered.Text)
	}
	for _, d := range t.decisions {
		texts = append(texts, text(d.Ref), d.Reason)
	}
	for _, c := range t.constraints {
		texts = append(texts, c.Text)
	}
	if t.question != nil {
		texts = append(texts, string(t.question.Payload))
	}
	for _, step := range t.steps {
		texts = append(texts, step.Description, text(step.Summary), text(step.Note), text(step.Conclusions))
		texts = append(texts, step.Refs...)
	}
	for _, run := range t.runs {
		texts = append(texts, string(run.Output))
	}
	for _, content := range t.drafts {
		texts = append(texts, string(content))
	}
	for _, events := range t.events {
		for _, event := range events {
			texts = append(texts, event.Ref)
		}
	}

	return texts
}

const (
	maxLabelWords = 8  // of a label that a message can name
	maxWords      = 80 // of a message that are looked through for labels
)

// labelsIn are the labels that a message may mean: every run of its words, the
// last word in singular and plural as written.
func labelsIn(message string) []string {
	words := strings.Fields(strings.ToLower(mentionPattern.ReplaceAllString(message, "$1")))
	words = words[:min(len(words), maxWords)]
	for i, word := range words {
		words[i] = strings.Trim(word, `.,;:!?"'()[]{}«»“”„`)
	}
	labels := map[string]bool{}
	for from := range words {
		for to := from + 1; to <= min(from+maxLabelWords, len(words)); to++ {
			label := strings.Join(words[from:to], " ")
			for _, form := range []string{label, domain.Singular(label), label + "s"} {
				labels[form] = len(form) >= minLabel
			}
		}
	}
	maps.DeleteFunc(labels, func(_ string, long bool) bool { return !long })

	return slices.Sorted(maps.Keys(labels))
}

// minLabel is from how many characters on a label can be named.
const minLabel = 3

// older is how many refs that have left the window Understand looks through for
// what a message names in part.
const older = 500

// inView is what to load of the registry.
func (t *turn) inView() *db.EntityRefListInViewParams {
	window := int32(t.memory.config.RetentionWindow)
	params := &db.EntityRefListInViewParams{
		SessionID: t.row.SessionID, CurrentTurn: t.row.Number, TurnsWindow: window, OldestTurn: t.row.Number - window,
	}
	params.Refs, params.EntityTypes, params.EntityIds = t.spokenOf()

	return params
}
