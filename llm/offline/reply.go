package offline

import (
	"fmt"
	"slices"
	"strings"

	"alfred/domain"
	"alfred/nodes"
)

// identity is the honest answer to who is speaking, abilities what it can do.
const (
	identity  = "I am Alfred's built-in offline model: a small set of rules without a network, not a large language model."
	abilities = "I can list, show, search, add, change and delete what you keep here, draft and save new things, plan, and look back at what we said."
)

// reply words the outcome of a turn. It says nothing that the results do not.
func (s *scene) reply(in *nodes.ReplyInput) string {
	if s.Asked != nil {
		return s.question()
	}
	c := s.read()
	var parts []string
	add := func(more ...string) {
		for _, text := range more {
			if text != "" && !slices.Contains(parts, text) {
				parts = append(parts, text)
			}
		}
	}
	add(in.Notices...)
	add(s.problems(in.Blocked)...)
	if len(s.Plan) == 0 && len(parts) == 0 {
		if len(s.Discarded) == 0 {
			add(s.talk(c))
		}
	} else {
		add(s.deeds()...)
		add(s.conclusions()...)
		add(s.drafted()...)
		add(s.looked(c)...)
	}
	if len(s.Discarded) > 0 {
		add("Dropped the draft " + joinList(s.Discarded) + ".")
	}
	if len(parts) == 0 {
		add(in.Fallback)
	}

	return s.plain(s.offer(c, strings.Join(parts, "\n\n")))
}

// question asks what has to be asked, its options numbered where the text does not
// name them.
func (s *scene) question() string {
	text := s.Asked.Text
	for i, o := range s.Asked.Options {
		if o.Label != "" && !strings.Contains(text, o.Label) {
			text += fmt.Sprintf("\n%d. %s", i+1, o.Label)
		}
	}

	return s.plain(text)
}

// problems say what did not work, before anything else.
func (s *scene) problems(blocked string) []string {
	var out []string
	skipped := 0
	for _, p := range s.Plan {
		why := strings.TrimRight(orElse(p.Summary, blocked), ".")
		switch p.Outcome {
		case "failed":
			out = append(out, "That did not work: "+orElse(why, "the step failed")+".")
		case "partial":
			out = append(out, "This is only partly done: "+orElse(why, "the step stopped early")+".")
		case "skipped":
			skipped++
		}
	}
	if skipped > 0 && len(out) == 0 {
		out = append(out, "Not everything was carried out.")
	}

	return out
}

// deeds say what was written: in the step's words, which tell what is different
// now, or from the rows where code carried a step out.
func (s *scene) deeds() []string {
	var out []string
	for _, p := range s.Plan {
		wrote := slices.ContainsFunc(s.Results, func(r nodes.Result) bool {
			return r.Current && r.Step == p.Number && r.ErrorCode == "" && r.Count > 0 && writes(r.Tool)
		})
		switch {
		case p.Type != "write" || p.Outcome != "ok" && p.Outcome != "empty":
		case opOf(p.Description) == nil:
			out = append(out, s.deedsOf(p.Number)...)
		case wrote:
			out = append(out, p.Summary)
		case p.Outcome == "empty":
			out = append(out, strings.TrimRight(orElse(notFound(p.Summary), "There was nothing that fits"), ".")+". Nothing was changed.")
		}
	}

	return out
}

// notFound is a summary that says so; one that claims a deed is not repeated.
func notFound(summary string) string {
	if strings.HasPrefix(summary, "I found no") {
		return summary
	}

	return ""
}

func writes(tool string) bool {
	return tool == nodes.ToolCreate || tool == nodes.ToolUpdate || tool == nodes.ToolDelete
}

func (s *scene) deedsOf(step int) []string {
	var out []string
	past := map[string]string{nodes.ToolCreate: "Saved", nodes.ToolUpdate: "Updated", nodes.ToolDelete: "Deleted"}
	for _, r := range s.Results {
		kind := s.lex.byType(r.Type)
		if !r.Current || r.Step != step || !writes(r.Tool) || r.ErrorCode != "" || kind == nil || s.lex.isChild(kind) {
			continue
		}
		labels := make([]string, 0, len(r.Refs))
		for _, ref := range r.Refs {
			if e := s.refs[ref]; e != nil && e.Type == r.Type {
				labels = append(labels, e.Label)
			}
		}
		if len(labels) == 0 {
			labels = []string{fmt.Sprintf("%d %s", r.Count, plural(kind))}
		}
		if r.Count == 0 {
			out = append(out, "There were no "+plural(kind)+" that fit; nothing was changed.")
		} else {
			out = append(out, past[r.Tool]+" "+joinList(labels)+".")
		}
	}

	return out
}

func (s *scene) conclusions() []string {
	var out []string
	for _, p := range s.Plan {
		out = append(out, p.Conclusions)
	}

	return out
}

// did reports whether a tool of this turn came to something.
func (s *scene) did(tool string) bool {
	return slices.ContainsFunc(s.Results, func(r nodes.Result) bool { return r.Current && r.Tool == tool && r.ErrorCode == "" && r.Count > 0 })
}

// drafted shows what was drafted in full, because what is saved later is exactly
// this; drafts without parts are a list.
func (s *scene) drafted() []string {
	if !s.did(nodes.ToolGenerate) {
		return s.unchanged()
	}
	var out, lines []string
	for i := range s.Entities {
		e := &s.Entities[i]
		kind := s.lex.byType(e.Type)
		made := slices.ContainsFunc(s.Results, func(r nodes.Result) bool {
			return r.Current && r.Tool == nodes.ToolGenerate && slices.Contains(r.Refs, e.Ref)
		})
		switch {
		case kind == nil || !e.Pending || !made:
		case len(kind.Children) > 0:
			out = append(out, s.page(kind, e))
		default:
			lines = append(lines, fmt.Sprintf("%d. %s", len(lines)+1, s.line(kind, e.Draft)))
		}
	}
	if len(lines) > 0 {
		out = append(out, "Drafts:\n"+strings.Join(lines, "\n"))
	}

	return out
}

// unchanged says why a step that should draft has not.
func (s *scene) unchanged() []string {
	var out []string
	for _, p := range s.Plan {
		if p.Type == "generate" && p.Outcome == "empty" {
			out = append(out, p.Summary)
		}
	}

	return out
}

// looked tells what was read, unless that only served to draft, to write or to
// conclude something.
func (s *scene) looked(c *command) []string {
	concluded := slices.ContainsFunc(s.Plan, func(p nodes.PlannedStep) bool { return p.Conclusions != "" })
	forWrite := slices.ContainsFunc(s.Plan, func(p nodes.PlannedStep) bool { return p.Type == "write" || p.Type == "generate" })
	if concluded || forWrite {
		return nil
	}
	if c.verb == verbRecall {
		return []string{s.recalled()}
	}
	var out []string
	for _, r := range s.Results {
		if kind := s.lex.byType(r.Type); r.Current && r.Step > 0 && r.Tool == nodes.ToolRead && r.ErrorCode == "" && kind != nil {
			out = append(out, s.rows(kind, r))
		}
	}

	return out
}

func (s *scene) rows(kind *domain.Entity, r nodes.Result) string {
	var list []*nodes.Entity
	for _, ref := range r.Refs {
		if e := s.refs[ref]; e != nil && e.Type == kind.Type {
			list = append(list, e)
		}
	}
	switch {
	case r.Count == 0 && !strings.Contains(string(r.Params), `"field"`) && kind.Empty != "":
		return kind.Empty
	case r.Count == 0:
		return "I found no " + plural(kind) + " that fit."
	case len(list) == 1:
		return s.page(kind, list[0])
	}
	lines := make([]string, 0, len(list))
	for i, e := range list {
		lines = append(lines, fmt.Sprintf("%d. %s", i+1, s.line(kind, content(e))))
	}
	head := capitalize(plural(kind)) + ":"
	if r.Count > len(list) {
		head = fmt.Sprintf("%d of %d %s:", len(list), r.Count, plural(kind))
	}

	return head + "\n" + strings.Join(lines, "\n")
}

// recalled words what a search of the past has found.
func (s *scene) recalled() string {
	var lines []string
	for _, r := range s.Results {
		if !r.Current || r.Tool != nodes.ToolRecall {
			continue
		}
		for _, row := range r.Rows {
			var said []string
			for _, key := range []string{"message", "reply", "label", "text"} {
				if v := asText(row[key]); v != "" {
					said = append(said, strings.TrimSpace(map[string]string{"message": "you said", "reply": "I answered"}[key]+` "`+clip(v)+`"`))
				}
			}
			if turn := asText(row["turn"]); turn != "" && len(said) > 0 {
				said[0] = "turn " + turn + ": " + said[0]
			}
			if len(said) > 0 {
				lines = append(lines, "- "+strings.Join(said, ", "))
			}
		}
	}
	if len(lines) == 0 {
		return "I found nothing about that in what we said."
	}

	return "This is what I found:\n" + strings.Join(lines, "\n")
}

func clip(text string) string {
	const most = 160
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}

	return text
}

// talk answers what needed no step.
func (s *scene) talk(c *command) string {
	switch c.verb {
	case verbGreet:
		return "Hello! What can I do for you? " + abilities
	case verbThanks:
		return "You're welcome. What would you like to do next?"
	case verbIdentity:
		return identity + " " + abilities
	case verbClear:
		return "We start afresh. Nothing that is saved was touched."
	case verbForget:
		if c.kind != nil {
			return "I have put the " + plural(c.kind) + " out of mind. Nothing was deleted; ask and I look again."
		}

		return "Forgotten. Nothing that is saved was deleted."
	case verbReject:
		return s.rejected(c)
	case verbRetain:
		return "I will keep that in mind."
	case verbDeny:
		return "All right, I leave it as it is."
	case verbConfirm:
		return "There is nothing waiting for a yes. What shall I do?"
	case verbPending:
		if len(s.drafts()) == 0 {
			return "Nothing is waiting: everything is saved."
		}

		return "Not saved yet: " + joinList(labelsOf(s.drafts())) + "."
	case verbLast:
		if n := len(s.Said); n > 0 {
			return "Last I said: " + clip(s.Said[n-1].Reply)
		}

		return "Nothing was done yet in this conversation."
	case verbCancel:
		return `I do not delete anything on the word "cancel", and nothing here can be set to cancelled. If it shall go for good, say "delete ` + trimName(c.object) + `".`
	case verbSave:
		return "There is nothing unsaved to save."
	case verbRevise, verbChange, verbRemove, verbShow, verbMove, verbSchedule:
		return "I do not know which one you mean. Could you name it?"
	default:
		return "That is beyond me. " + identity + " " + abilities
	}
}

// rejected takes a rejection up and names what it rules out.
func (s *scene) rejected(c *command) string {
	text := "Noted: no " + joinList(c.rejected())
	for _, p := range []string{"this week", "next week", "today", "tonight", "tomorrow"} {
		if strings.Contains(strings.ToLower(c.text), p) {
			text += " " + p
		}
	}
	var out []string
	for _, x := range s.Understood.Curation.Exclude {
		if e := s.refs[x.Ref]; e != nil {
			out = append(out, e.Label)
		}
	}
	if len(out) > 0 {
		text += ". That rules out " + joinList(out)
	}

	return text + "."
}

// offer closes with one offer when the turn was about drafts.
func (s *scene) offer(c *command, text string) string {
	drafts := s.drafts()
	about := s.did(nodes.ToolGenerate) || c.verb == verbPending || c.verb == verbShow && slices.ContainsFunc(s.targets(c).entities, func(e *nodes.Entity) bool { return e.Pending })
	wrote := slices.ContainsFunc([]string{nodes.ToolCreate, nodes.ToolUpdate, nodes.ToolDelete}, s.did)
	switch {
	case len(drafts) == 0 || !about || wrote || strings.HasSuffix(text, "?"):
		return text
	case c.verb == verbPending && len(drafts) == 1:
		return text + " " + offerWords + "it?"
	case c.verb == verbPending:
		return text + " " + offerWords + "them?"
	case len(drafts) == 1:
		return text + "\n\nIt is not saved yet. " + offerWords + "it?"
	default:
		return text + "\n\nNot saved yet: " + joinList(labelsOf(drafts)) + ". " + offerWords + "them?"
	}
}
