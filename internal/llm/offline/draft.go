package offline

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"alfred/internal/clean"
	"alfred/internal/domain"
	"alfred/internal/vocab"
	"alfred/nodes"
)

var (
	titleNoise = regexp.MustCompile(`(?i)\b(?:an?|the|some|me|us|my|new|simple|quick|easy|nice|good|great|another|ideas?|drafts?|suggestions?|please|something|anything|` +
		`(?:with |from |using )?(?:what (?:i|we) have|what's in.*|what is in.*))(?:\s|$)`)
	forPeople = regexp.MustCompile(`(?i)\bfor\s+(\d+|one|two|three|four|five|six|seven|eight|nine|ten|twelve)\b(?:\s+(?:people|persons|of us|guests|adults|servings))?`)
	unwanted  = regexp.MustCompile(`(?i)\b(?:without|with no|but no)\s+(?:any\s+)?(.+)$`)
	edges     = regexp.MustCompile(`(?i)^(?:for|of|with|called|named)\s+|\s+(?:for|of|with|to|on|in)$`)
)

// anything matches what leaves the choice to whoever drafts.
var anything = regexp.MustCompile(`(?i)^(?:suggest|invent|propose|think up|dream up|come up with)(?: me| us)? (?:something|anything)\b`)

// acceptDraft: "draft a Thai basil chicken", "make me a curry", "add a new recipe for pancakes".
func acceptDraft(s *scene, c *command) bool {
	c.kind = s.lex.draftable
	if c.kind == nil || pointing.MatchString(c.object) || strings.HasPrefix(strings.ToLower(c.object), "the ") {
		return false
	}
	if s.lex.leadingType(c.object) == c.kind {
		return true
	}
	_, known := s.lex.template(c.object)
	if other := s.lex.typeIn(c.object); other != nil && other != c.kind && !known {
		return false
	}
	lead := c.lead()

	return lead == "draft" || anything.MatchString(c.text) || known && lead != "add" && lead != "new"
}

var (
	otherPlace = regexp.MustCompile(`(?i)\b(?:to|in|into|on|from|off|for) (?:my|our|the) ([\pL ]+)`)
	newDraft   = regexp.MustCompile(`(?i)^(?:make|create|add|write|give|suggest|draft)(?: me| us)? (?:an?|some|another|two|three|new|something)\b`)
)

// acceptRevise: a change of the draft that was just mentioned, unless the message names a list, a day or another thing.
func acceptRevise(s *scene, c *command) bool {
	c.kind = s.lex.draftable
	draft := s.draftInTalk()
	if drafts := s.drafts(c.kind); draft == nil && len(drafts) == 1 && draftWord.MatchString(c.text) {
		draft = drafts[0]
	}
	if draft == nil || c.kind == nil || draft.Type != c.kind.Type || newDraft.MatchString(c.text) {
		return false
	}
	if others := s.find(c.text).entities; len(others) > 0 && !slices.Contains(others, draft) {
		return false
	}
	if m := otherPlace.FindStringSubmatch(c.text); m != nil {
		if place, _ := s.lex.typeAndValues(m[1]); place != nil && place != c.kind {
			return false
		}
	}
	if s.lex.schedule != nil && (len(dates(c.text, s.Today)) > 0 || slices.Contains(s.lex.typesIn(c.text), s.lex.schedule)) {
		return false
	}
	c.about = s.find(draft.Ref)

	return true
}

// unsaved follows what introduces drafts.
const unsaved = " It is not saved yet. " + offerWords + "it?"

func (p *planner) draft() {
	content := p.compose(p.c.object)
	st, title := p.step(vocab.StepGenerate, p.lex.draftable), clean.Value(content[p.lex.Draft.Title])
	st.call(vocab.ToolGenerate, args{"creates": []args{{"type": p.lex.Draft.Type, "content": content}}})
	st.words = "Here is a draft of " + title + "."
	if _, called := p.lex.template(p.c.object); !called {
		st.words = "I have no pattern for that: here is a draft of a plain " + p.lex.draftable.Name + ", called " + title + "."
	}
	st.words += unsaved
}

// revise changes a draft by the user's words.
func (p *planner) revise() {
	if r := p.c.about; len(r.entities) == 1 && r.entities[0].Pending {
		p.redraft(r.entities[0], func(content map[string]any) { p.rework(content, p.c.value) })
	}
}

// redraft changes a draft's content.
func (p *planner) redraft(e *nodes.Entity, change func(content map[string]any)) {
	st, content := p.step(vocab.StepGenerate, p.lex.domain.ByType(e.Type), e.Ref), clone(e.Draft)
	change(content)
	patch := mergePatch(clone(e.Draft), content)
	if len(patch) == 0 {
		st.giveUp(notThere, "I do not know how to do that to the draft; it is unchanged.")
		return
	}
	st.call(vocab.ToolGenerate, args{"updates": []args{{"ref": e.Ref, "content": patch}}})
	st.words = "This is the draft now." + unsaved
}

// mergePatch leads from one content to another. A shortened list would be rejected as incomplete: its entries are removed by
// their positions, and those of the new one added behind them.
func mergePatch(was, now map[string]any) map[string]any {
	patch := map[string]any{}
	for name, v := range now {
		if flat(was[name]) == flat(v) {
			continue
		}
		patch[name] = v
		before, _ := was[name].([]any)
		after, _ := v.([]any)
		if len(after) == 0 || len(after) >= len(before) {
			continue
		}
		places := map[string]any{}
		for i := range before {
			places[strconv.Itoa(i+1)] = nil
		}
		for i, entry := range after {
			places[strconv.Itoa(len(before)+i+1)] = entry
		}
		patch[name] = places
	}

	return patch
}

// compose fills the template for a text, whose own words become the name if they are one: a single word is an ingredient of
// the template's dish.
func (s *scene) compose(text string) map[string]any {
	d, title := s.lex.Draft, s.draftTitle(text)
	t, _ := s.lex.template(text)
	content := clone(t.Content)
	mapText(content, s.filling(t, title, text).Replace)
	const longest = 60 // characters; longer text is a description
	if len(strings.Fields(title)) > 1 && len(title) <= longest || clean.Value(content[d.Title]) == "" {
		content[d.Title] = cmp.Or(title, "New "+s.lex.draftable.Name)
	}
	s.rework(content, text)
	s.leaveOut(content, s.avoided())

	return content
}

// draftTitle is the name in a request for a draft, "" if it has none.
func (s *scene) draftTitle(text string) string {
	title := s.lex.cutTypes(forPeople.ReplaceAllString(text, " "), s.lex.draftable)
	title = strings.Join(strings.Fields(titleNoise.ReplaceAllString(title+" ", " ")), " ")

	return titleCase(strings.Trim(edges.ReplaceAllString(title, ""), ` "'“”.,;:!?-`))
}

// filling puts into a template's slots what the text names for them, else the template's or the declaration's default.
func (s *scene) filling(t domain.OfflineTemplate, title, text string) *strings.Replacer {
	d, fill, used := s.lex.Draft, []string{"{title}", title}, []string(nil)
	slots := slices.Sorted(maps.Keys(d.Slots))
	for i, name := range slots {
		var said []string
		for _, from := range slots[i:] { // of what is named, something comes first: a pumpkin soup needs no chicken
			said = slices.Concat(said, d.Slots[from].Words)
		}
		said = filtered(said, func(w string) bool {
			return within(text, w) && !slices.ContainsFunc(used, func(before string) bool { return within(before, w) })
		})
		w := cmp.Or(append(said, t.Slots[name], d.Slots[name].Default)...)
		used = append(used, w)
		fill = append(fill, "{"+name+"}", w, "{"+capitalize(name)+"}", titleCase(w))
	}

	return strings.NewReplacer(fill...)
}

func longestWord(list []string, text string) string {
	ws, best := stems(text), ""
	for _, w := range list {
		if indexWords(ws, stems(w)) >= 0 && len(w) > len(best) {
			best = w
		}
	}

	return best
}

// applyChanges applies the declared changes whose words the text contains.
func (s *scene) applyChanges(content map[string]any, text string) {
	title := s.lex.Draft.Title
	for _, ch := range s.lex.Draft.Changes {
		if longestWord(ch.Words, text) == "" {
			continue
		}
		s.leaveOut(content, ch.Remove)
		if len(ch.Replace) > 0 {
			replace(content, ch.Replace...)
		}
		if called := clean.Value(content[title]); ch.Prefix != "" && !strings.HasPrefix(called, ch.Prefix) {
			content[title] = ch.Prefix + " " + called
		}
		for column, v := range ch.Set {
			if _, isList := v.([]any); isList { // lists grow
				v = union(texts(content[column]), texts(v))
			}
			content[column] = v
		}
	}
}

// replace replaces words in every text, longest first and in one pass, so that fish sauce is not taken for fish, and
// nothing is replaced twice.
func replace(content map[string]any, rules ...domain.OfflineReplace) {
	to := map[string]string{}
	for _, r := range rules {
		for _, from := range r.From {
			to[strings.ToLower(from)] = r.To
		}
	}
	every := regexp.MustCompile(`(?i)\b(` + alternatives(slices.Collect(maps.Keys(to))) + `)(?:s|es)?\b`)
	mapText(content, func(text string) string {
		return every.ReplaceAllStringFunc(text, func(found string) string {
			word := to[strings.ToLower(every.FindStringSubmatch(found)[1])]
			if found[:1] != strings.ToLower(found[:1]) {
				return titleCase(word)
			}

			return word
		})
	})
}

// scale makes a draft serve a number of people.
func (s *scene) scale(content map[string]any, people string) {
	d, quantity := s.lex.Draft, quantityColumn(s.lex.domain.ByTable(s.lex.Draft.Child))
	have, _ := content[d.Serves].(float64)
	want, ok := number(people)
	if !ok || d.Serves == "" {
		return
	}
	content[d.Serves] = want
	if have <= 0 || quantity == nil {
		return // the amounts are for nobody yet
	}
	for _, row := range objects(content[d.Child]) {
		if n, ok := row[quantity.Name].(float64); ok {
			row[quantity.Name] = math.Round(n*want/have*100) / 100
		}
	}
}

var (
	useInstead = regexp.MustCompile(`(?i)(?:use|swap in|with|take)\s+(.+?)\s+(?:instead of|rather than|in place of)\s+(?:the\s+)?(.+)$`)
	swapFor    = regexp.MustCompile(`(?i)(?:swap|replace|substitute|exchange)\s+(?:the\s+)?(.+?)\s+(?:for|with|by)\s+(.+)$`)
	addTo      = regexp.MustCompile(`(?i)(?:^(?:and )?(?:add|put in|include|put)|\bwith)\s+(.+?)(?:\s+(?:at|to|in|into|for|on)\s+(?:the\s+(?:end|beginning|start|top)|it|that|this|the draft))*$`)
	takeOut    = regexp.MustCompile(`(?i)\b(?:and )?(?:remove|take out|leave out|without|skip|no more|with no|but no|no|not)\s+(?:the\s+|any\s+)?(.+?)(?:\s+(?:from|in)\s+(?:it|that|this|the draft))?$`)
	callIt     = regexp.MustCompile(`(?i)(?:rename|call)\s+(?:it|that|this|the draft)\s+(?:to\s+|as\s+)?(.+)$`)
)

// rework changes a draft as the text says: by declared changes, for a number of people, or in the words that any draft
// understands.
func (s *scene) rework(content map[string]any, text string) {
	s.applyChanges(content, text)
	text = forPeople.ReplaceAllStringFunc(text, func(m string) string { s.scale(content, forPeople.FindStringSubmatch(m)[1]); return "" })
	if m := swapFor.FindStringSubmatch(text); m != nil {
		text = "use " + m[2] + " instead of " + m[1]
	}
	if m := useInstead.FindStringSubmatch(text); m != nil {
		s.exchange(content, trimName(m[2]), strings.ToLower(trimName(m[1])))
		return
	}
	if m := callIt.FindStringSubmatch(text); m != nil {
		content[s.lex.Draft.Title] = strings.Trim(m[1], ` "'.!`)
		return
	}
	if m := takeOut.FindStringSubmatch(text); m != nil {
		text = strings.TrimSuffix(text, m[0])
		s.leaveOut(content, orComma.Split(m[1], -1))
	}
	if m := addTo.FindStringSubmatch(strings.TrimSpace(text)); m != nil && !fromStock.MatchString(text) {
		for _, item := range splitList(m[1]) {
			s.addPart(content, item)
		}
	}
}

// exchange replaces a thing, and what begins with its name: chicken breasts become tofu, not tofu breasts.
func (s *scene) exchange(content map[string]any, thing, with string) {
	from := []string{thing}
	for _, row := range objects(content[s.lex.Draft.Child]) {
		if item := clean.Value(row[s.lex.Draft.Item]); strings.HasPrefix(strings.ToLower(item), strings.ToLower(thing)) {
			from = append(from, item)
		}
	}
	replace(content, domain.OfflineReplace{From: from, To: with})
}

// addPart adds a part that is not yet there, and a sentence about it.
func (s *scene) addPart(content map[string]any, item string) {
	d := s.lex.Draft
	row := s.newRow(item, s.lex.domain.ByTable(d.Child))
	item = clean.Value(row[d.Item])
	if item == "" || len(strings.Fields(item)) > 3 || within(flat(content[d.Child]), item) {
		return
	}
	parts, _ := content[d.Child].([]any)
	steps, _ := content[d.Steps].([]any)
	content[d.Child] = append(parts, row)
	content[d.Steps] = append(steps, "Add the "+item+" and heat through.")
}

// leaveOut removes the parts that are one of the things or of its family, and the things from the texts that name them.
func (s *scene) leaveOut(content map[string]any, things []string) {
	d := s.lex.Draft
	for _, thing := range things {
		for _, word := range s.lex.family(trimName(thing)) {
			parts := objects(content[d.Child])
			kept := filtered(parts, func(row map[string]any) bool { return !within(clean.Value(row[d.Item]), word) })
			if len(kept) == len(parts) {
				continue
			}
			title := content[d.Title]
			cut := regexp.MustCompile(`(?i)(?:,? and|,) (?:the )?` + regexp.QuoteMeta(word) + `(?:e?s)?\b|\b(?:the )?` + regexp.QuoteMeta(word) + `(?:e?s)?(?: and|,) `)
			mapText(content, func(text string) string { return cut.ReplaceAllString(text, "") })
			steps := filtered(texts(content[d.Steps]), func(text string) bool { return !within(text, word) }) // texts about nothing else
			content[d.Title], content[d.Child], content[d.Steps] = title, untyped(kept), untyped(steps)
		}
	}
}

func untyped[T any](items []T) []any { return mapped(items, func(x T) any { return x }) }
