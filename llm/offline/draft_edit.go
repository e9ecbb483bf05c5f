package offline

import (
	"maps"
	"regexp"
	"slices"
	"sort"
	"strings"
	"time"

	"alfred/domain"
	"alfred/nodes"
)

// applyChanges runs the declared changes whose words the text has.
func (c *composer) applyChanges(content map[string]any, text string) {
	for i := range c.d.Changes {
		ch := &c.d.Changes[i]
		if longestWord(ch.Words, text) == "" {
			continue
		}
		for _, w := range ch.Remove {
			c.remove(content, w)
		}
		c.replace(content, ch.Replace)
		if title := asText(content[c.d.Title]); ch.Prefix != "" && !strings.HasPrefix(strings.ToLower(title), strings.ToLower(ch.Prefix)) {
			content[c.d.Title] = ch.Prefix + " " + title
		}
		for _, column := range sortedKeys(ch.Set) {
			content[column] = c.grown(content[column], ch.Set[column])
		}
	}
}

// grown is a value that takes another's place; lists grow.
func (c *composer) grown(have, add any) any {
	list, ok := add.([]any)
	if !ok {
		return add
	}
	out := texts(have)
	for _, w := range texts(list) {
		if !slices.Contains(out, w) {
			out = append(out, w)
		}
	}

	return out
}

// replace puts words in the place of others in every text, longest word first, each
// once, in one pass, so that no replacement is replaced again.
func (c *composer) replace(content map[string]any, rules []domain.OfflineReplace) {
	to, list := map[string]string{}, []string{}
	for _, r := range rules {
		for _, from := range r.From {
			to[strings.ToLower(from)] = r.To
			list = append(list, from)
		}
	}
	if len(list) == 0 {
		return
	}
	sort.SliceStable(list, func(i, j int) bool { return len(list[i]) > len(list[j]) })
	every := regexp.MustCompile(`(?i)\b(` + alternatives(list) + `)(?:s|es)?\b`)
	maps.Copy(content, mapTexts(content, func(s string) string {
		return every.ReplaceAllStringFunc(s, func(found string) string {
			word := to[strings.ToLower(every.FindStringSubmatch(found)[1])]
			if found[:1] != strings.ToLower(found[:1]) {
				return titleCase(word)
			}

			return word
		})
	}))
	for _, r := range rules {
		c.once(content, r.To)
	}
}

// once undoes repetition: where two things have become the same one, its rows are
// added up and a list of it in a text names it once.
func (c *composer) once(content map[string]any, thing string) {
	again := regexp.MustCompile(`(?i)\b((?:the )?` + regexp.QuoteMeta(thing) + `)(?:(?:,|,? and) (?:the )?` + regexp.QuoteMeta(thing) + `)+\b`)
	maps.Copy(content, mapTexts(content, func(s string) string { return again.ReplaceAllString(s, "$1") }))
	q, u := c.amounts()
	kept := []any{}
	var first map[string]any
	for _, row := range objects(content[c.d.Child]) {
		same := strings.EqualFold(asText(row[c.d.Item]), thing)
		if n, ok := row[q].(float64); ok && same && first != nil && asText(first[u]) == asText(row[u]) {
			have, _ := first[q].(float64)
			first[q] = have + n

			continue
		}
		if same {
			first = row
		}
		kept = append(kept, row)
	}
	content[c.d.Child] = kept
}

// amounts are the columns of the parts' amounts, "" where there are none.
func (c *composer) amounts() (quantity, unit string) {
	if child := c.lex.byTable(c.d.Child); child != nil {
		if q := quantityColumn(child); q != nil {
			quantity = q.Name
		}
		if u := unitColumn(child); u != nil {
			unit = u.Name
		}
	}

	return quantity, unit
}

// scaleTo makes a draft serve the number of people that the text names, or so many
// times as many.
func (c *composer) scaleTo(content map[string]any, text string) {
	have, ok := content[c.d.Serves].(float64)
	if !ok || have == 0 {
		return
	}
	want := have
	lower := strings.ToLower(text)
	for word, by := range map[string]float64{"double": 2, "twice as much": 2, "triple": 3, "halve": 0.5, "half as much": 0.5} {
		if strings.Contains(lower, word) {
			want = have * by
		}
	}
	if m := forPeople.FindStringSubmatch(text); m != nil {
		want, _ = number(m[1])
	}
	if want == have || want <= 0 {
		return
	}
	content[c.d.Serves] = want
	q, _ := c.amounts()
	for _, row := range objects(content[c.d.Child]) {
		if n, ok := row[q].(float64); ok {
			row[q] = float64(int(n*want/have*100+0.5)) / 100
		}
	}
}

var edits = struct{ instead, swap, add, drop, name *regexp.Regexp }{
	instead: regexp.MustCompile(`(?i)(?:use|swap in|with|take)\s+(.+?)\s+(?:instead of|rather than|in place of)\s+(?:the\s+)?(.+)$`),
	swap:    regexp.MustCompile(`(?i)(?:swap|replace|substitute|exchange)\s+(?:the\s+)?(.+?)\s+(?:for|with|by)\s+(.+)$`),
	add:     regexp.MustCompile(`(?i)^(?:and )?(?:add|put in|include|with|put)\s+(.+?)(?:\s+(?:at|to|in|into|for|on)\s+(?:the\s+(?:end|beginning|start|top)|it|that|this|the draft))*$`),
	drop:    regexp.MustCompile(`(?i)(?:remove|take out|leave out|without|skip|no more|no|not)\s+(?:the\s+|any\s+)?(.+?)(?:\s+(?:from|in)\s+(?:it|that|this|the draft))?$`),
	name:    regexp.MustCompile(`(?i)(?:rename|call)\s+(?:it|that|this|the draft)\s+(?:to\s+|as\s+)?(.+)$`),
}

// applyWords are the ways to change a draft that need no table.
func (c *composer) applyWords(content map[string]any, text string) {
	if m := edits.instead.FindStringSubmatch(text); m != nil {
		c.replace(content, []domain.OfflineReplace{{From: c.forms(content, trimName(m[2])), To: strings.ToLower(trimName(m[1]))}})
	} else if m := edits.swap.FindStringSubmatch(text); m != nil {
		c.replace(content, []domain.OfflineReplace{{From: c.forms(content, trimName(m[1])), To: strings.ToLower(trimName(m[2]))}})
	} else if m := edits.name.FindStringSubmatch(text); m != nil {
		content[c.d.Title] = strings.Trim(m[1], ` "'.!`)
	} else if m := edits.add.FindStringSubmatch(text); m != nil {
		for _, item := range splitList(m[1]) {
			c.add(content, item)
		}
	} else if m := edits.drop.FindStringSubmatch(text); m != nil {
		c.leaveOut(content, m[1])
	} else if m := setPhrase.FindStringSubmatch(text); m != nil {
		if col := columnIn(m[1], c.kind); col != nil && !col.Generated && col.FK == nil {
			content[col.Name] = typed(col, m[2], c.Today)
		}
	}
}

var setPhrase = regexp.MustCompile(`(?i)(?:set|change|make)\s+(.+?)\s+(?:to|=|as)\s+(.+)$`)

// forms are the ways that content writes a thing: chicken is chicken breasts where
// that is what it has, so that no tofu breasts come of it.
func (c *composer) forms(content map[string]any, thing string) []string {
	out := []string{thing}
	for _, row := range objects(content[c.d.Child]) {
		item := asText(row[c.d.Item])
		if slices.ContainsFunc(c.lex.covers(thing), func(w string) bool { return slices.Equal(stems(w), stems(item)) }) {
			out = append(out, item)
		}
	}

	return out
}

// add adds a part and a sentence about it.
func (c *composer) add(content map[string]any, item string) {
	row := map[string]any{}
	thing := trimName(item)
	if child := c.lex.byTable(c.d.Child); child != nil && quantityColumn(child) != nil {
		thing = trimName(c.takeQuantity(item, child, row))
	}
	row[c.d.Item] = thing
	parts, _ := content[c.d.Child].([]any)
	steps, _ := content[c.d.Steps].([]any)
	content[c.d.Child] = append(parts, row)
	content[c.d.Steps] = append(steps, "Add the "+thing+" and heat through.")
}

func (c *composer) leaveOut(content map[string]any, things string) {
	for _, thing := range orComma.Split(things, -1) {
		for _, word := range c.lex.covers(trimName(thing)) {
			c.remove(content, word)
		}
	}
}

// remove takes out the parts that are the thing, and the thing from the texts that
// name it.
func (c *composer) remove(content map[string]any, thing string) {
	kept := []any{}
	for _, row := range objects(content[c.d.Child]) {
		if !containsWords(stems(asText(row[c.d.Item])), stems(thing)) {
			kept = append(kept, row)
		}
	}
	if thing == "" || len(kept) == len(objects(content[c.d.Child])) {
		return
	}
	content[c.d.Child] = kept
	for k, v := range content {
		if text, ok := v.(string); ok && k != c.d.Title {
			content[k] = orElse(withoutThing(text, thing), text)
		}
	}
	left := []any{}
	for _, step := range texts(content[c.d.Steps]) {
		if text := withoutThing(step, thing); text != "" {
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

// planDays drafts a row for each day, giving each the next thing there is.
func (a *actor) planDays() {
	e, day, link := a.lex.schedule()
	if e == nil || len(a.op.Rows) == 0 {
		a.blocked("plan_invalid", "There is nothing to plan.")

		return
	}
	wish, choices := a.op.About, a.choices(link.FK.Entity)
	if m := unwanted.FindStringSubmatchIndex(wish); m != nil {
		for _, term := range orComma.Split(wish[m[2]:m[3]], -1) {
			choices = slices.DeleteFunc(choices, func(x *nodes.Entity) bool { return a.holds(x, trimName(term)) })
		}
		wish = wish[:m[0]]
	}
	if named := a.find(wish, link.FK.Entity); named.exact {
		choices = slices.DeleteFunc(named.entities, func(x *nodes.Entity) bool { return !slices.Contains(choices, x) })
	}
	if len(choices) == 0 {
		a.complete("There is nothing yet to plan with.", "")

		return
	}
	var creates []map[string]any
	var lines []string
	for i, row := range a.op.Rows {
		pick := choices[i%len(choices)]
		row[link.Name] = pick.Ref
		creates = append(creates, map[string]any{"type": e.Type, "content": row})
		at, err := time.Parse(dayFormat, asText(row[day.Name]))
		if err == nil {
			lines = append(lines, at.Format("Monday")+": "+pick.Label)
		}
	}
	a.call(nodes.ToolGenerate, map[string]any{"creates": creates})
	a.complete("Drafted a plan. "+joinList(lines)+".", "")
}
