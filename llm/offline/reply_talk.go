package offline

import (
	"regexp"
	"strings"
)

// talkReply answers what needed no step.
func (f *facts) talkReply(c *command, o *outcome) string {
	switch c.verb {
	case verbClear:
		return "We start afresh. Nothing that is saved was touched."
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

// showDraft words a draft: its name, its short facts, its lists and its parts.
func (f *facts) showDraft(d draftText) string {
	facts := []string{}
	var lists []string
	for _, k := range sortedKeys(d.content) {
		name := strings.ReplaceAll(k, "_", " ")
		switch v := d.content[k].(type) {
		case []any:
			if text := f.showList(k, v); text != "" {
				lists = append(lists, capitalize(name)+":"+text)
			}
		default:
			text := asText(v)
			if e := f.lex.byTable(k); e == nil && text != "" && text != d.label && !anyRef.MatchString(text) {
				facts = append(facts, "- "+name+": "+text)
			}
		}
	}
	lines := append([]string{d.label + " (draft)"}, facts...)
	return strings.Join(append(lines, lists...), "\n")
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
		if v := asText(row[k]); !used[k] && v != "" && v != "false" && !anyRef.MatchString(v) {
			rest = append(rest, v)
		}
	}
	text := strings.Join(lead, " ")
	if len(rest) > 0 {
		text += " (" + strings.Join(rest, ", ") + ")"
	}
	return text
}
