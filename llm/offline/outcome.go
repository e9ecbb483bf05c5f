package offline

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// outcome is what Reply is told of a turn.
type outcome struct {
	steps     []stepOutcome
	groups    []group  // rows by what was done to them
	none      []string // what to say of reads without rows
	blocked   string   // why a step gave up
	unsaved   []string // names of drafts that wait to be saved
	discarded []string // names of drafts that were dropped
	drafts    []draftText
	wrote     bool // rows were saved, changed or deleted
	question  string
	computed  []map[string]any // totals, and what was recalled
}

type stepOutcome struct {
	kind, result, summary, conclusions string
}

// group is rows that one call had to do with.
type group struct {
	deed string // Found, Saved, Changed, Deleted
	of   string // "12 inventory items"
	rows []string
}

// draftText is a draft in full.
type draftText struct {
	label   string
	content map[string]any
}

var (
	stepLine      = regexp.MustCompile(`^- (.*) \((read|write|analyze|generate)\): (ok|partial|empty|failed|skipped|open)(?:\. (.*))?$`)
	groupLine     = regexp.MustCompile(`^(Found|Saved|Changed|Deleted) ([^:]*\S):$`)
	noneLine      = regexp.MustCompile(`^(Found|Saved|Changed|Deleted): (.*)$`)
	deedLine      = regexp.MustCompile(`^(Saved|Changed|Deleted) in this turn: (.*)$`)
	unsavedLine   = regexp.MustCompile(`^Not saved \(drafts\): (.*)$`)
	discardLine   = regexp.MustCompile(`^Discarded drafts: (.*)$`)
	draftLine     = regexp.MustCompile(`^Draft of (.*), not saved`)
	conclusionsAt = regexp.MustCompile(`^\s*Conclusions: (.*)$`)
	factLine      = regexp.MustCompile(`^(?:Request|Goal|Outcome|Blocked|Computed|Nothing was saved)\b`)
	typeNote      = regexp.MustCompile(` \([^()]*\)$`)
)

// readOutcome reads the execution results and the question to ask.
func (f *facts) readOutcome() *outcome {
	o := &outcome{question: f.toAsk}
	at := "" // what the lines being read belong to
	for line := range strings.SplitSeq(f.body("Execution Results"), "\n") {
		at = o.readLine(line, at)
	}
	return o
}

func (o *outcome) readLine(line, at string) string {
	switch {
	case stepLine.MatchString(line):
		m := stepLine.FindStringSubmatch(line)
		o.steps = append(o.steps, stepOutcome{kind: m[2], result: m[3], summary: m[4]})
		return "step"
	case conclusionsAt.MatchString(line) && len(o.steps) > 0:
		o.steps[len(o.steps)-1].conclusions = conclusionsAt.FindStringSubmatch(line)[1]
		return "conclusions"
	case groupLine.MatchString(line):
		m := groupLine.FindStringSubmatch(line)
		o.groups = append(o.groups, group{deed: m[1], of: m[2]})
		return "rows"
	case deedLine.MatchString(line):
		o.wrote = true
		return ""
	case noneLine.MatchString(line):
		o.none = append(o.none, noneLine.FindStringSubmatch(line)[2])
		return ""
	}
	return o.readStatus(line, at)
}

func (o *outcome) readStatus(line, at string) string {
	switch {
	case unsavedLine.MatchString(line):
		for part := range strings.SplitSeq(unsavedLine.FindStringSubmatch(line)[1], "), ") {
			o.unsaved = append(o.unsaved, typeNote.ReplaceAllString(strings.TrimSuffix(part, ")")+")", ""))
		}
	case discardLine.MatchString(line):
		o.discarded = strings.Split(discardLine.FindStringSubmatch(line)[1], ", ")
	case draftLine.MatchString(line):
		o.drafts = append(o.drafts, draftText{label: draftLine.FindStringSubmatch(line)[1]})
		return "draft"
	case strings.HasPrefix(line, "Computed: "):
		var rows []map[string]any
		if json.NewDecoder(strings.NewReader(strings.TrimPrefix(line, "Computed: "))).Decode(&rows) == nil {
			o.computed = append(o.computed, rows...)
		}
	case strings.HasPrefix(line, "Blocked: "):
		_, o.blocked, _ = strings.Cut(strings.TrimPrefix(line, "Blocked: "), ": ")
	case factLine.MatchString(line):
	default:
		return o.readBelow(line, at)
	}
	return ""
}

// readBelow adds a line to what it stands below.
func (o *outcome) readBelow(line, at string) string {
	switch {
	case strings.TrimSpace(line) == "":
	case at == "draft" && strings.HasPrefix(line, "{"):
		o.drafts[len(o.drafts)-1].content = decodeObject(line)
	case at == "conclusions":
		last := &o.steps[len(o.steps)-1]
		last.conclusions += "\n" + strings.TrimPrefix(line, "  ")
	case at == "rows":
		g := &o.groups[len(o.groups)-1]
		if row, ok := strings.CutPrefix(line, "- "); ok {
			g.rows = append(g.rows, row)
		} else if len(g.rows) > 0 {
			g.rows[len(g.rows)-1] += "\n" + line
		}
	}
	return at
}

// did reports whether a step of a type ended well.
func (o *outcome) did(kind string) bool {
	return slices.ContainsFunc(o.steps, func(s stepOutcome) bool { return s.kind == kind && (s.result == "ok" || s.result == "empty") })
}

// idle reports whether the turn had nothing to do with rows.
func (o *outcome) idle() bool {
	return len(o.steps) == 0 && len(o.groups) == 0 && len(o.none) == 0
}
