package offline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"alfred/internal/domain"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// reply words the outcome of a turn. It states nothing beyond the results.
func (s *scene) reply(in *nodes.ReplyInput) string {
	if s.Asked != nil {
		return s.plain(s.question())
	}
	c := s.read()
	parts := slices.Clone(in.Notices)
	if len(s.Plan) == 0 && len(parts) == 0 && len(s.Discarded) == 0 {
		parts = append(parts, s.talk(c))
	}
	for _, p := range s.Plan {
		parts = append(parts, s.stepText(p, in.Blocked), p.Conclusions)
	}
	parts = append(parts, s.drafted()...)
	parts = append(parts, s.looked()...)
	if len(s.Discarded) > 0 {
		what := "Dropped the draft "
		if len(s.Discarded) > 1 {
			what = "Dropped the drafts "
		}
		parts = append(parts, what+list(s.Discarded, "and")+".")
	}
	parts = filtered(parts, func(text string) bool { return text != "" })
	if len(parts) == 0 {
		parts = []string{in.Fallback}
	}

	return s.plain(s.offer(c, strings.Join(slices.Compact(parts), "\n\n")))
}

// question asks the open question, with the options that its text does not name.
func (s *scene) question() string {
	text := s.Asked.Text
	for i, o := range s.Asked.Options {
		if o.Label != "" && !within(s.Asked.Text, o.Label) {
			text += fmt.Sprintf("\n%d. %s", i+1, o.Label)
		}
	}

	return text
}

// stepText describes a step's result: what failed, and what was written, in the step's own words.
func (s *scene) stepText(p nodes.PlannedStep, blocked string) string {
	why := cmp.Or(strings.TrimRight(p.Summary, "."), strings.TrimRight(blocked, "."))
	wrote := slices.ContainsFunc(s.Results, func(r nodes.Result) bool {
		return r.Current && r.Step == p.Number && r.ErrorCode == "" && r.Count > 0 && past[r.Tool] != ""
	})
	doing := opOf(p.Description)
	switch {
	case p.Outcome == "failed" && strings.HasPrefix(why, "I found no"):
		return why + ". Nothing was changed."
	case p.Outcome == "failed":
		return "That did not work: " + cmp.Or(s.mistake(p.Number), why) + "."
	case p.Outcome == "partial":
		return "This is only partly done: " + why + "."
	case p.Outcome == "skipped":
		return "Not everything was carried out."
	case p.Type == vocab.StepGenerate && p.Outcome == "empty":
		return p.Summary
	case p.Type != vocab.StepWrite:
		return ""
	case wrote && doing != nil && doing.act == opDelete && len(doing.Where) > 0: // it did not know yet which rows these are
		return cmp.Or(s.effects(p.Number), p.Summary)
	case wrote && doing != nil:
		return p.Summary
	case wrote:
		return s.effects(p.Number) // done by code, which has no words of its own
	default:
		return "There was nothing that fits; nothing was changed."
	}
}

// mistakes are this model's own, by the code of the error, whose words are not for people.
var mistakes = map[string]string{
	"unknown_ref": unclear, "type_mismatch": unclear, "bad_argument": slip, "unknown_table": slip, "unknown_tool": slip,
}

const (
	unclear = "I could not tell which one was meant. Please name it"
	slip    = "I made a mistake in carrying it out. Please ask again"
)

func (s *scene) mistake(step int) string {
	for _, r := range s.Results {
		if r.Current && r.Step == step && mistakes[r.ErrorCode] != "" {
			return mistakes[r.ErrorCode]
		}
	}

	return ""
}

var past = map[string]string{vocab.ToolCreate: "Saved", vocab.ToolUpdate: "Updated", vocab.ToolDelete: "Deleted"}

func (s *scene) effects(step int) string {
	var out []string
	for _, r := range s.Results {
		kind := s.lex.domain.ByType(r.Type)
		if !r.Current || r.Step != step || past[r.Tool] == "" || r.ErrorCode != "" || kind == nil || kind.Part {
			continue
		}
		var labels []string
		for _, ref := range r.Refs {
			if e := s.refs[ref]; e != nil && e.Type == r.Type {
				labels = append(labels, e.Label)
			}
		}
		if len(labels) == 0 {
			labels = []string{fmt.Sprintf("%d %s", r.Count, kind.Plural)}
		}
		out = append(out, past[r.Tool]+" "+list(labels, "and")+".")
	}

	return strings.Join(out, " ")
}

// did returns the successful results of these tools in this turn.
func (s *scene) did(tools ...string) []nodes.Result {
	return filtered(s.Results, func(r nodes.Result) bool {
		return r.Current && slices.Contains(tools, r.Tool) && r.ErrorCode == "" && r.Step > 0
	})
}

// drafted shows drafts in full, because exactly this is saved later.
func (s *scene) drafted() []string {
	var out []string
	for _, r := range s.did(vocab.ToolGenerate) {
		for _, e := range filtered(s.these(r.Refs), isPending) {
			out = append(out, s.inFull(e))
		}
	}

	return out
}

// looked reports what was read, unless that only served a draft, a write or a conclusion.
func (s *scene) looked() []string {
	served := slices.ContainsFunc(s.Plan, func(p nodes.PlannedStep) bool {
		return p.Conclusions != "" || p.Type == vocab.StepWrite || p.Type == vocab.StepGenerate
	})
	var out []string
	for _, r := range s.did(vocab.ToolRead) {
		if kind := s.lex.domain.ByType(r.Type); kind != nil && !served {
			out = append(out, s.listed(kind, r))
		}
	}

	return out
}

// mostLines is how many rows a reply lists; nobody reads hundreds.
const mostLines = 50

func (s *scene) listed(kind *domain.Entity, r nodes.Result) string {
	rows := s.these(r.Refs, kind)
	switch {
	case r.Count == 0 && !strings.Contains(string(r.Params), `"field"`) && kind.Empty != "":
		return kind.Empty
	case r.Count == 0:
		return "I found no " + kind.Plural + calledIn(kind, r) + "."
	case len(rows) == 1:
		return s.inFull(rows[0])
	}
	text := capitalize(kind.Plural) + ":"
	if r.Count > len(rows) {
		text = fmt.Sprintf("%d of %d %s:", len(rows), r.Count, kind.Plural)
	}
	for i, e := range rows[:min(len(rows), mostLines)] {
		text += fmt.Sprintf("\n%d. %s", i+1, s.line(kind, content(e)))
	}
	if more := len(rows) - mostLines; more > 0 {
		text += fmt.Sprintf("\nand %d more. Say what they are called, or how many they are, to see fewer.", more)
	}

	return text
}

// calledIn says by which name a read looked.
func calledIn(kind *domain.Entity, r nodes.Result) string {
	var by struct {
		Filters []filter `json:"filters"`
	}
	if label := labelColumn(kind); label != nil && json.Unmarshal(r.Params, &by) == nil {
		for _, f := range by.Filters {
			if f.Field == label.Name {
				return ` called "` + strings.Trim(asText(f.Value), "%") + `"`
			}
		}
	}

	return " that fit"
}

// offer ends with one offer if the turn was about drafts.
func (s *scene) offer(c *command, text string) string {
	drafts := s.drafts()
	about := len(s.did(vocab.ToolGenerate)) > 0 || c.verb == verbPending || c.verb == verbShow && slices.ContainsFunc(s.targets(c).entities, isPending)
	wrote := len(s.did(vocab.WriteTools()...)) > 0
	what := map[bool]string{true: "it?", false: "them?"}[len(drafts) == 1]
	switch {
	case len(drafts) == 0 || !about || wrote || strings.HasSuffix(text, "?"):
		return text
	case c.verb == verbPending:
		return text + " " + offerWords + what
	case len(drafts) == 1:
		return text + "\n\nIt is not saved yet. " + offerWords + what
	default:
		return text + "\n\nNot saved yet: " + list(labelsOf(drafts), "and") + ". " + offerWords + what
	}
}

// inFull is a row or a draft with all that is known of it.
func (s *scene) inFull(e *nodes.Entity) string {
	text := s.InFull(e.Ref)
	if e.Pending {
		text = strings.Replace(text, e.Label, e.Label+" (draft)", 1)
	}

	return text
}

// line is a row's display line without refs.
func (s *scene) line(kind *domain.Entity, data map[string]any) string {
	shown := make(map[string]any, len(data))
	for k, v := range data {
		shown[k] = v
		if e := s.refs[asText(v)]; e != nil && data["_"+k+"_label"] == nil {
			shown["_"+k+"_label"] = e.Label
		}
	}
	text := strings.TrimSpace(kind.Spoken.Render(shown))
	if text == "" {
		text = kind.Label.Render(shown)
	}

	return s.plain(text)
}

// plain replaces refs by labels.
func (s *scene) plain(text string) string {
	for _, ref := range anyRef.FindAllString(text, -1) {
		if e := s.refs[ref]; e != nil {
			text = strings.ReplaceAll(strings.ReplaceAll(text, " ("+ref+")", ""), ref, e.Label)
		}
	}

	return text
}
