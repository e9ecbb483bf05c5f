package offline

import (
	"cmp"
	"slices"
	"strings"

	"alfred/internal/clean"
	"alfred/internal/domain"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// reply words the outcome of a turn. It states nothing beyond the results. Questions, lists and what was written are worded
// by code.
func (s *scene) reply(in *nodes.ReplyInput) string {
	c, parts := s.read(), slices.Clone(in.Notices)
	switch {
	case s.Asked != nil:
		return in.Fallback
	case len(s.Plan) == 0 && len(s.Discarded) == 0 && len(parts) == 0:
		return s.talk(c)
	case len(s.Discarded) > 0:
		parts = append(parts, "Dropped "+list(s.Discarded, "and")+".")
	}
	for _, p := range s.Plan {
		if p.Outcome != "ok" && (p.Outcome != "empty" || p.Type == vocab.StepWrite) {
			parts = append(parts, p.Summary)
		}
	}
	parts = append(append(parts, s.wrote()...), s.drafted()...)
	if len(parts) == 0 {
		parts = append(parts, s.answered(c))
	}
	parts = filtered(parts, isText)
	if len(parts) == 0 {
		parts = []string{in.Fallback}
	}
	if c.is(verbList) && soon.MatchString(c.object) {
		parts = append(parts, "I took soon for the next seven days.")
	}
	if c.rest != "" {
		parts = append(parts, "I do one thing at a time. For the rest, say: "+c.rest)
	}

	return strings.Join(slices.Compact(parts), "\n\n")
}

// did returns the successful results of a tool in this turn.
func (s *scene) did(tool string) []nodes.Result {
	return filtered(s.Results, func(r nodes.Result) bool { return r.Current && r.Tool == tool && r.ErrorCode == "" && r.Step > 0 })
}

var past = map[string]string{vocab.ToolCreate: "Saved ", vocab.ToolUpdate: "Changed ", vocab.ToolDelete: "Deleted "}

// wrote says what was saved, changed and deleted: a single row as it is now, several by their names.
func (s *scene) wrote() []string {
	var out []string
	for _, tool := range vocab.WriteTools() {
		rows := s.written(tool)
		names := labelsOf(rows)
		if len(rows) == 1 && len(rows[0].Columns) > 0 {
			names[0] = line(s.typeOf(rows), rows[0].Columns)
		}
		if len(names) > 0 && past[tool] != "" {
			out = append(out, past[tool]+list(names, "and")+".")
		}
	}

	return out
}

// written are the rows that a tool has written in this turn, each by its call's type: its parts come with it.
func (s *scene) written(tool string) []*nodes.Entity {
	var rows []*nodes.Entity
	for _, r := range s.did(tool) {
		for _, ref := range r.Refs {
			if e := s.refs[ref]; e != nil && e.Type == r.Type {
				rows = append(rows, e)
			}
		}
	}

	return rows
}

// drafted shows drafts in full, because exactly this is saved later.
func (s *scene) drafted() []string {
	var out []string
	for _, r := range s.did(vocab.ToolGenerate) {
		out = append(out, mapped(filtered(s.things(r.Refs), isPending), s.whole)...)
	}

	return out
}

// answered says what was asked of what a turn has read; "" if that is a list of rows.
func (s *scene) answered(c *command) string {
	reads, counts, sought := s.did(vocab.ToolRead), s.did(vocab.ToolAnalyze), cmp.Or(c.rows.name, c.about.name)
	switch {
	case c.verb == verbUses:
		return s.using(c)
	case c.verb == verbCount && len(counts) > 0:
		return s.counted(c, clean.Value(counts[0].Rows[0]["count"]))
	case len(s.Plan) == 1 && len(reads) == 1 && len(reads[0].Refs) == 0 && reads[0].Error == "" && sought != "":
		return "I found no " + s.lex.domain.ByType(reads[0].Type).Plural + " called \"" + sought + "\"."
	case len(s.Plan) == 1 && len(reads) == 1 && len(reads[0].Refs) == 1:
		return strings.Join(mapped(s.things(reads[0].Refs, s.lex.domain.Entities...), s.whole), "")
	default:
		return ""
	}
}

func (s *scene) counted(c *command, n string) string {
	text := "There are " + n + " " + c.kind.Plural
	if n == "1" {
		text = "There is 1 " + c.kind.Name
	}
	for _, f := range c.rows.where {
		text += " (" + human(f.Field) + cmp.Or(boundWords[f.Op], ":") + " " + clean.Value(f.Value) + ")"
	}

	return text + "."
}

// using says which rows contain a thing among their parts and, if the turn has looked, how much of it is in stock.
func (s *scene) using(c *command) string {
	thing := trimName(c.object)
	words := mapped(s.lex.family(thing), stems)
	isThing := func(e *domain.Entity, row map[string]any) bool {
		name := stems(clean.Value(row[labelColumn(e).Name]))
		return slices.ContainsFunc(words, func(w []string) bool { return indexWords(name, w) >= 0 })
	}
	text := ""
	for _, e := range s.rows(c.kind) {
		for _, x := range parts(s.lex, e) {
			if isThing(x.kind, x.row) {
				text += "\n- " + e.Label + ": " + line(x.kind, x.row)
			}
		}
	}
	if text == "" {
		return "None of your " + c.kind.Plural + " has " + thing + " in it."
	}
	text = capitalize(c.kind.Plural) + " with " + thing + ":" + text
	if stock := s.lex.stock; stock != nil && s.hasRead(stock) {
		have := filtered(s.rows(stock), func(e *nodes.Entity) bool { return isThing(stock, e.Columns) })
		lines := mapped(have, func(e *nodes.Entity) string { return line(stock, e.Columns) })
		text += "\nAt home: " + cmp.Or(list(lines, "and"), "no "+thing) + "."
	}

	return text
}

// line is a row on one line.
func line(kind *domain.Entity, row map[string]any) string {
	return cmp.Or(strings.TrimSpace(kind.Spoken.Render(row)), kind.Label.Render(row))
}

// whole is a row or a draft with all that is known of it.
func (s *scene) whole(e *nodes.Entity) string {
	text := s.InFull(e.Ref)
	if e.Pending {
		text = strings.Replace(text, e.Label, e.Label+" (draft)", 1)
	}

	return text
}
