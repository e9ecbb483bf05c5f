package offline

import (
	"regexp"
	"strings"

	"alfred/domain"
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
// exactly this; drafts of one line each are a list.
func (f *facts) draftsReply(o *outcome) []string {
	if o.wrote {
		return nil
	}
	var lines, pages []string
	for _, d := range o.drafts {
		kind := f.kindOfContent(d.content)
		if kind == nil {
			lines = append(lines, d.label)
			continue
		}
		c := f.contentCard(kind, d.label, d.content)
		switch text := f.draftText(c); {
		case strings.Contains(text, "\n"):
			pages = append(pages, text)
		default:
			lines = append(lines, text)
		}
	}
	if len(lines) == 1 {
		pages = append(pages, "Draft: "+lines[0])
	} else if len(lines) > 1 {
		pages = append(pages, "Drafts:\n"+numbered(lines))
	}
	return pages
}

func (f *facts) draftText(c *card) string {
	if len(c.parts)+len(c.texts) == 0 {
		return f.tell(c, "")
	}
	return f.tell(c, "draft")
}

// kindOfContent is the type whose columns a draft has the most of; nil for a draft
// that is not shown.
func (f *facts) kindOfContent(content map[string]any) *domain.Entity {
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
	return best
}
