package offline

import (
	"regexp"
	"slices"
	"strings"

	"alfred/domain"
)

// talkReply answers what needed no step.
func (f *facts) talkReply(c *command, o *outcome) string {
	switch c.verb {
	case verbClear:
		text := "We start afresh. Nothing that is saved was touched."
		if _, names, ok := strings.Cut(f.body("Reply Guidance"), droppedDrafts); ok {
			text += droppedDrafts + firstLine(names)
		}
		return text
	case verbForget:
		return f.forgetReply(c)
	case verbGreet:
		return "You're welcome. What would you like to do next?"
	case verbIdentity:
		return identity + " " + abilities
	case verbLast:
		return f.lastReply()
	case verbPending:
		return pendingReply(o)
	case verbReject:
		return f.rejectReply(c)
	case verbRetain:
		return "I will keep that in mind."
	case verbDeny:
		return "All right, I leave it as it is."
	case verbSave:
		return "There is nothing unsaved to save."
	case verbRevise, verbChange, verbRemove, verbShow:
		return "I do not know which one you mean. Could you name it?"
	case verbConfirm:
		return "There is nothing waiting for a yes. What shall I do?"
	case verbList, verbSearch:
		return "I looked at nothing this time. Please name what I shall look up."
	default:
		return "That is beyond me. " + identity + " " + abilities
	}
}

func pendingReply(o *outcome) string {
	if len(o.unsaved) == 0 {
		return "Nothing is waiting: everything is saved."
	}
	return "Not saved yet: " + joinList(o.unsaved) + "."
}

var excludedNow = regexp.MustCompile(`(?m)^- Excluded as the user wished: (.*?)\. Name it`)

// rejectReply takes a rejection up and names what it rules out.
func (f *facts) rejectReply(c *command) string {
	text := "Noted: no " + joinList(c.rejected()) + when(c.text) + "."
	if m := excludedNow.FindStringSubmatch(f.body("Reply Guidance")); m != nil {
		text += " That rules out " + joinList(strings.Split(m[1], ", ")) + "."
	}
	return text
}

func when(text string) string {
	for _, p := range []string{"this week", "next week", "today", "tonight", "tomorrow"} {
		if strings.Contains(strings.ToLower(text), p) {
			return " " + p
		}
	}
	return ""
}

func (f *facts) forgetReply(c *command) string {
	if c.entity != nil {
		return "I have put the " + plural(c.entity) + " out of mind. Nothing was deleted; ask and I look again."
	}
	return "Forgotten. Nothing that is saved was deleted."
}

// lastReply repeats what the last turn did, as it was told.
func (f *facts) lastReply() string {
	if n := len(f.talk); n > 0 && f.talk[n-1].assistant != "" {
		return "Last I said: " + sentences(f.talk[n-1].assistant, summaryLength)
	}
	return "Nothing was done yet in this conversation."
}

// draftsReply shows what was drafted in full, because what is saved later is
// exactly this.
func (f *facts) draftsReply(o *outcome) []string {
	if o.wrote {
		return nil
	}
	var out []string
	for _, d := range o.drafts {
		if d.content == nil {
			out = append(out, "Draft: "+d.label+".")
			continue
		}
		out = append(out, f.showDraft(d))
	}
	return out
}

// showDraft words a draft: its short facts, its parts, then its lists. A draft
// of facts alone is one line.
func (f *facts) showDraft(d draftText) string {
	var short, parts, lists []string
	for _, k := range f.draftOrder(d.content) {
		name := strings.TrimSuffix(strings.ReplaceAll(k, "_", " "), " id")
		list, isList := d.content[k].([]any)
		switch text := asText(d.content[k]); {
		case isList && f.lex.byTable(k) != nil:
			parts = append(parts, capitalize(name)+":"+f.showList(k, list))
		case isList && len(list) > 0:
			lists = append(lists, capitalize(name)+":"+f.showList(k, list))
		case !isList && text != "" && text != d.label:
			short = append(short, name+": "+text)
		}
	}
	if len(parts)+len(lists) == 0 {
		return d.label + " (draft; " + strings.Join(short, ", ") + ")"
	}
	lines := []string{d.label + " (draft)"}
	for _, fact := range short {
		lines = append(lines, "- "+fact)
	}
	return strings.Join(append(append(lines, parts...), lists...), "\n")
}

// draftOrder are a draft's keys in the order of its table's columns.
func (f *facts) draftOrder(content map[string]any) []string {
	best, most := (*domain.Entity)(nil), 0
	for _, e := range f.lex.domain.Entities {
		n := 0
		for k := range content {
			if e.Column(k) != nil {
				n++
			}
		}
		if n > most {
			best, most = e, n
		}
	}
	var out []string
	if best != nil {
		for _, c := range best.Columns {
			if _, ok := content[c.Name]; ok {
				out = append(out, c.Name)
			}
		}
	}
	for _, k := range sortedKeys(content) {
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

// showList is a list of words on one line, of sentences numbered, of rows with a
// dash each.
func (f *facts) showList(column string, list []any) string {
	var items []string
	long := false
	for _, v := range list {
		item := asText(v)
		if row, ok := v.(map[string]any); ok {
			item = f.partText(column, row)
		}
		long = long || strings.Contains(item, ". ") || strings.HasSuffix(item, ".")
		items = append(items, item)
	}
	switch {
	case len(items) == 0:
		return ""
	case f.lex.byTable(column) != nil:
		return "\n- " + strings.Join(items, "\n- ")
	case long:
		return "\n" + numbered(items)
	}
	return " " + strings.Join(items, ", ")
}

// partText is a child row: amount, unit, name, then the rest in brackets.
func (f *facts) partText(table string, row map[string]any) string {
	e := f.lex.byTable(table)
	if e == nil {
		return compact(row)
	}
	var lead []string
	used := map[string]bool{}
	take := func(name string) {
		if v := asText(row[name]); v != "" {
			lead = append(lead, v)
		}
		used[name] = true
	}
	if q := quantityColumn(e); q != nil {
		take(q.Name)
	}
	if u := unitColumn(e); u != nil {
		take(u.Name)
	}
	if l := labelColumn(e); l != nil {
		take(l.Name)
	}
	var rest []string
	for _, k := range sortedKeys(row) {
		v := asText(row[k])
		if v == "true" {
			v = strings.ReplaceAll(strings.TrimPrefix(k, "is_"), "_", " ")
		}
		if !used[k] && v != "" && v != "false" && !anyRef.MatchString(v) {
			rest = append(rest, v)
		}
	}
	text := strings.Join(lead, " ")
	if len(rest) > 0 {
		text += " (" + strings.Join(rest, ", ") + ")"
	}
	return text
}
