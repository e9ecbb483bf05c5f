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
	parts            []*entity
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

// decodeObject reads a JSON object that starts text.
func decodeObject(text string) map[string]any {
	var out map[string]any
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&out); err != nil {
		return nil
	}
	return out
}
