package prompt

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"alfred/internal/clean"
	"alfred/internal/domain"
	"alfred/internal/view"
)

// newestShown is how many entities Understand sees that are neither drafts nor retained nor excluded.
const newestShown = 20

// allKnown prints the registry for the node that curates it: drafts in full, retained and excluded entities, then what
// the message names, then the newest. The rest is counted.
func (t *page) allKnown(s *section) {
	left := t.config.Budget.Entities
	t.knownDrafts(s)
	t.knownTier(s, "**Retained**", "retained", &left)
	t.knownTier(s, "**Excluded**", "excluded", &left)

	drafted := func(e *view.Entity) bool { return e.Tier == "generated" } // in full above
	t.namedAndNewest(s, drafted, nil, map[*view.Entity]bool{})
}

// otherKnown is allKnown without the tiers, for a prompt that has those as separate sections.
func (t *page) otherKnown(s *section) {
	listed, nameless := map[*view.Entity]bool{}, map[*view.Entity]bool{}
	for _, e := range t.Tier("recent") {
		listed[e] = true
	}
	for _, g := range slices.Concat(t.collapse(t.Tier("recent")), t.collapse(t.Tier("generated"))) {
		for _, e := range g.members {
			nameless[e] = len(g.members) > 1 // one line stands for them, without their names
		}
	}
	inView := func(e *view.Entity) bool { return e.Tier != "" && !nameless[e] }
	t.namedAndNewest(s, inView, t.fewNamedInReply(nameless), listed)
}

// fewNamedInReply are those of many without a name in view, or known only by a link, that the last reply names, if it chose a few: who
// says "yes, that one" after "Shall I plan the penne?" names none.
func (t *page) fewNamedInReply(nameless map[*view.Entity]bool) []*view.Entity {
	last := t.LastReplied()
	if last == nil {
		return nil
	}
	whole, _ := t.namedIn(last.Reply)
	few := slices.DeleteFunc(whole, func(e *view.Entity) bool {
		def := t.Domain.ByType(e.EntityType)

		onlyLinked := e.Tier == "" && e.Action == "linked"

		return !nameless[e] && !onlyLinked || def == nil || def.Part
	})
	if len(few) > collapseOver {
		return nil
	}

	return few
}

// knownLists are lists of the registry that share a budget.
type knownLists struct {
	*section

	lines  int // left
	left   Tokens
	listed map[*view.Entity]bool
}

// namedAndNewest lists what the message names, unless it is shown elsewhere, and what the last reply chose, then the newest
// unlisted entities, and counts the rest. It has its own budget: retained entities must not crowd out what the message names.
func (t *page) namedAndNewest(s *section, shown func(*view.Entity) bool, chosen []*view.Entity, listed map[*view.Entity]bool) {
	whole, part := t.namedIn(t.Turn.Message)
	whole, part = slices.DeleteFunc(whole, shown), slices.DeleteFunc(part, shown)
	l := &knownLists{section: s, lines: newestShown, left: t.config.Budget.Entities, listed: listed}
	t.knownList(l, "**Named in the message**", "mentioned", whole)
	t.knownList(l, "**Named in part**", "mentioned", part)
	t.knownList(l, "**Named in your last reply**", "recent", slices.DeleteFunc(chosen, func(e *view.Entity) bool { return slices.Contains(whole, e) || slices.Contains(part, e) }))
	rest := slices.DeleteFunc(t.withoutTier(), func(e *view.Entity) bool { return listed[e] })
	t.knownList(l, "**Newest**", "recent", rest)
	t.countRest(s, listed)
}

func (t *page) knownDrafts(s *section) {
	if len(t.Tier("generated")) == 0 {
		return
	}
	s.line("**Generated (NOT YET SAVED)**")
	t.draftsInFull(s, t.knownLine)
}

func (t *page) knownTier(s *section, heading, tier string, left *Tokens) {
	entities := t.Tier(tier)
	if len(entities) == 0 {
		return
	}
	s.line(heading)
	rank := func(a, b *view.Entity) int {
		return cmp.Or(compareConfidence(a, b), cmp.Compare(a.TurnLastRef, b.TurnLastRef))
	}
	t.ranked(s, entities, left, rank, t.knownLine, lastTouched)
}

// knownLine prints an entity with its stamps.
func (t *page) knownLine(e *view.Entity) string {
	line := t.line(e, "", "") + " created turn " + strconv.Itoa(int(e.TurnCreated)) + ", last turn " + strconv.Itoa(int(e.TurnLastRef))
	if e.DemotedAtTurn != nil {
		line += ", demoted"
	}
	reason := clean.Text(e.ActiveReason)
	if e.Tier == "excluded" {
		reason = clean.Text(e.ExcludedReason)
	}

	return line + reasonSuffix(reason) + t.risk(e)
}

// knownList prints what fits, most recently touched first when not all do, and adds it to the listed ones.
func (t *page) knownList(l *knownLists, heading, reason string, entities []*view.Entity) {
	groups := t.collapse(entities)
	for _, g := range groups {
		if len(g.members) == 1 {
			g.line = t.knownLine(g.members[0])
		} else {
			g.line += " last turn " + strconv.Itoa(int(g.members[0].TurnLastRef)) + t.risk(g.members[0])
		}
	}
	groups = fitting(groups, &l.left, l.lines)
	l.lines -= len(groups)
	if len(groups) == 0 {
		return
	}
	l.line(heading)
	for _, g := range groups {
		l.group(g, reason)
		for _, e := range g.members {
			l.listed[e] = true
		}
	}
}

// withoutTier lists the refs outside the tiers that are always listed: recent ones and the background.
func (t *page) withoutTier() []*view.Entity {
	return t.EntitiesWhere(func(e *view.Entity) bool {
		return e.Tier == "recent" || e.Tier == "" && e.Action != "linked" && e.State != "deleted" && e.DemotedAtTurn == nil
	})
}

// namedIn returns the refs that a message names, by their whole label or by a word of it. Hidden ones count too: naming
// one brings it back.
func (t *page) namedIn(text string) (whole, part []*view.Entity) {
	message := " " + strings.Join(words(t.WithLabels(text)), " ") + " "
	for _, e := range t.Entities {
		if !slices.Contains([]string{"recent", "generated", ""}, e.Tier) || e.State == "deleted" {
			continue
		}
		label := words(e.Label)
		switch {
		case len(label) == 0:
		case strings.Contains(message, " "+strings.Join(label, " ")+" "), strings.Contains(message, " "+e.Ref+" "):
			whole = append(whole, e)
		case anyWord(label, message):
			part = append(part, e)
		}
	}

	return whole, part
}

// minWord is how many bytes a single word of a label needs to name its entity.
const minWord = 4

func anyWord(label []string, message string) bool {
	return slices.ContainsFunc(label, func(word string) bool {
		return len(word) >= minWord && strings.Contains(message, " "+word+" ")
	})
}

// words splits a text into words, with singular and plural folded together.
func words(text string) []string {
	fields := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_' && r < 128 || r == '’'
	})
	for i, field := range fields {
		fields[i] = domain.Singular(field)
	}

	return fields
}

// countRest counts known but unlisted entities, by type.
func (t *page) countRest(s *section, listed map[*view.Entity]bool) {
	counts := map[string]int{}
	total := 0
	for _, row := range t.OlderCounts {
		if row.Why != "older" {
			continue
		}
		counts[row.EntityType] = int(row.Entities)
		total += int(row.Entities)
	}
	for _, e := range t.withoutTier() {
		switch {
		case e.Tier == "recent" && !listed[e]:
			counts[e.EntityType]++
		case e.Tier != "recent" && listed[e]:
			counts[e.EntityType]--
		}
	}
	var parts []string
	for _, def := range t.Domain.Entities {
		if n := counts[def.Type]; n > 0 {
			parts = append(parts, strconv.Itoa(n)+" "+def.Plural)
		}
	}
	if total == view.MaxCounted {
		parts = append(parts, "and more")
	}
	if len(parts) > 0 {
		s.line("Also known, not listed: ", strings.Join(parts, ", "))
	}
	t.countHidden(s, listed)
}

// countHidden counts what belongs to no tier: linked only by other rows, or demoted.
func (t *page) countHidden(s *section, listed map[*view.Entity]bool) {
	hidden := map[string]int{}
	for _, row := range t.OlderCounts {
		hidden[row.Why] += int(row.Entities)
	}
	for e := range listed {
		switch {
		case e.Tier != "" || e.State == "deleted":
		case e.Action == "linked":
			hidden["linked"]--
		case e.DemotedAtTurn != nil:
			hidden["demoted"]--
		}
	}
	if n := hidden["demoted"]; n > 0 {
		s.line("Demoted, not listed: ", strconv.Itoa(n), "; named, they come back")
	}
	if n := hidden["linked"]; n > 0 {
		s.line("Known only because other rows point at them: ", strconv.Itoa(n))
	}
}
