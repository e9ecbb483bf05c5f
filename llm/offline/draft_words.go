package offline

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"alfred/domain"
)

// edits are the ways to change a draft in words that need no table.
func (c *composer) applyWords(content map[string]any, text string) {
	for _, e := range []struct {
		pattern *regexp.Regexp
		apply   func(content map[string]any, text string, m []string)
	}{
		{regexp.MustCompile(`(?i)(?:use|swap in)\s+(.+?)\s+(?:instead of|rather than|in place of)\s+(?:the\s+)?(.+)$`), c.useInstead},
		{regexp.MustCompile(`(?i)(?:swap|replace|substitute|exchange)\s+(?:the\s+)?(.+?)\s+(?:for|with|by)\s+(.+)$`), c.swap},
		{regexp.MustCompile(`(?i)^(?:add|put in|include)\s+(.+?)(?:\s+(?:at|to|in|into|for|on)\s+(?:the\s+(?:end|beginning|start|top)|it|that|this|the draft))*$`), c.addThing},
		{regexp.MustCompile(`(?i)\b(?:with|and)\s+(?:some |extra |more )?([\pL ]+?)\s+(?:in it|on top|added)$`), c.addThing},
		{regexp.MustCompile(`(?i)(?:remove|take out|leave out|without|skip|drop|no more|no)\s+(?:the\s+|any\s+)?(.+?)(?:\s+(?:from|in)\s+(?:it|that|this|the draft))?$`), c.dropThing},
		{regexp.MustCompile(`(?i)(?:rename|call)\s+(?:it|that|this|the draft)\s+(?:to\s+|as\s+)?(.+)$`), c.rename},
		{regexp.MustCompile(`(?i)\b(less|more|extra|double the|half the)\s+([\pL ]+)$`), c.lessOrMore},
	} {
		if m := e.pattern.FindStringSubmatch(text); m != nil {
			e.apply(content, text, m)
			return
		}
	}
}

func (c *composer) useInstead(content map[string]any, _ string, m []string) {
	c.replaceAll(content, []domain.OfflineReplace{{From: c.forms(content, trimName(m[2])), To: strings.ToLower(trimName(m[1]))}})
}

// forms are the ways that content writes a thing: chicken is chicken breasts
// where that is what it has, so that no tofu breasts come of it.
func (c *composer) forms(content map[string]any, thing string) []string {
	needle := stems(thing)
	var covered, ending []string
	for _, v := range c.children(content) {
		row, _ := v.(map[string]any)
		item := asText(row[c.d.Item])
		ws := stems(item)
		switch at := indexWords(ws, needle); {
		case slices.Equal(ws, needle):
			return []string{item, thing}
		case slices.ContainsFunc(c.f.lex.vocab.covers(thing), func(w string) bool { return slices.Equal(stems(w), ws) }):
			covered = append(covered, item)
		case at >= 0 && at+len(needle) == len(ws):
			ending = append(ending, item)
		}
	}
	if len(covered) > 0 {
		return append(covered, thing)
	}
	return append(ending, thing)
}

func (c *composer) swap(content map[string]any, _ string, m []string) {
	c.replaceAll(content, []domain.OfflineReplace{{From: c.forms(content, trimName(m[1])), To: strings.ToLower(trimName(m[2]))}})
}

// addThing adds a child row and a step for each thing.
func (c *composer) addThing(content map[string]any, text string, m []string) {
	early := regexp.MustCompile(`(?i)\bat the (?:beginning|start)\b`).MatchString(text)
	for _, item := range splitList(m[1]) {
		c.addOne(content, item, early)
	}
}

func (c *composer) addOne(content map[string]any, item string, early bool) {
	child := c.f.lex.byTable(c.d.Child)
	amount := map[string]any{}
	thing := trimName(item)
	if child != nil && quantityColumn(child) != nil {
		thing = trimName(c.f.takeQuantity(item, child, amount))
	}
	a := c.addition(thing)
	fill := func(s string) string {
		return strings.NewReplacer("{thing}", thing, "{Thing}", titleCase(thing)).Replace(s)
	}
	row := map[string]any{c.d.Item: thing}
	step := "Add " + thing + "."
	if a != nil {
		row = mapTexts(clone(a.Row), fill)
		if asText(row[c.d.Item]) == "" {
			row[c.d.Item] = thing
		}
		step = fill(a.Step)
	}
	maps.Copy(row, amount)
	content[c.d.Child] = append(c.children(content), row)
	if step == "" {
		return
	}
	steps, _ := content[c.d.Steps].([]any)
	if early {
		content[c.d.Steps] = append([]any{step}, steps...)
	} else {
		content[c.d.Steps] = append(steps, step)
	}
}

// addition is what is done with a thing: the entry with its word, else the one
// for all others.
func (c *composer) addition(thing string) *domain.OfflineAddition {
	var other *domain.OfflineAddition
	ws := stems(thing)
	for i := range c.d.Additions {
		a := &c.d.Additions[i]
		if len(a.Words) == 0 {
			other = a
		}
		for _, w := range a.Words {
			if containsWords(ws, stems(w)) {
				return a
			}
		}
	}
	return other
}

func (c *composer) dropThing(content map[string]any, _ string, m []string) {
	for _, thing := range splitList(m[1]) {
		for _, word := range c.f.lex.vocab.covers(trimName(thing)) {
			c.remove(content, word)
		}
	}
}

func (c *composer) rename(content map[string]any, _ string, m []string) {
	content[c.d.Title] = strings.Trim(m[1], ` "'.!`)
}

func (c *composer) lessOrMore(content map[string]any, _ string, m []string) {
	by := map[string]float64{"less": 0.5, "half the": 0.5, "more": 1.5, "extra": 1.5, "double the": 2}[strings.ToLower(m[1])]
	needle := stems(m[2])
	child := c.f.lex.byTable(c.d.Child)
	if child == nil || quantityColumn(child) == nil {
		return
	}
	for _, row := range c.children(content) {
		r, ok := row.(map[string]any)
		if !ok || !containsWords(stems(asText(r[c.d.Item])), needle) {
			continue
		}
		if n, isNumber := r[quantityColumn(child).Name].(float64); isNumber {
			r[quantityColumn(child).Name] = round(n * by)
		}
		return
	}
	if by > 1 {
		c.addOne(content, m[2], false)
	}
}

var setPhrase = regexp.MustCompile(`(?i)(?:set|change|make)\s+(.+?)\s+(?:to|=|as)\s+(.+)$`)

// setColumn reads "set the cuisine to italian".
func (c *composer) setColumn(content map[string]any, text string) {
	m := setPhrase.FindStringSubmatch(text)
	if m == nil {
		return
	}
	if col := columnIn(m[1], c.row); col != nil && !col.Generated && col.FK == nil {
		content[col.Name] = typed(col, m[2], c.f.today)
	}
}
