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

// reply words the outcome of a turn. It states nothing beyond the results. Questions and lists are worded by code.
func (s *scene) reply(in *nodes.ReplyInput) string {
	if s.Asked != nil {
		return in.Fallback
	}
	parts := slices.Clone(in.Notices)
	if len(s.Plan) == 0 && len(parts) == 0 && len(s.Discarded) == 0 {
		parts = append(parts, s.talk(s.read()))
	}
	for _, p := range s.Plan {
		parts = append(parts, s.stepText(p, in.Blocked), p.Conclusions)
	}
	parts = append(parts, s.drafted()...)
	if len(s.Discarded) > 0 {
		parts = append(parts, "Dropped the "+plural("draft", len(s.Discarded))+" "+list(s.Discarded, "and")+".")
	}
	if reads := s.did(vocab.ToolRead); len(reads) == 1 && !slices.ContainsFunc(parts, said) {
		parts = append(parts, s.looked(reads[0]))
	}
	if parts = filtered(parts, said); len(parts) == 0 {
		parts = []string{in.Fallback}
	}

	return s.plain(strings.Join(slices.Compact(parts), "\n\n"))
}

func said(text string) bool { return text != "" }

func plural(word string, n int) string {
	if n == 1 {
		return word
	}

	return word + "s"
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
	case !wrote:
		return "There was nothing that fits; nothing was changed."
	case doing == nil || doing.act == opDelete: // code has no words of its own, and what a filter deletes is known only now
		return cmp.Or(s.effects(p.Number), p.Summary)
	default:
		return p.Summary
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

// looked tells of one row all that is known, and of none by which name it was sought.
func (s *scene) looked(r nodes.Result) string {
	kind := s.lex.domain.ByType(r.Type)
	if kind == nil {
		return ""
	}
	if rows := s.these(r.Refs, kind); len(rows) == 1 {
		return s.inFull(rows[0])
	}
	called := calledIn(kind, r)
	if r.Count > 0 || called == "" {
		return ""
	}

	return "I found no " + kind.Plural + " called " + called + "."
}

// calledIn is the name by which a read looked, or "".
func calledIn(kind *domain.Entity, r nodes.Result) string {
	var by struct {
		Filters []filter `json:"filters"`
	}
	if label := labelColumn(kind); label != nil && json.Unmarshal(r.Params, &by) == nil {
		for _, f := range by.Filters {
			if f.Field == label.Name {
				return `"` + strings.Trim(asText(f.Value), "%") + `"`
			}
		}
	}

	return ""
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
	for ref := range vocab.Refs(text) {
		if e := s.refs[ref]; e != nil {
			text = strings.ReplaceAll(strings.ReplaceAll(text, " ("+ref+")", ""), ref, e.Label)
		}
	}

	return text
}
