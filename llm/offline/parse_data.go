package offline

import (
	"encoding/json"
	"maps"
	"regexp"
	"strconv"
	"strings"
)

var (
	stepOf       = regexp.MustCompile(`(?i)\bstep (\d+) of (\d+)`)
	stepLabel    = regexp.MustCompile(`(?i)^\**(type|step type|subdomain|description|task|do)\**\s*:\**\s*(.*)$`)
	stepTypeWord = regexp.MustCompile(`\b(read|analyze|generate|write)\b`)
)

// readStep reads the step that Act is in.
func (f *facts) readStep() {
	body := f.body("Current Step")
	if body == "" {
		return
	}
	s := &stepFacts{number: 1, total: 1}
	if m := stepOf.FindStringSubmatch(body); m != nil {
		s.number, _ = strconv.Atoi(m[1])
		s.total, _ = strconv.Atoi(m[2])
	}
	for line := range strings.SplitSeq(body, "\n") {
		s.readLine(strings.TrimSpace(line))
	}
	if s.kind == "" {
		s.kind = stepTypeWord.FindString(body)
	}
	f.step = s
}

func (s *stepFacts) readLine(line string) {
	m := stepLabel.FindStringSubmatch(line)
	switch {
	case m == nil:
		if s.description == "" && isOp(line) {
			s.description = line
		}
	case strings.EqualFold(m[1], "type"), strings.EqualFold(m[1], "step type"):
		s.kind = stepTypeWord.FindString(strings.ToLower(m[2]))
	case strings.EqualFold(m[1], "subdomain"):
		s.subdomain = strings.Trim(m[2], "* `")
	case s.description == "":
		s.description = m[2]
	}
}

var (
	resultHead = regexp.MustCompile(`(?i)^step (\d+)\b[^:]*:?\s*(open)?`)
	resultCall = regexp.MustCompile(`^(db_read|db_create|db_update|db_delete|db_analyze|generate|calculate|recall)\b`)
	resultErr  = regexp.MustCompile(`→ error (.*)$`)
)

// readResults reads the results of this turn's steps, one entry a tool call.
func (f *facts) readResults() {
	step, open := 0, false
	for line := range strings.SplitSeq(f.body("Step Results"), "\n") {
		line = strings.TrimSpace(line)
		if m := resultHead.FindStringSubmatch(line); m != nil {
			step, _ = strconv.Atoi(m[1])
			open = m[2] != ""
			continue
		}
		if tool := resultCall.FindString(line); tool != "" {
			f.results = append(f.results, stepResult{step: step, tool: tool, open: open})
		}
		if len(f.results) == 0 || line == "" {
			continue
		}
		f.results[len(f.results)-1].add(line)
	}
}

func (r *stepResult) add(line string) {
	r.text += line + "\n"
	if m := resultErr.FindStringSubmatch(line); m != nil {
		r.failure = m[1]
	}
}

// dataSections are where rows and drafts stand in full, newest source last, so
// that its values win.
var dataSections = []string{"Active Entities", "This Turn", "Just Saved", "Generated", "All Known Entities", "Step Results"}

var (
	tableRow    = regexp.MustCompile("^\\|\\s*`?((?:gen_)?[a-z][a-z0-9_]*_\\d+)`?\\s*\\|(.*)\\|\\s*$")
	detailHead  = regexp.MustCompile("^(?:###+ |[-*] )`?((?:gen_)?[a-z][a-z0-9_]*_\\d+)\\b")
	displayLine = regexp.MustCompile(`^[-*] (.+?) id:((?:gen_)?[a-z][a-z0-9_]*_\d+)\s*(.*)$`)
)

// readData attaches rows and drafts to their entities.
func (f *facts) readData() {
	for _, prefix := range dataSections {
		for _, s := range f.sections {
			if strings.HasPrefix(s.heading, prefix) {
				f.readDataSection(s.body)
			}
		}
	}
}

func (f *facts) readDataSection(body string) {
	var current *entity
	detailed := false
	lines := strings.Split(body, "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		if m := tableRow.FindStringSubmatch(line); m != nil {
			f.readTableRow(m[1], m[2])
			continue
		}
		if m := displayLine.FindStringSubmatch(line); m != nil {
			shown := f.readDisplay(m[1], m[2])
			if !detailed {
				current = shown
			} else if current != nil { // a part stands below what it is part of
				name, _ := splitFacts(f.lex.byType(shown.kind), m[1])
				current.text += "- " + name + "\n"
				if !containsEntity(current.parts, shown) {
					current.parts = append(current.parts, shown)
				}
			}
			continue
		}
		if m := detailHead.FindStringSubmatch(line); m != nil {
			current = f.entity(m[1])
			detailed = strings.HasPrefix(line, "###")
			continue
		}
		if start := strings.IndexByte(line, '{'); start >= 0 && current != nil {
			if data, used := jsonAt(lines[i:], start); data != nil {
				current.data = merge(current.data, data)
				i += used
				continue
			}
		}
		if current != nil {
			current.text += line + "\n"
		}
	}
}

// jsonAt decodes the object that begins at a column of the first line, and says
// how many further lines it took.
func jsonAt(lines []string, column int) (map[string]any, int) {
	text := strings.TrimSpace(lines[0])[column:]
	if len(lines) > 1 {
		text += "\n" + strings.Join(lines[1:], "\n")
	}
	dec := json.NewDecoder(strings.NewReader(text))
	var data map[string]any
	if err := dec.Decode(&data); err != nil {
		return nil, 0
	}
	return data, strings.Count(text[:dec.InputOffset()], "\n")
}

func (f *facts) readTableRow(ref, cells string) {
	parts := strings.SplitN(cells, " | ", 3)
	if len(parts) < 3 {
		parts = strings.SplitN(cells, "|", 3)
	}
	e := f.entity(ref)
	e.loaded = true
	if len(parts) > 0 && e.label == "" {
		e.label = strings.Trim(strings.TrimSpace(parts[0]), "|` ")
	}
	if len(parts) == 3 {
		e.readCell(strings.TrimSpace(parts[2]))
	}
}

var cellPair = regexp.MustCompile(`^([a-z][a-z0-9_]*)\s*[:=]\s*(.*)$`)

// readCell reads a row's data: JSON, or "column: value" pairs.
func (e *entity) readCell(cell string) {
	if data := decodeObject(cell); data != nil {
		e.data = merge(e.data, data)
		return
	}
	e.text += cell + "\n"
	pairs := map[string]any{}
	for part := range strings.SplitSeq(strings.ReplaceAll(cell, "; ", ", "), ", ") {
		if m := cellPair.FindStringSubmatch(strings.TrimSpace(part)); m != nil {
			pairs[m[1]] = m[2]
		}
	}
	e.data = merge(e.data, pairs)
}

// readDisplay reads a row's display line.
func (f *facts) readDisplay(line, ref string) *entity {
	e := f.entity(ref)
	e.loaded = true
	if e.label == "" {
		e.label = displayLabel(line)
	}
	e.text += line + "\n"
	return e
}

var labelEnd = regexp.MustCompile(`\s+(?:\(|\[|@|→|\||—|[a-z_]+:\S)`)

// displayLabel is the name at the start of a display line: "Eggs (12 count)
// [fridge]" is Eggs. A line that begins with a date keeps its slot.
func displayLabel(line string) string {
	if isoDate.MatchString(line) && strings.HasPrefix(line, isoDate.FindString(line)) {
		label, _, _ := strings.Cut(line, " →")
		return strings.TrimSpace(label)
	}
	if loc := labelEnd.FindStringIndex(line); loc != nil && loc[0] > 0 {
		return strings.TrimSpace(line[:loc[0]])
	}
	return strings.TrimSpace(line)
}

func merge(into, from map[string]any) map[string]any {
	if into == nil {
		return from
	}
	maps.Copy(into, from)
	return into
}
