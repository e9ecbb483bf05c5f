package offline

import (
	"regexp"
	"strings"

	"alfred/domain"
	"alfred/nodes"
)

// composer drafts and changes rows by the declaration's templates.
type composer struct {
	*scene
	d    *domain.OfflineDraft
	kind *domain.Entity
}

var (
	titleNoise = regexp.MustCompile(`(?i)\b(?:an?|the|some|me|us|my|new|simple|quick|easy|nice|good|great|another|ideas?|drafts?|suggestions?|please|something|anything|` +
		`(?:with |from |using )?(?:what (?:i|we) have|what's in.*|what is in.*))(?:\s|$)`)
	forPeople = regexp.MustCompile(`(?i)\bfor\s+(\d+|one|two|three|four|five|six|seven|eight|nine|ten|twelve)\b(?:\s+(?:people|persons|of us|guests|adults|servings))?`)
	wishes    = regexp.MustCompile(`(?i)\bwith (.+)$`)
	unwanted  = regexp.MustCompile(`(?i)\b(?:without|with no|but no)\s+(?:any\s+)?(.+)$`)
	edges     = regexp.MustCompile(`(?i)^(?:for|of|with|called|named)\s+|\s+(?:for|of|with|to|on|in)$`)
)

func (a *actor) draft() {
	c := a.composer()
	if c == nil {
		a.blocked("insufficient_info", "This domain declares nothing to draft from.")

		return
	}
	content := c.compose(a.op.About)
	a.call(nodes.ToolGenerate, map[string]any{"creates": []map[string]any{{"type": c.kind.Type, "content": content}}})
	a.complete("Drafted "+asText(content[c.d.Title])+".", "")
}

func (a *actor) composer() *composer {
	kind := a.lex.draftable()
	if kind == nil || len(a.lex.Draft.Templates) == 0 {
		return nil
	}

	return &composer{scene: a.scene, d: a.lex.Draft, kind: kind}
}

// revise changes a draft by the user's words; the whole new content is written.
func (a *actor) revise() {
	targets := a.all(a.op.Refs, nil)
	c := a.composer()
	switch {
	case len(targets) == 0 || len(targets[0].Draft) == 0:
		a.blocked("insufficient_info", "The draft's content is not in view.")

		return
	case len(a.op.Rows) > 0:
		a.rewrite(targets[0], merge(clone(targets[0].Draft), a.op.Rows[0]))

		return
	case c == nil || c.kind.Type != targets[0].Type:
		a.complete("I do not know how to do that to the draft; it is unchanged.", "")

		return
	}
	content := clone(targets[0].Draft)
	before := flat(content)
	c.applyChanges(content, a.op.About)
	c.scaleTo(content, a.op.About)
	c.applyWords(content, a.op.About)
	if flat(content) == before {
		a.complete("I do not know how to do that to the draft; it is unchanged.", "")

		return
	}
	a.rewrite(targets[0], content)
}

func (a *actor) rewrite(e *nodes.Entity, content map[string]any) {
	a.call(nodes.ToolGenerate, map[string]any{"updates": []map[string]any{{"ref": e.Ref, "content": content}}})
	a.complete("Changed the draft "+e.Label+".", "")
}

// compose fills the template that fits the words best. The user's own words are the
// name when they are one: a single word is what the template makes a dish of.
func (c *composer) compose(text string) map[string]any {
	title := c.title(text)
	fill := map[string]string{"{title}": title}
	t := c.template(text)
	for name, slot := range c.d.Slots {
		w := orElse(longestWord(slot.Words, text), orElse(t.Slots[name], slot.Default))
		fill["{"+name+"}"], fill["{"+capitalize(name)+"}"] = w, titleCase(w)
	}
	content := mapTexts(clone(t.Content), func(s string) string {
		for key, w := range fill {
			s = strings.ReplaceAll(s, key, w)
		}

		return s
	})
	const most = 60 // characters; more is a description
	if len(strings.Fields(title)) > 1 && len(title) <= most || asText(content[c.d.Title]) == "" {
		content[c.d.Title] = orElse(title, "New "+c.kind.Name)
	}
	if m := wishes.FindStringSubmatch(forPeople.ReplaceAllString(text, "")); m != nil && !fromStock.MatchString(text) {
		for _, item := range splitList(unwanted.ReplaceAllString(m[1], "")) {
			if thing := stems(trimName(item)); len(thing) > 0 && len(thing) <= 3 && !containsWords(stems(flat(content[c.d.Child])), thing) {
				c.add(content, item)
			}
		}
	}
	c.applyChanges(content, text)
	c.scaleTo(content, text)
	if m := unwanted.FindStringSubmatch(forPeople.ReplaceAllString(text, "")); m != nil {
		c.leaveOut(content, m[1])
	}
	for _, term := range append(c.avoided(), c.allergies()...) {
		c.remove(content, term)
	}

	return content
}

// title is the user's own words for what is drafted.
func (c *composer) title(text string) string {
	text = c.lex.cutTypes(forPeople.ReplaceAllString(text, " "), c.kind)
	text = strings.Join(strings.Fields(titleNoise.ReplaceAllString(text+" ", " ")), " ")
	text = strings.TrimSpace(edges.ReplaceAllString(text, ""))

	return titleCase(strings.Trim(text, ` "'“”.,;:!?-`))
}

// template is the one with the longest phrase in the text, else the one without
// words.
func (c *composer) template(text string) *domain.OfflineTemplate {
	best, length := &c.d.Templates[len(c.d.Templates)-1], 0
	for i := range c.d.Templates {
		t := &c.d.Templates[i]
		if w := longestWord(t.Words, text); len(w) > length {
			best, length = t, len(w)
		}
	}

	return best
}

func longestWord(list []string, text string) string {
	ws, best := stems(text), ""
	for _, w := range list {
		if containsWords(ws, stems(w)) && len(w) > len(best) {
			best = w
		}
	}

	return best
}

// allergies are what the user's own row says must not be in anything, when a read
// or the profile has brought it.
func (c *composer) allergies() []string {
	var out []string
	for i := range c.Entities {
		e := &c.Entities[i]
		for column, v := range e.Columns {
			if kind := c.lex.byType(e.Type); kind != nil && single(kind) && strings.Contains(column, "allerg") {
				for _, w := range texts(v) {
					out = append(out, c.lex.covers(w)...)
				}
			}
		}
	}

	return out
}
