package offline

import (
	"regexp"
	"strings"

	"alfred/domain"
)

// writeRules recognize changes of stored rows.
func writeRules() []rule {
	return []rule{
		{say(`(?:delete|remove|erase|get rid of|throw (?:out|away)|toss|clear(?: out)?|take off|cross off|bin|cancel) (.+)`), buildRemove},
		{say(`(?:rename) (.+?) (?:to|as|into) (.+)`), buildRename},
		{say(`(?:mark|tick|check|cross|set|flag)(?: off)? (.+?)(?: as)? (done|complete|completed|finished|bought|purchased|not done|open|undone)`), buildDone},
		{say(`(?:tick off|check off|cross off|complete|finish) (.+)`), buildDone},
		{say(`(?:i(?:'ve| have)? (?:finished|completed|done)) (.+)`), buildDone},
		{say(`(?:set|mark|flag|change|update|edit|adjust|correct|make|move|raise|lower|increase|reduce|put) (.+?) (?:to|as|=|into|from .+ to) (.+)`), buildChange},
		{say(`(?:move|put) (.+?) (?:in|into|on|to) (.+)`), buildMove},
		{say(`(?:change|update|edit) (.+)`), buildChange},
		{say(`(?:add|put|create|insert|record|note(?: down)?|register|log|stock|enter|write down|make|new) (.+)`), buildAdd},
		{say(`(?:i|we)(?:'ve| have)? (?:just )?(?:bought|got|picked up|purchased) (.+)`), buildAdd},
	}
}

// buildPhrase tries the declaration's own phrases ("remind me to ...").
func buildPhrase(f *facts, c *command, _ string) bool {
	if rejectTail.MatchString(c.text) && rejectStart.MatchString(c.text) {
		return false
	}
	for _, p := range f.lex.vocab.phrases {
		rest, ok := p.match(c.text)
		if !ok {
			continue
		}
		c.entity, c.object, c.column = p.entity, rest, p.column
		c.verb = verbAdd
		if single(p.entity) {
			c.verb, c.value = verbNote, rest
		}
		return true
	}
	return false
}

var removeFrom = regexp.MustCompile(`(?i)^(.+?) (?:from|off) ((?:the |my |our )?.+)$`)

func buildRemove(f *facts, c *command, rest string) bool {
	c.verb, c.object = verbRemove, rest
	if m := removeFrom.FindStringSubmatch(rest); m != nil && f.namesTable(m[2]) && !strings.HasPrefix(strings.ToLower(m[1]), "everything") {
		c.object = m[1]
		f.about(c, m[2])
		c.values = nil
		return true
	}
	f.about(c, rest)
	if e := f.typeOf(rest); e != nil && e != c.entity {
		c.entity, c.also, c.values = e, nil, nil
	}
	return true
}

func buildRename(f *facts, c *command, rest string) bool {
	c.verb, c.object = verbChange, rest
	c.entity = f.typeOf(rest)
	_, c.value = lastCut(c.text, regexp.MustCompile(`(?i) (?:to|as|into) `))
	c.column = &domain.Column{} // the label, whatever the type calls it
	return c.value != ""
}

// lastCut splits at the first match after the verb.
func lastCut(text string, sep *regexp.Regexp) (before, after string) {
	loc := sep.FindStringIndex(text)
	if loc == nil {
		return text, ""
	}
	return text[:loc[0]], strings.TrimSpace(text[loc[1]:])
}

var undone = regexp.MustCompile(`(?i)\b(?:not (?:done|bought|purchased|completed)|undone|open)$`)

func buildDone(f *facts, c *command, rest string) bool {
	c.entity = f.typeOf(rest)
	target := f.resolve(rest, c.entity)
	if e := target.one(); c.entity == nil && e != nil {
		c.entity = f.lex.byType(e.kind)
	}
	if c.entity == nil || doneColumn(c.entity) == nil || f.lex.isChild(c.entity) {
		c.entity = f.lex.checklist(c.text)
	}
	if c.entity == nil || doneColumn(c.entity) == nil {
		return false
	}
	c.verb, c.object, c.column, c.value = verbChange, rest, doneColumn(c.entity), "true"
	if undone.MatchString(c.text) {
		c.value = "false"
	}
	return true
}

var changeSeparator = regexp.MustCompile(`(?i) (?:to|as|=|into) `)

func buildChange(f *facts, c *command, rest string) bool {
	_, c.value = lastCut(c.text, changeSeparator)
	if c.value == "" || strings.HasPrefix(strings.ToLower(c.text), "put") && f.lex.typeIn(c.value) != nil && len(f.enumsOf(c.value)) == 0 {
		return false
	}
	c.verb, c.object = verbChange, rest
	if ofThing := regexp.MustCompile(`(?i)^(?:the )?(.+?) (?:of|for|on) (.+)$`).FindStringSubmatch(rest); ofThing != nil {
		c.object = ofThing[2]
	}
	c.entity = f.typeOf(c.object)
	return true
}

func (f *facts) enumsOf(text string) []value {
	_, vs := f.lex.holderOf(text)
	return vs
}

func buildMove(f *facts, c *command, rest string) bool {
	loc := regexp.MustCompile(`(?i) (?:in|into|on|to) `).FindStringIndex(c.text)
	dest := c.text[loc[1]:]
	e, vs := f.lex.holderOf(dest)
	if len(vs) == 0 || f.resolve(rest, e).one() == nil || !strings.HasPrefix(strings.ToLower(c.text), "move") {
		return false
	}
	c.verb, c.object, c.entity, c.value = verbChange, rest, e, dest
	return true
}

var addTarget = regexp.MustCompile(`(?i)^(.*?)\s+(?:to|in|into|on|onto|under|for)\s+((?:(?:the|my|our|a)\s+)?[^,]*)$`)

// buildAdd splits "12 eggs to the fridge" into what and where.
func buildAdd(f *facts, c *command, rest string) bool {
	c.verb, c.object = verbAdd, rest
	if m := addTarget.FindStringSubmatch(rest); m != nil && f.namesTable(m[2]) {
		c.object = m[1]
		f.about(c, m[2])
		return true
	}
	if e := f.leadingType(rest); e != nil {
		c.entity = e
		c.object = strings.TrimLeft(f.lex.cutTypes(trimName(rest), e), " :,-")
		c.object = strings.TrimSpace(regexp.MustCompile(`(?i)^(?:to|called|named|for|about|that says)\s+`).ReplaceAllString(c.object, ""))
		return true
	}
	return true // without a type: the user is asked where it goes
}

// namesTable reports whether a destination is a type or a value of one.
func (f *facts) namesTable(dest string) bool {
	return f.lex.typeIn(dest) != nil || len(f.enumsOf(dest)) > 0
}

// leadingType is the type that an addition begins with: "a task to buy milk".
func (f *facts) leadingType(rest string) *domain.Entity {
	ws := stems(trimName(rest))
	for _, n := range f.lex.names {
		if !n.entity.Reference && len(ws) >= len(n.words) && indexWords(ws[:len(n.words)], n.words) == 0 {
			return n.entity
		}
	}
	return nil
}
