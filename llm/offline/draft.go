package offline

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sort"
	"strings"

	"alfred/domain"
)

// composer drafts and changes rows with the declaration's tables.
type composer struct {
	f   *facts
	d   *domain.OfflineDraft
	row *domain.Entity
	// multiply is n * by / over.
	multiply func(n, by, over float64) float64
}

// composer is nil when the declaration has no tables for drafting.
func (f *facts) composer() *composer {
	d := f.lex.vocab.draft
	if d == nil || f.lex.byType(d.Type) == nil {
		return nil
	}
	return &composer{f: f, d: d, row: f.lex.byType(d.Type), multiply: func(n, by, over float64) float64 { return round(n * by / over) }}
}

var (
	titleNoise = regexp.MustCompile(`(?i)\b(?:an?|the|some|me|us|my|new|simple|quick|easy|nice|good|great|another|ideas?|drafts?|suggestions?|please|something|anything|what i have|using what|from what (?:i|we) have|(?:with|from) what's in.*|from my .*)\b`)
	forPeople  = regexp.MustCompile(`(?i)\bfor\s+(\d+|one|two|three|four|five|six|seven|eight|nine|ten|twelve)\b(?:\s+(?:people|persons|of us|guests|adults))?`)
	countNoun  = regexp.MustCompile(`(?i)^(two|three|four|five|2|3|4|5)\b`)
)

// title is the user's own words for what is drafted, in title case.
func (c *composer) title(text string) string {
	text = forPeople.ReplaceAllString(text, " ")
	text = countNoun.ReplaceAllString(strings.TrimSpace(text), " ")
	text = c.f.lex.cutTypes(text, c.row)
	text = titleNoise.ReplaceAllString(text, " ")
	text = regexp.MustCompile(`(?i)^\s*(?:for|of|with|called|named)\s+`).ReplaceAllString(text, "")
	text = regexp.MustCompile(`(?i)\s+(?:for|of|with|to|on|in)\s*$`).ReplaceAllString(text, "")
	text = strings.Trim(strings.Join(strings.Fields(text), " "), ` "'“”.,;:!?-`)
	return titleCase(text)
}

// drafts composes as many rows as the text asks for, one unless it says "two".
func (c *composer) drafts(text string) []map[string]any {
	n := 1
	if m := countNoun.FindStringSubmatch(strings.TrimSpace(text)); m != nil {
		if k, ok := number(m[1]); ok {
			n = int(k)
		}
	}
	templates := c.templates(text)
	if n > 1 { // the one for everything else goes last, it would only echo the words
		slices.SortStableFunc(templates, func(a, b *domain.OfflineTemplate) int { return rest(a) - rest(b) })
	}
	var out []map[string]any
	for i := range min(n, max(len(templates), 1)) {
		if len(templates) == 0 {
			break
		}
		content := c.compose(templates[i], text, c.title(text), n == 1)
		if slices.ContainsFunc(out, func(o map[string]any) bool { return o[c.d.Title] == content[c.d.Title] }) {
			content[c.d.Title] = fmt.Sprintf("%s %d", asText(content[c.d.Title]), i+1)
		}
		out = append(out, content)
	}
	return out
}

func rest(t *domain.OfflineTemplate) int {
	if len(t.Words) == 0 {
		return 1
	}
	return 0
}

// templates are those with a phrase in the text, longest phrase first, then the
// rest in the declaration's order.
func (c *composer) templates(text string) []*domain.OfflineTemplate {
	ws := stems(text)
	var out []*domain.OfflineTemplate
	score := map[*domain.OfflineTemplate]int{}
	for i := range c.d.Templates {
		t := &c.d.Templates[i]
		for _, w := range t.Words {
			if p := stems(w); containsWords(ws, p) {
				score[t] = max(score[t], len(strings.Join(p, " ")))
			}
		}
		if len(t.Words) == 0 {
			score[t] = 1 // before those that do not fit
		}
		out = append(out, t)
	}
	sort.SliceStable(out, func(i, j int) bool { return score[out[i]] > score[out[j]] })
	return out
}

// maxTitle is where a description ends to be a name.
const maxTitle = 60

// compose fills a template. The user's own words are the name when they are one:
// a single word is what the template makes a dish of.
func (c *composer) compose(t *domain.OfflineTemplate, text, title string, own bool) map[string]any {
	fill := map[string]string{"{title}": title}
	for name, slot := range c.d.Slots {
		w := slotWord(slot, text)
		if w == "" {
			w = t.Slots[name]
		}
		if w == "" {
			w = slot.Default
		}
		fill["{"+name+"}"] = w
		fill["{"+capitalize(name)+"}"] = titleCase(w)
	}
	content := mapTexts(clone(t.Content), func(s string) string {
		for key, w := range fill {
			s = strings.ReplaceAll(s, key, w)
		}
		return s
	})
	if own && len(strings.Fields(title)) > 1 && len(title) <= maxTitle || asText(content[c.d.Title]) == "" {
		content[c.d.Title] = orElse(title, "New "+c.row.Name)
	}
	c.addWishes(content, text)
	c.applyChanges(content, text, false)
	c.scaleTo(content, text)
	c.leaveOut(content, text)
	c.avoid(content)
	return content
}

var unwanted = regexp.MustCompile(`(?i)\b(?:without|with no|but no)\s+(?:any\s+)?(.+)$`)

// leaveOut takes out what the user does not want in it.
func (c *composer) leaveOut(content map[string]any, text string) {
	m := unwanted.FindStringSubmatch(forPeople.ReplaceAllString(text, ""))
	if m == nil {
		return
	}
	for _, thing := range splitList(strings.ReplaceAll(m[1], " or ", " and ")) {
		for _, word := range c.f.lex.vocab.covers(trimName(thing)) {
			c.remove(content, word)
		}
	}
}

var wishes = regexp.MustCompile(`(?i)\bwith (.+)$`)

// addWishes adds what the user wants in it and the template has not.
func (c *composer) addWishes(content map[string]any, text string) {
	m := wishes.FindStringSubmatch(forPeople.ReplaceAllString(text, ""))
	if m == nil || fromStock.MatchString(text) {
		return
	}
	have := stems(compact(content[c.d.Child]))
	for _, item := range splitList(m[1]) {
		if thing := stems(trimName(item)); len(thing) > 0 && len(thing) <= maxWish && !containsWords(have, thing) {
			c.addOne(content, item, false)
		}
	}
}

// maxWish words are still a thing, more are a description.
const maxWish = 3

// slotWord is the longest of a slot's words that the text has.
func slotWord(slot domain.OfflineSlot, text string) string {
	ws, best := stems(text), ""
	for _, w := range slot.Words {
		if containsWords(ws, stems(w)) && len(w) > len(best) {
			best = w
		}
	}
	return best
}

// avoid takes out what the constraints and the user's profile rule out.
func (c *composer) avoid(content map[string]any) {
	terms := c.f.avoided()
	if m := allergyLine.FindStringSubmatch(c.f.body("User Profile")); m != nil {
		for _, w := range splitList(strings.Trim(m[1], "* ")) {
			terms = append(terms, c.f.lex.vocab.covers(w)...)
		}
	}
	for _, term := range terms {
		c.remove(content, term)
	}
}

var allergyLine = regexp.MustCompile(`(?i)\ballerg\w+:\**\s*([^|\n]+)`)

// revise changes a draft by the user's words. changed is false when the tables
// and the grammar know no way to do it.
func (c *composer) revise(content map[string]any, text string) (out map[string]any, changed bool) {
	out = clone(content)
	before := compact(out)
	c.applyChanges(out, text, true)
	c.scaleTo(out, text)
	c.applyWords(out, text)
	if compact(out) == before {
		c.setColumn(out, text)
	}
	return out, compact(out) != before
}

// applyChanges runs the declared changes whose words the text has. Numbers are
// scaled only on the user's word for an existing draft.
func (c *composer) applyChanges(content map[string]any, text string, scale bool) {
	ws := stems(text)
	for i := range c.d.Changes {
		ch := &c.d.Changes[i]
		if !slices.ContainsFunc(ch.Words, func(w string) bool { return containsWords(ws, stems(w)) }) {
			continue
		}
		for _, r := range ch.Remove {
			c.remove(content, r)
		}
		c.replaceAll(content, ch.Replace)
		c.prefix(content, ch.Prefix)
		set(content, ch.Set)
		if scale && ch.Scale > 0 {
			c.scale(content, ch.Scale, 1, ch.ScaleColumns)
		}
	}
}

func (c *composer) prefix(content map[string]any, prefix string) {
	title := asText(content[c.d.Title])
	if prefix != "" && !strings.HasPrefix(strings.ToLower(title), strings.ToLower(prefix)) {
		content[c.d.Title] = strings.TrimSpace(prefix) + " " + title
	}
}

// set puts values into columns; lists grow.
func set(content, values map[string]any) {
	for _, column := range sortedKeys(values) {
		list, ok := clone(map[string]any{"v": values[column]})["v"].([]any)
		if !ok {
			content[column] = values[column]
			continue
		}
		have, _ := content[column].([]any)
		for _, v := range list {
			if !slices.ContainsFunc(have, func(h any) bool { return asText(h) == asText(v) }) {
				have = append(have, v)
			}
		}
		content[column] = have
	}
}

// replaceAll replaces words in every text: the first rule that has a word, its
// longest word first, each word once.
func (c *composer) replaceAll(content map[string]any, rules []domain.OfflineReplace) {
	type pair struct{ from, to string }
	var pairs []pair
	for _, r := range rules {
		for _, from := range r.From {
			pairs = append(pairs, pair{from, r.To})
		}
	}
	sort.SliceStable(pairs, func(i, j int) bool { return len(pairs[i].from) > len(pairs[j].from) })
	var words []string
	for _, p := range pairs {
		words = append(words, regexp.QuoteMeta(p.from))
	}
	if len(words) == 0 {
		return
	}
	// One pass, so that no replacement is replaced again.
	every := regexp.MustCompile(`(?i)\b(` + strings.Join(words, "|") + `)(?:s|es)?\b`)
	replaced := mapTexts(content, func(s string) string {
		return every.ReplaceAllStringFunc(s, func(found string) string {
			word := every.FindStringSubmatch(found)[1]
			i := slices.IndexFunc(pairs, func(p pair) bool { return strings.EqualFold(p.from, word) })
			if found[:1] != strings.ToLower(found[:1]) {
				return titleCase(pairs[i].to)
			}
			return pairs[i].to
		})
	})
	maps.Copy(content, replaced)
	for _, r := range rules {
		c.once(content, r.To)
	}
}

// once undoes repetition: where two things have become the same one, its rows are
// added up and a list of it in a text names it once.
func (c *composer) once(content map[string]any, thing string) {
	again := regexp.MustCompile(`(?i)\b((?:the )?` + regexp.QuoteMeta(thing) + `)(?:(?:,|,? and) (?:the )?` + regexp.QuoteMeta(thing) + `)+\b`)
	maps.Copy(content, mapTexts(content, func(s string) string { return again.ReplaceAllString(s, "$1") }))
	child := c.f.lex.byTable(c.d.Child)
	if child == nil || quantityColumn(child) == nil {
		return
	}
	quantity := quantityColumn(child).Name
	unit := ""
	if u := unitColumn(child); u != nil {
		unit = u.Name
	}
	kept := []any{}
	var first map[string]any
	for _, v := range c.children(content) {
		row, ok := v.(map[string]any)
		if !ok || !strings.EqualFold(asText(row[c.d.Item]), thing) {
			kept = append(kept, v)
			continue
		}
		a, hasA := first[quantity].(float64)
		b, hasB := row[quantity].(float64)
		if first != nil && hasA && hasB && asText(first[unit]) == asText(row[unit]) {
			first[quantity] = a + b
			continue
		}
		first = row
		kept = append(kept, v)
	}
	content[c.d.Child] = kept
}

func (c *composer) children(content map[string]any) []any {
	list, _ := content[c.d.Child].([]any)
	return list
}

// remove takes out the child rows that are the thing, and the thing from the
// steps that name it.
func (c *composer) remove(content map[string]any, thing string) {
	needle := stems(thing)
	kept := []any{}
	for _, row := range c.children(content) {
		child, ok := row.(map[string]any)
		if !ok || !containsWords(stems(asText(child[c.d.Item])), needle) {
			kept = append(kept, row)
		}
	}
	if len(kept) == len(c.children(content)) {
		return
	}
	content[c.d.Child] = kept
	for k, v := range content {
		if text := asText(v); k != c.d.Title && isLongText(text) && withoutThing(text, thing) != "" && !isList(v) {
			content[k] = withoutThing(text, thing)
		}
	}
	steps, _ := content[c.d.Steps].([]any)
	var left []any
	for _, s := range steps {
		if text := withoutThing(asText(s), thing); text != "" {
			left = append(left, text)
		}
	}
	content[c.d.Steps] = left
}

// withoutThing cuts a thing from a sentence; a sentence about nothing else goes.
func withoutThing(sentence, thing string) string {
	if !containsWords(stems(sentence), stems(thing)) {
		return sentence
	}
	t := regexp.QuoteMeta(thing) + `(?:s|es)?`
	for _, p := range []string{`(?i),? and (?:the )?` + t + `\b`, `(?i)\b(?:the )?` + t + ` and `, `(?i), (?:the )?` + t + `\b`, `(?i)\b(?:the )?` + t + `, `} {
		if cut := regexp.MustCompile(p).ReplaceAllString(sentence, ""); cut != sentence {
			return cut
		}
	}
	return ""
}
