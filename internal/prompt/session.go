package prompt

import (
	"slices"

	"alfred/internal/clean"
)

// unavailable replaces a section whose query failed, so that missing data is not mistaken for no data.
const unavailable = "(could not be read just now)"

func (t *page) userProfile(s *section) {
	t.factLines(s, "profile", "", t.Profile.Profile, t.config.Budget.Profile)
}

// snapshot counts what exists. It contains no refs.
func (t *page) snapshot(s *section) {
	t.factLines(s, "snapshot", "- ", t.Profile.Snapshot, t.config.Budget.Snapshot)
}

func (t *page) factLines(s *section, reason, bullet string, lines []string, left Tokens) {
	if t.Profile.Failed {
		s.line(unavailable)

		return
	}
	shown := 0
	for _, line := range lines {
		line = left.clip(line)
		if !left.take(line) {
			break
		}
		s.line(bullet, line)
		s.addItem(reason, "", 0, line)
		shown++
	}
	s.shown(shown, len(lines), "")
}

// preferences prints the user's own wishes for each subdomain, or for the step's.
func (t *page) preferences(s *section) {
	var only []string
	for _, step := range t.steps {
		only = append(only, t.SubdomainName(step.Subdomain))
	}
	for _, name := range t.Profile.Order {
		if len(only) > 0 && !slices.Contains(only, name) {
			continue
		}
		line := "**" + clean.Inline(name, 0) + ":** " + clean.Inline(t.Profile.Guidance[name], t.config.Budget.Guidance)
		s.item("profile", "", 0, line)
	}
}
