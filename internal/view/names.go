package view

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"alfred/db"
	"alfred/internal/clean"
	"alfred/internal/domain"
	"alfred/internal/exact"
	"alfred/internal/vocab"
)

// collectNames finds the refs that a text names, type_7 and gen_type_7, whether or not they exist.
func (v *View) collectNames(text string, into map[string]bool) {
	for ref := range vocab.Refs(text) {
		if v.Domain.ByType(strings.TrimPrefix(ref[:strings.LastIndexByte(ref, '_')], "gen_")) != nil {
			into[ref] = true
		}
	}
}

// spoken is what a view's texts name: refs, and rows by their keys.
type spoken struct {
	refs map[string]bool
	keys map[[2]string]bool // type and key
}

// spokenOf reads the texts of earlier turns once: nothing changes them during a turn.
func (v *View) spokenOf() *spoken {
	if v.spokenBefore == nil {
		v.spokenBefore = &spoken{refs: map[string]bool{}, keys: map[[2]string]bool{}}
		v.collect(v.pastTexts(), v.spokenBefore)
	}
	s := v.spokenBefore.clone()
	v.collect(v.texts(), s)
	for _, r := range v.Results {
		for _, ref := range r.Refs {
			s.refs[ref] = true
		}
		for _, columns := range r.Rows {
			v.namesInValue(columns, s.refs)
		}
	}

	return s
}

// collect adds what the texts name.
func (v *View) collect(texts []string, into *spoken) {
	for _, text := range texts {
		v.collectNames(text, into.refs)
		for _, parts := range clean.MentionPattern.FindAllStringSubmatch(text, -1) {
			into.keys[[2]string{parts[2], parts[3]}] = true
			into.keys[[2]string{parts[2], strings.ToLower(parts[3])}] = true
		}
	}
}

// lists returns the names, and the types and keys as parallel lists.
func (s *spoken) lists() (refs, types, ids []string) {
	for key := range s.keys {
		types, ids = append(types, key[0]), append(ids, key[1])
	}

	return slices.Sorted(maps.Keys(s.refs)), types, ids
}

// unknown reports whether a text names something that was not looked up, is not in view, and is not one of these refs.
func (v *View) unknown(s *spoken, refs []string) bool {
	names, keys := maps.Clone(s.refs), maps.Clone(s.keys)
	maps.DeleteFunc(names, func(ref string, _ bool) bool { return v.asked.refs[ref] || slices.Contains(refs, ref) })
	maps.DeleteFunc(keys, func(key [2]string, _ bool) bool { return v.asked.keys[key] })
	for _, e := range v.Registry {
		delete(names, e.Ref)
		delete(keys, [2]string{e.EntityType, clean.Text(e.EntityID)})
	}

	return len(names)+len(keys) > 0
}

func (s *spoken) clone() *spoken {
	return &spoken{refs: maps.Clone(s.refs), keys: maps.Clone(s.keys)}
}

func (s *spoken) forget(e *db.EntityRefListInViewRow) {
	delete(s.refs, e.Ref)
	delete(s.keys, [2]string{e.EntityType, clean.Text(e.EntityID)})
}

func (s *spoken) names(e *db.EntityRefListInViewRow) bool {
	return s.refs[e.Ref] || e.EntityID != nil && s.keys[[2]string{e.EntityType, *e.EntityID}]
}

// namesInValue collects the names in all texts of a value.
func (v *View) namesInValue(value any, into map[string]bool) {
	switch x := value.(type) {
	case string:
		v.collectNames(x, into)
	case []any:
		for _, item := range x {
			v.namesInValue(item, into)
		}
	case map[string]any:
		for _, item := range x {
			v.namesInValue(item, into)
		}
	}
}

// pastTexts returns the texts of earlier turns that may contain a ref or a mention.
func (v *View) pastTexts() []string {
	var texts []string
	for _, p := range v.Past {
		texts = append(texts, p.Message, p.Reply, p.Goal, string(p.Steps), p.CurationSummary, p.AnalysisConclusions, p.ResponseSummary,
			p.WhatUserExpressed, p.NaturalNext)
	}
	for _, covered := range v.Earlier {
		texts = append(texts, covered.Text)
	}

	return texts
}

// texts returns the other loaded texts that may contain a ref or a mention.
func (v *View) texts() []string {
	texts := []string{v.Turn.Message, clean.Text(v.Turn.Reply), clean.Text(v.Turn.Goal)}
	for _, d := range v.Decisions {
		texts = append(texts, clean.Text(d.Ref), d.Reason)
	}
	for _, c := range v.Constraints {
		texts = append(texts, c.Text)
	}
	for _, q := range v.Questions {
		texts = append(texts, string(q.Payload))
	}
	for _, step := range v.Steps {
		texts = append(texts, step.Description, clean.Text(step.Summary), clean.Text(step.Note), clean.Text(step.Conclusions))
		texts = append(texts, step.Refs...)
	}
	for _, run := range v.Runs {
		texts = append(texts, string(run.Output))
	}
	for _, content := range v.Drafts {
		texts = append(texts, string(content))
	}
	for _, events := range v.Events {
		for _, event := range events {
			texts = append(texts, event.Ref)
		}
	}

	return texts
}

const (
	maxLabelWords = 8  // words of the longest label that a message can name
	maxWords      = 80 // words of a message that are searched for labels
)

// labelsIn returns the labels that a message may mean: every run of its words, with the last word in both singular and
// plural.
func labelsIn(message string) []string {
	words := strings.Fields(strings.ToLower(clean.MentionPattern.ReplaceAllString(message, "$1")))
	words = words[:min(len(words), maxWords)]
	for i, word := range words {
		words[i] = strings.Trim(word, `.,;:!?"'()[]{}«»“”„`)
	}
	labels := map[string]bool{}
	for from := range words {
		for to := from + 1; to <= min(from+maxLabelWords, len(words)); to++ {
			label := strings.Join(words[from:to], " ")
			for _, form := range []string{label, domain.Singular(label), label + "s", possessive.ReplaceAllString(label, "")} {
				labels[form] = len(form) >= minLabel
			}
		}
	}
	maps.DeleteFunc(labels, func(_ string, long bool) bool { return !long })

	return slices.Sorted(maps.Keys(labels))
}

// possessive is the ending of a name to whom something belongs: Max's allergies.
var possessive = regexp.MustCompile(`['’]s?$`)

// minLabel is how many bytes a label needs to be recognized in a message.
const minLabel = 3

// older is how many refs outside the window Understand searches for partial names.
const older = 500

// Names replaces the refs in a text by labels, with the types' words.
func (v *View) Names(labels map[string]string, own map[string]bool) *clean.Names {
	word := func(entityType string) string { return v.words(entityType).Name }

	return &clean.Names{Labels: labels, Own: own, Word: word, Plural: v.Plural}
}

// Plain replaces refs by labels, and refs that do not exist by their type's word. What looks like a ref in the user's
// own rows stays.
func (t *Scene) Plain(text string) string {
	if !clean.MayNameRefs(text) {
		return text
	}

	return t.RefNames().Unref(text)
}

// RefNames are Plain's replacements, for several texts.
func (t *Scene) RefNames() *clean.Names {
	labels := make(map[string]string, len(t.Entities)+len(t.Dropped))
	for _, e := range t.Dropped {
		labels[e.Ref] = e.Label
	}
	for _, e := range t.Entities {
		labels[e.Ref] = e.Label
		if e.LabelIsPlaceholder {
			labels[e.Ref] = t.Singular(e.EntityType)
		}
	}

	return t.Names(labels, t.OwnTexts())
}

// OwnTexts are texts shaped like refs that occur in the user's rows and drafts, in lower case. The user wrote them; they are
// not refs.
func (t *Scene) OwnTexts() map[string]bool {
	own := map[string]bool{}
	for _, r := range t.Rows.ByRef {
		for name, value := range r.Columns {
			t.ownIn(r.Kind, name, value, own)
		}
	}
	for _, e := range t.Entities {
		var content map[string]any
		if def := t.Domain.ByType(e.EntityType); def != nil && e.Pending() && exact.Decode(t.Drafts[e.Ref], &content) == nil {
			t.ownInRow(def, content, own)
		}
	}

	return own
}

func (t *Scene) ownInRow(def *domain.Entity, columns map[string]any, own map[string]bool) {
	for name, value := range columns {
		child := def.Child(name)
		list, isList := value.([]any)
		if child == nil || !isList {
			t.ownIn(def, name, value, own)

			continue
		}
		for _, item := range list {
			if row, isRow := item.(map[string]any); isRow {
				t.ownInRow(child.Entity, row, own)
			}
		}
	}
}

func (t *Scene) ownIn(def *domain.Entity, name string, value any, own map[string]bool) {
	column := def.Column(name)
	if column == nil || column == def.Key || column.FK != nil {
		return
	}
	for text := range vocab.Refs(strings.ToLower(clean.Value(value))) {
		own[text] = true
	}
}
