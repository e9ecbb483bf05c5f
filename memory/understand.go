package memory

import (
	"maps"
	"slices"
	"strings"

	"alfred/domain"
)

// newestShown is how many lines Understand sees of what is neither a draft nor
// retained nor excluded.
const newestShown = 20

// allKnown is the registry for the one who curates it: drafts in full, what is
// retained and excluded, then what the message names, then the newest; the rest
// is counted.
func (t *turn) allKnown() *section {
	s := newSection("## All Known Entities")
	budget := t.memory.config.Budget.Entities
	t.knownDrafts(s)
	t.knownTier(s, "**Retained**", "retained", &budget)
	t.knownTier(s, "**Excluded**", "excluded", &budget)

	// What the message names must not give way to how much is retained.
	budget = t.memory.config.Budget.Entities
	whole, part := t.named()
	lines := newestShown
	listed := t.knownList(s, "**Named in the message**", "mentioned", whole, &lines, &budget)
	maps.Copy(listed, t.knownList(s, "**Named in part**", "mentioned", part, &lines, &budget))
	rest := slices.DeleteFunc(t.resting(), func(e *entity) bool { return listed[e] })
	maps.Copy(listed, t.knownList(s, "**Newest**", "recent", rest, &lines, &budget))
	t.countRest(s, listed)

	return s
}

func (t *turn) knownDrafts(s *section) {
	if len(t.tier("generated")) == 0 {
		return
	}
	s.line("**Generated (NOT YET SAVED)**")
	t.draftsInFull(s, t.knownLine)
}

func (t *turn) knownTier(s *section, heading, tier string, budget *int) {
	entities := t.tier(tier)
	if len(entities) == 0 {
		return
	}
	s.line(heading)
	shown := 0
	for _, e := range entities {
		line := t.knownLine(e)
		if tokens(line) > *budget {
			break
		}
		*budget -= tokens(line)
		s.line(line)
		s.because(itemReason(e, tier), e.Ref, int(e.TurnLastRef), line)
		shown++
	}
	s.shown(shown, len(entities), "")
}

// knownLine is an entity's line with its stamps.
func (t *turn) knownLine(e *entity) string {
	line := t.line(e, "", "") + " created turn " + itoa(int(e.TurnCreated)) + ", last turn " + itoa(int(e.TurnLastRef))
	if e.DemotedAtTurn != nil {
		line += ", demoted"
	}
	reason := text(e.ActiveReason)
	if e.Tier == "excluded" {
		reason = text(e.ExcludedReason)
	}
	if reason = inline(reason, maxReason); reason != "" {
		line += " — *" + strings.ReplaceAll(reason, "*", "") + "*"
	}

	return line + t.risk(e)
}

// knownList prints up to so many lines, those touched last first where not all
// fit, and returns what it printed.
func (t *turn) knownList(s *section, heading, reason string, entities []*entity, lines, budget *int) map[*entity]bool {
	listed := map[*entity]bool{}
	groups := t.collapse(entities)
	chosen := map[*group]bool{}
	for _, g := range newestFirst(groups) {
		if len(g.members) == 1 {
			g.line = t.knownLine(g.members[0])
		} else {
			g.line += " last turn " + itoa(int(g.members[0].TurnLastRef)) + t.risk(g.members[0])
		}
		if *lines == 0 || tokens(g.line) > *budget {
			continue
		}
		*lines--
		*budget -= tokens(g.line)
		chosen[g] = true
	}
	if len(chosen) == 0 {
		return listed
	}
	s.line(heading)
	for _, g := range groups {
		if !chosen[g] {
			continue
		}
		s.line(g.line)
		for _, e := range g.members {
			listed[e] = true
			s.because(reason, e.Ref, int(e.TurnLastRef), g.line[:len(g.line)/len(g.members)])
		}
	}

	return listed
}

// resting are the refs outside of the tiers that are always listed: recent ones
// and the background.
func (t *turn) resting() []*entity {
	var rest []*entity
	for _, e := range t.entities {
		if e.Tier == "recent" || e.Tier == "" && e.Action != "linked" && e.State != "deleted" && e.DemotedAtTurn == nil {
			rest = append(rest, e)
		}
	}

	return rest
}

// named are the refs that the message speaks of, by all of their label or by a
// word of it. Hidden ones count too: a name brings them back.
func (t *turn) named() (whole, part []*entity) {
	message := " " + strings.Join(words(t.withLabels(t.row.Message)), " ") + " "
	for _, e := range t.entities {
		if e.Tier != "recent" && e.Tier != "" || e.State == "deleted" {
			continue
		}
		label := words(e.label)
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

// minWord is from how many letters on one word of a label names the entity.
const minWord = 4

func anyWord(label []string, message string) bool {
	return slices.ContainsFunc(label, func(word string) bool {
		return len(word) >= minWord && strings.Contains(message, " "+word+" ")
	})
}

// words are a text's words in a form in which singular and plural are equal.
func words(text string) []string {
	fields := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_' && r < 128
	})
	for i, field := range fields {
		fields[i] = domain.Singular(field)
	}

	return fields
}

// countRest counts what is known and not listed, by type.
func (t *turn) countRest(s *section, listed map[*entity]bool) {
	counts := map[string]int{}
	total := 0
	for entityType, n := range t.olderCounts {
		counts[entityType] = n
		total += n
	}
	for _, e := range t.resting() {
		switch {
		case e.Tier == "recent" && !listed[e]:
			counts[e.EntityType]++
		case e.Tier != "recent" && listed[e]:
			counts[e.EntityType]--
		}
	}
	var parts []string
	for _, def := range t.memory.domain.Entities {
		if n := counts[def.Type]; n > 0 {
			parts = append(parts, itoa(n)+" "+def.Plural)
		}
	}
	if total == maxCounted {
		parts = append(parts, "and more")
	}
	if len(parts) > 0 {
		s.line("Also known, not listed: ", strings.Join(parts, ", "))
	}
}
