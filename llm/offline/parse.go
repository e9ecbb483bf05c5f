package offline

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"

	"alfred/llm"
)

// facts are what a prompt says, whichever node it is for; what a node's prompt
// does not have stays empty.
type facts struct {
	lex      *lexicon
	sections []section

	message  string // what the user said now
	today    time.Time
	maxSteps int
	entities []*entity // in the order of the prompt, one per ref
	talk     []exchange
	question *question
	toAsk    string // the question a reply has to ask, word for word
	// means is what the memory manager has resolved in this turn, by phrase.
	means   map[string][]string
	step    *stepFacts
	results []stepResult
}

// section is one heading of the prompt with the text below it.
type section struct {
	heading string // without hashes: "Recent Context (last 2 turns)"
	body    string
}

// entity is what the prompt tells of one ref.
type entity struct {
	ref, label, kind string
	tags             []string // "read:full", "needs save"
	tier             string   // generated, recent, retained, excluded, known
	loaded           bool     // its rows stand in this turn's data
	atRisk           bool     // about to leave the window
	data             map[string]any
	text             string // data as the prompt writes it
}

func (e *entity) pending() bool { return e.has("needs save") || e.tier == "generated" }

// holds reports whether the name or what is known of the row has the words.
func (e *entity) holds(needle []string) bool {
	return containsWords(stems(e.label), needle) || containsWords(stems(e.text), needle) || containsWords(stems(compact(e.data)), needle)
}

func (e *entity) has(tag string) bool {
	for _, t := range e.tags {
		if t == tag || strings.HasPrefix(t, tag+":") {
			return true
		}
	}
	return false
}

// exchange is one past turn.
type exchange struct {
	user, assistant string
	refs            []string // refs listed below the turn
}

// question is the open question: its text and what may be chosen.
type question struct {
	kind, text string
	options    []option
}

type option struct{ label, ref string }

// stepFacts are Act's current step.
type stepFacts struct {
	number, total                int
	kind, subdomain, description string
}

// stepResult is one tool's result of this turn.
type stepResult struct {
	step    int
	open    bool // of the step that is not over yet
	tool    string
	text    string
	failure string // the error, "" for none
}

var headingLine = regexp.MustCompile(`^##\s+(.+?)\s*$`)

// readPrompt collects the facts of a request. The dynamic part of a prompt
// stands in tagged blocks; examples and instructions outside of them are not
// facts.
func readPrompt(lex *lexicon, req *llm.Request) *facts {
	f := &facts{lex: lex, maxSteps: defaultSteps}
	for _, m := range req.Messages {
		if m.Role == llm.RoleUser {
			for _, b := range blocks(m.Content) {
				f.sections = append(f.sections, splitSections(b)...)
			}
		}
	}
	f.readEntities()
	f.readTalk()
	f.readMeanings()
	f.readTask()
	f.readQuestion()
	f.readStep()
	f.readResults()
	f.readData()
	return f
}

const defaultSteps = 8

var blockTags = []string{
	"session_context", "entity_context", "turn_narrative", "prior_turn_context", "conversation_history",
	"execution_results", "conversation_flow", "reply_guidance", "current_task", "step_context", "data_to_analyze",
}

// blocks are the texts inside the tags, or the whole when there are none.
func blocks(text string) []string {
	var out []string
	for _, tag := range blockTags {
		_, rest, ok := strings.Cut(text, "<"+tag+">\n")
		if !ok {
			continue
		}
		body, _, _ := strings.Cut(rest, "</"+tag+">")
		out = append(out, body)
	}
	if len(out) == 0 {
		return []string{text}
	}
	return out
}

func splitSections(text string) []section {
	var out []section
	for line := range strings.SplitSeq(text, "\n") {
		if m := headingLine.FindStringSubmatch(line); m != nil {
			out = append(out, section{heading: m[1]})
			continue
		}
		if len(out) > 0 {
			out[len(out)-1].body += line + "\n"
		}
	}
	for i := range out {
		out[i].body = strings.TrimSpace(out[i].body)
	}
	return out
}

// body is the text below the first heading with that beginning, or "".
func (f *facts) body(prefix string) string {
	for _, s := range f.sections {
		if strings.HasPrefix(s.heading, prefix) {
			return s.body
		}
	}
	return ""
}

var (
	entityLine = regexp.MustCompile("^[-*] `?((?:gen_)?[a-z][a-z0-9_]*_\\d+)`?: (.+?) \\(([a-z][a-z0-9_]*)(?:,[^)]*)?\\)((?: .*)?)$")
	rangeLine  = regexp.MustCompile(`^[-*] ((?:gen_)?[a-z][a-z0-9_]*)_(\d+)\.\.(?:(?:gen_)?[a-z][a-z0-9_]*_)?(\d+): \[(.*?)\](.*)$`)
	entityTag  = regexp.MustCompile(`\[([^\]]+)\]`)
	anyRef     = regexp.MustCompile(`\b(?:gen_)?[a-z][a-z0-9_]*_\d+\b`)
)

// entitySections maps the beginning of a heading to the tier its lines are in.
var entitySections = []struct{ prefix, tier string }{
	{"Generated", "generated"},
	{"This Turn", "recent"},
	{"Just Saved", "recent"},
	{"Recent Context", "recent"},
	{"Long Term Memory", "retained"},
	{"Excluded", "excluded"},
	{"All Known Entities", "known"},
	{"Viable for planning", "recent"},
}

func (f *facts) readEntities() {
	for _, known := range entitySections {
		for _, s := range f.sections {
			if strings.HasPrefix(s.heading, known.prefix) {
				f.readEntityLines(s.body, known.tier)
			}
		}
	}
}

func (f *facts) readEntityLines(body, tier string) {
	loaded := false
	group := tier
	for line := range strings.SplitSeq(body, "\n") {
		switch {
		case strings.Contains(line, "Already loaded"):
			loaded = true
		case strings.Contains(line, "Not loaded"):
			loaded = false
		case strings.HasPrefix(line, "### "), strings.HasPrefix(line, "**"):
			group = groupTier(line, tier)
		default:
			f.readEntityLine(strings.TrimSpace(line), group, loaded)
		}
	}
}

// groupTier reads a sub-heading of the list of all known entities.
func groupTier(line, tier string) string {
	line = strings.ToLower(line)
	for _, t := range []string{"excluded", "retained", "recent"} {
		if strings.Contains(line, t) {
			return t
		}
	}
	if strings.Contains(line, "not yet saved") || strings.Contains(line, "pending") || strings.Contains(line, "generated") {
		return "generated"
	}
	return tier
}

func (f *facts) readEntityLine(line, tier string, loaded bool) {
	if m := rangeLine.FindStringSubmatch(line); m != nil {
		f.readRange(m, tier, loaded)
		return
	}
	m := entityLine.FindStringSubmatch(line)
	if m == nil {
		return
	}
	e := f.entity(m[1])
	if e.label == "" {
		e.label, e.kind, e.tier = m[2], m[3], tier
	}
	e.loaded = e.loaded || loaded
	e.atRisk = e.atRisk || strings.Contains(m[4], "at risk")
	e.addTags(m[4])
}

func (e *entity) addTags(rest string) {
	for _, t := range entityTag.FindAllStringSubmatch(rest, -1) {
		e.tags = append(e.tags, t[1])
	}
	switch {
	case e.has("excluded"):
		e.tier = "excluded"
	case e.has("needs save"):
		e.tier = "generated"
	}
}

// maxRange bounds what one line of a prompt can make us hold.
const maxRange = 2000

func (f *facts) readRange(m []string, tier string, loaded bool) {
	for _, ref := range rangeRefs(m) {
		e := f.entity(ref)
		if e.tier == "" {
			e.kind, e.tier = strings.TrimPrefix(m[1], "gen_"), tier
			e.addTags(m[5])
		}
		e.loaded = e.loaded || loaded
	}
}

// rangeRefs are the refs of "inv_1..inv_59".
func rangeRefs(m []string) []string {
	from, errFrom := strconv.Atoi(m[2])
	to, errTo := strconv.Atoi(m[3])
	if errFrom != nil || errTo != nil || to-from > maxRange {
		return nil
	}
	var out []string
	for n := from; n <= to; n++ {
		out = append(out, m[1]+"_"+strconv.Itoa(n))
	}
	return out
}

// entity is the entry of a ref, made at first sight.
func (f *facts) entity(ref string) *entity {
	if e := f.find(ref); e != nil {
		return e
	}
	e := &entity{ref: ref, kind: kindOf(ref)}
	f.entities = append(f.entities, e)
	return e
}

func (f *facts) find(ref string) *entity {
	for _, e := range f.entities {
		if e.ref == ref {
			return e
		}
	}
	return nil
}

// kindOf is the entity type in a ref's name.
func kindOf(ref string) string {
	ref = strings.TrimPrefix(ref, "gen_")
	if i := strings.LastIndexByte(ref, '_'); i > 0 {
		return ref[:i]
	}
	return ref
}

var (
	todayLine  = regexp.MustCompile(`Today:\**\s*(\d{4}-\d{2}-\d{2})`)
	maxLine    = regexp.MustCompile(`max (\d+) steps?`)
	taskPrefix = regexp.MustCompile(`(?i)^\**(?:user(?: says| asks| asked)?|message|user message|request)\**\s*:\**\s*`)
	taskEnd    = regexp.MustCompile(`(?m)^(?:\**(?:Today|Mode|Next days)\**:|Note from |Decisions left:).*$`)
)

// readTask finds the date, the limit and the user's message.
func (f *facts) readTask() {
	for _, s := range f.sections {
		if f.today.IsZero() {
			if m := todayLine.FindStringSubmatch(s.body); m != nil {
				f.today, _ = time.Parse(dayFormat, m[1])
			}
		}
	}
	if m := maxLine.FindStringSubmatch(f.body("Current Task")); m != nil {
		f.maxSteps, _ = strconv.Atoi(m[1])
	}
	if body := f.body("Current Message"); body != "" {
		f.message = messageIn("User: " + body)
		return
	}
	for _, heading := range []string{"Current Task", "Current Step", "Execution Results", "User Message", "This Turn"} {
		if f.message = messageIn(f.body(heading)); f.message != "" {
			return
		}
	}
	if n := len(f.talk); n > 0 && f.talk[n-1].assistant == "" {
		f.message = f.talk[n-1].user
		f.talk = f.talk[:n-1]
	}
}

// messageIn reads the message behind its label, up to the date that follows it.
func messageIn(body string) string {
	lines := strings.Split(body, "\n")
	for i, line := range lines {
		loc := taskPrefix.FindStringIndex(strings.TrimSpace(line))
		if loc == nil {
			continue
		}
		text := strings.TrimSpace(line)[loc[1]:]
		quoted := strings.HasPrefix(text, `"`)
		if quoted && strings.HasSuffix(text, `"`) && len(text) > 1 {
			return strings.Trim(text, `" `)
		}
		rest := text + "\n" + strings.Join(lines[i+1:], "\n")
		if end := taskEnd.FindStringIndex(rest); end != nil {
			rest = rest[:end[0]]
		}
		return strings.Trim(strings.TrimSpace(rest), `"`)
	}
	return ""
}

var (
	userLine      = regexp.MustCompile(`(?i)^\**(?:\[?turn \d+\]?[^:]*?\s+)?user(?: \([^)]*\))?\**\s*:\**\s*(.*)$`)
	assistantLine = regexp.MustCompile(`(?i)^\**(?:alfred|assistant|you|reply)(?: \([^)]*\))?\**\s*:\**\s*(.*)$`)
	refsLine      = regexp.MustCompile(`(?i)^\**entities this turn`)
)

// readTalk reads the conversation, oldest first, as it stands in the prompt.
func (f *facts) readTalk() {
	body := f.body("Recent Conversation")
	if body == "" {
		body = f.body("Conversation")
	}
	part := ""
	for line := range strings.SplitSeq(body, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "###"):
			part = ""
		case userLine.MatchString(trimmed):
			f.talk = append(f.talk, exchange{user: userLine.FindStringSubmatch(trimmed)[1]})
			part = "user"
		case assistantLine.MatchString(trimmed) && len(f.talk) > 0:
			f.talk[len(f.talk)-1].assistant = assistantLine.FindStringSubmatch(trimmed)[1]
			part = "assistant"
		case refsLine.MatchString(trimmed):
			part = "refs"
			f.addTalk(part, trimmed)
		default:
			f.addTalk(part, line)
		}
	}
}

func (f *facts) addTalk(part, line string) {
	if len(f.talk) == 0 {
		return
	}
	last := &f.talk[len(f.talk)-1]
	switch part {
	case "user":
		last.user = strings.TrimSpace(last.user + "\n" + line)
	case "assistant":
		last.assistant = strings.TrimSpace(last.assistant + "\n" + line)
	case "refs":
		last.refs = append(last.refs, f.touchedRefs(line)...)
	}
}

var touchedLine = regexp.MustCompile(`^- ((?:gen_)?[a-z][a-z0-9_]*_\d+): (.+?) \[[a-z:_]+\](.*)$`)

// touchedRefs reads a line of "Entities this turn", which also tells labels and
// what is about to leave the view.
func (f *facts) touchedRefs(line string) []string {
	if m := rangeLine.FindStringSubmatch(line); m != nil {
		return rangeRefs(m)
	}
	m := touchedLine.FindStringSubmatch(line)
	if m == nil {
		return anyRef.FindAllString(line, -1)
	}
	if e := f.find(m[1]); e != nil {
		e.atRisk = e.atRisk || strings.Contains(m[3], "at risk")
		if e.label == "" {
			e.label = m[2]
		}
	}
	return []string{m[1]}
}

var meansLine = regexp.MustCompile(`^- "(.*)" means ((?:gen_)?[a-z][a-z0-9_]*_\d+)\b`)

// readMeanings takes over the references that were resolved in this turn.
func (f *facts) readMeanings() {
	f.means = map[string][]string{}
	_, now, ok := strings.Cut("\n"+f.body("What Happened"), "\n### This turn")
	if !ok {
		return
	}
	now, _, _ = strings.Cut(now, "\n### ")
	for line := range strings.SplitSeq(now, "\n") {
		if m := meansLine.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			f.means[clean(m[1])] = append(f.means[clean(m[1])], m[2])
		}
	}
}

var optionLine = regexp.MustCompile(`^(?:[-*]|\d+[.)])\s+(.*)$`)

// readQuestion reads the open question and its options.
func (f *facts) readQuestion() {
	body := f.body("Open Question")
	if body == "" {
		return
	}
	q := &question{}
	var text []string
	for line := range strings.SplitSeq(body, "\n") {
		line = strings.TrimSpace(line)
		if m := kindLine.FindStringSubmatch(line); m != nil {
			q.kind = m[1]
		} else if m := optionLine.FindStringSubmatch(line); m != nil {
			q.options = append(q.options, readOption(m[1]))
		} else {
			text = append(text, line)
		}
	}
	q.text = strings.TrimSpace(strings.Join(text, "\n"))
	if strings.Contains(body, "Ask exactly this") {
		f.toAsk = q.whole()
		return
	}
	f.question = q
}

// whole is the question with the options that its text does not name.
func (q *question) whole() string {
	text := q.text
	for _, o := range q.options {
		if !strings.Contains(q.text, o.label) {
			text += "\n- " + o.label
		}
	}
	return text
}

var kindLine = regexp.MustCompile(`^Kind: ([a-z_]+)`)

// readOption reads "recipe_1: Butter Chicken", "Butter Chicken (recipe_1)" or a
// label alone.
func readOption(text string) option {
	o := option{label: text, ref: anyRef.FindString(text)}
	if o.ref != "" {
		o.label = strings.Trim(strings.NewReplacer("("+o.ref+")", "", "`", "", o.ref+":", "", o.ref, "").Replace(text), " -—:")
	}
	return o
}

// decodeObject reads a JSON object that starts text.
func decodeObject(text string) map[string]any {
	var out map[string]any
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&out); err != nil {
		return nil
	}
	return out
}
