package prompt

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"alfred/db"
	"alfred/internal/clean"
	"alfred/internal/domain"
	"alfred/internal/say"
	"alfred/internal/view"
	"alfred/nodes"
)

const needsSave = "[needs save]"

// tags are the brackets after an entity: its last action, how much of it is loaded, whether it is saved.
func (t *page) tags(e *view.Entity) string {
	tag := "[" + e.Action + "]"
	switch {
	case e.Pending():
		tag = needsSave
	case e.Action != "read":
	case slices.Contains(e.Loaded, t.more(e.EntityType)):
		tag = "[read:full]"
	case t.more(e.EntityType) != "":
		tag = "[read:summary]"
	}
	if e.Stale != "" {
		tag += " [" + e.Stale + "]"
	}

	return tag
}

// more is what a summary of a type's rows lacks: long texts or, without such, parts; "" for neither.
func (t *page) more(entityType string) string {
	switch def := t.Domain.ByType(entityType); {
	case def == nil:
		return ""
	case len(def.Sets["text"]) > 0:
		return "text"
	case len(def.Children) > 0:
		return "rows"
	default:
		return ""
	}
}

// line prints an entity: "- recipe_1: Butter Chicken (recipe) [read:full]".
func (t *page) line(e *view.Entity, note, reason string) string {
	return "- " + e.Ref + ": " + e.Label + t.distinguish(e) + " (" + e.EntityType + note + ") " + t.tags(e) + reasonSuffix(reason)
}

// maxApart bounds what tells a row from another of its name, in characters.
const maxApart = 120

// saysWords finds a word in a name, in scripts without blanks a sign.
var saysWords = regexp.MustCompile(`\pL{3}|[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]`)

// distinguish returns what tells a loaded row from others of its name, for planners, who see no rows: "the one born in 1940" means
// one of three Anna Smiths. Of one that is called by a number, people say other things: the doorbell is repair 2026-0051.
func (t *page) distinguish(e *view.Entity) string {
	r := t.Rows.ByRef[e.Ref]
	if t.step != nil || r == nil || e.Pending() || e.Stale != "" || t.namesakes()[e.EntityType+" "+e.Label] < 2 && saysWords.MatchString(e.Label) {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimPrefix(t.PlainRow(e.Ref), "- "), "\n")
	facts := wholeWords(strings.TrimSpace(strings.TrimPrefix(line, e.Label)), maxApart)
	if facts == "" {
		return ""
	}

	return ", " + facts
}

// wholeWords clips a text, but not within a word: what a half of a time means, nobody knows.
func wholeWords(text string, most int) string {
	clipped := clean.Clip(text, most)
	if at := strings.LastIndexByte(clipped, ' '); clipped != text && at > 0 {
		return clipped[:at] + "…"
	}

	return clipped
}

// namesakes count the entities of each type and name.
func (t *page) namesakes() map[string]int {
	if t.alike == nil {
		t.alike = map[string]int{}
		for _, e := range t.Entities {
			if e.State != db.RefStateDeleted {
				t.alike[e.EntityType+" "+e.Label]++
			}
		}
	}

	return t.alike
}

// reasonSuffix ends an entity's line with its reason, if there is one.
func reasonSuffix(reason string) string {
	if reason = clean.Inline(reason, say.MaxReason); reason == "" {
		return ""
	}

	return " — *" + strings.ReplaceAll(reason, "*", "") + "*"
}

// Headings for how much of a row is loaded.
const (
	headLoaded   = "Already loaded. Do NOT re-read them."
	headPart     = "Loaded in part, only the columns that were asked for:"
	headUnloaded = "Not loaded: read before analyzing."
	headGone     = "Deleted since they were read:"

	noteSummary = "(`read:summary` is without long texts and parts. They are read for a generate or write step with `needs: rows`; to analyze them takes a read step first.)"
)

// recent lists what the window touched, loaded rows first. Refs listed elsewhere in the same prompt are left out.
func (t *page) recent(s *section) {
	groups := map[string][]*view.Entity{}
	summaries := false
	for _, e := range t.Tier("recent") {
		if t.step != nil && (t.IsNew(e) || t.IsJustSaved(e)) {
			continue
		}
		head := t.howLoaded(e)
		groups[head] = append(groups[head], e)
		summaries = summaries || head == headLoaded && (!e.Has("text") || !e.Has("rows"))
	}
	left := t.config.Budget.Entities
	for _, head := range []string{headLoaded, headPart, headUnloaded, headGone} {
		if len(groups[head]) == 0 {
			continue
		}
		s.head(head)
		if head == headLoaded && summaries {
			s.head(noteSummary)
		}
		t.list(s, groups[head], "recent", &left)
	}
}

func (t *page) howLoaded(e *view.Entity) string {
	switch {
	case e.Stale == view.StaleGone:
		return headGone
	case e.Has("summary"):
		return headLoaded
	case e.Stale == "" && e.Shown:
		return headPart
	default:
		return headUnloaded
	}
}

// list prints entities within a budget, runs of similar ones as one line. Over budget, those touched longest ago are
// dropped.
func (t *page) list(s *section, entities []*view.Entity, reason string, left *Tokens) {
	shown := 0
	for _, g := range fitting(t.collapse(entities), left, len(entities)) {
		s.group(g, reason)
		shown += len(g.members)
	}
	s.shown(shown, len(entities), "")
}

func itemReason(e *view.Entity, reason string) string {
	switch {
	case e.Action == "mentioned:user" && reason == "recent":
		return "mentioned"
	case e.Pinned && reason == "retained":
		return "pinned"
	default:
		return reason
	}
}

// group is one printed line and the entities it represents.
type group struct {
	line    string
	members []*view.Entity
}

// group prints a group; each of its entities is an item.
func (s *section) group(g *group, reason string) {
	s.entity(g.members[0].Ref, g.line)
	for _, e := range g.members {
		s.items = append(s.items, nodes.Item{Ref: e.Ref, Turn: int(e.TurnLastRef), Reason: itemReason(e, reason), Tokens: max(1, clean.Tokens(g.line)/len(g.members))})
	}
}

// fitting keeps, in their order, the most recently touched groups that fit a budget, at most as many as most.
func fitting(groups []*group, left *Tokens, most int) []*group {
	newest := slices.SortedStableFunc(slices.Values(groups), func(a, b *group) int { return int(b.members[0].TurnLastRef - a.members[0].TurnLastRef) })
	kept := map[*group]string{}
	fit(kept, left, newest[:min(most, len(newest))], func(g *group) (string, bool) { return g.line, false })

	return view.Filter(groups, func(g *group) bool { return kept[g] != "" })
}

// collapseOver is the longest run of refs that still gets a line each.
const collapseOver = 10

// collapse prints more than ten refs of one type and action with consecutive numbers as one line.
func (t *page) collapse(entities []*view.Entity) []*group {
	var groups []*group
	for _, run := range view.ConsecutiveRuns(entities, func(a, b *view.Entity) bool { return t.tags(a) == t.tags(b) }) {
		if len(run) > collapseOver {
			groups = append(groups, &group{line: t.rangeLine(run) + t.tags(run[0]), members: run})

			continue
		}
		for _, e := range run {
			groups = append(groups, &group{line: t.line(e, "", e.DraftReason()), members: []*view.Entity{e}})
		}
	}

	return groups
}

// rangeLine begins the one line of many refs: "- inv_1..inv_59: [59 inventory items] ".
func (t *page) rangeLine(run []*view.Entity) string {
	return fmt.Sprintf("- %s..%s: [%d %s] ", run[0].Ref, run[len(run)-1].Ref, len(run), rowsOf(t.Domain.ByType(run[0].EntityType), t.Plural(run[0].EntityType)))
}

// rowsOf is the word for rows of a type, nil for one that is declared no more: people's plural if the table's name begins it, else the
// table's name, because models write that in calls.
func rowsOf(e *domain.Entity, plural string) string {
	if e == nil {
		return plural
	}
	words := strings.TrimSpace(strings.ToLower(domain.Spoken(e.Table)))
	switch {
	case strings.HasPrefix(plural, words):
		return plural
	case strings.HasSuffix(words, "s"):
		return words
	default:
		return words + " items"
	}
}

// retained lists what Understand keeps in view.
func (t *page) retained(s *section) {
	left := t.config.Budget.Entities
	line := func(e *view.Entity) string {
		return t.line(e, ", turn "+strconv.Itoa(int(e.TurnCreated)), clean.Text(e.ActiveReason))
	}
	t.ranked(s, t.Tier("retained"), &left, compareConfidence, line, func(e *view.Entity) int32 { return e.TurnCreated })
}

// ranked prints entities in their order. Over budget, those that rank lowest are dropped.
func (t *page) ranked(s *section, entities []*view.Entity, left *Tokens, rank func(a, b *view.Entity) int, line func(*view.Entity) string, turn func(*view.Entity) int32) {
	lines := map[*view.Entity]string{}
	highest := slices.SortedStableFunc(slices.Values(entities), func(a, b *view.Entity) int { return rank(b, a) })
	fit(lines, left, highest, func(e *view.Entity) (string, bool) { return line(e), false })
	for _, e := range entities {
		if text := lines[e]; text != "" {
			s.item(itemReason(e, e.Tier), e.Ref, int(turn(e)), text)
		}
	}
	s.shown(len(lines), len(entities), "")
}

func lastTouched(e *view.Entity) int32 { return e.TurnLastRef }

// compareConfidence ranks pinned entities first, and treats a missing confidence as full.
func compareConfidence(a, b *view.Entity) int { return cmp.Compare(confidence(a), confidence(b)) }

func confidence(e *view.Entity) float32 {
	switch {
	case e.Pinned:
		return 2
	case e.RetainConfidence == nil:
		return 1
	default:
		return *e.RetainConfidence
	}
}

// excluded lists what the user rejected.
func (t *page) excluded(s *section) {
	left := t.config.Budget.Entities
	line := func(e *view.Entity) string { return t.line(e, "", clean.Text(e.ExcludedReason)) }
	t.ranked(s, t.Tier("excluded"), &left, func(_, _ *view.Entity) int { return 0 }, line, lastTouched)
}

// legend explains the tags above the entities, and appears even when there are none.
func (t *page) legend(s *section) {
	if len(t.Tier("generated"))+len(t.Tier("recent"))+len(t.Tier("retained"))+len(t.Tier("excluded")) == 0 {
		words := "Nothing has a ref yet."
		if len(t.Entities) > 0 {
			words = "Nothing is in view."
		}
		s.line(words, " What exists is found by name.")

		return
	}
	s.line("A ref is a handle. In brackets: what last happened to it, `:user` if the user did it; `read:full` has its long texts, `read:summary` not; `needs save` is a draft; `changed` since it was read: what is shown of it is old, read it again; `gone`: deleted since.")
}
