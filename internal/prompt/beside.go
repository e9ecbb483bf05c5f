package prompt

import (
	"slices"
	"strconv"
	"strings"

	"alfred/db"
	"alfred/internal/clean"
	"alfred/internal/say"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// workBeside adds later steps to those that are worked on, if no other of these has the same tables, so that calls show
// which step they are for.
func (t *page) workBeside() {
	taken := t.own(t.Domain.Subdomain(t.step.Subdomain))
	for _, step := range t.Beside(t.step) {
		tables := t.own(t.Domain.Subdomain(step.Subdomain))
		if slices.ContainsFunc(tables, func(table string) bool { return slices.Contains(taken, table) }) {
			continue
		}
		taken, t.steps = append(taken, tables...), append(t.steps, step)
		t.others = append(t.others, nodes.BesideStep{Number: int(step.Step), Type: string(step.StepType), Tables: tables, EntityTypes: t.draftsBeside(step, tables)})
	}
}

// draftsBeside are the types that a step may draft on its own tables.
func (t *page) draftsBeside(step *db.TurnSteps, tables []string) []string {
	if step.StepType != db.StepTypeGenerate {
		return nil
	}

	return slices.DeleteFunc(t.draftable(step), func(kind string) bool {
		def := t.Domain.ByType(kind)

		return def == nil || !slices.Contains(tables, def.Table)
	})
}

// beside lists the steps whose calls the same answer may hold.
func (t *page) beside(s *section) {
	if len(t.others) == 0 {
		return
	}
	s.line("Steps beside this one need nothing of it. Write their calls in the same answer too: behind the `", vocab.ToolStepComplete, "` of this step, in this order, each ended by its own `",
		vocab.ToolStepComplete, "`. A step that has to look at something first, changes a draft, or waits for what your calls return, is left out; it is asked for later.")
	for i, step := range t.steps[1:] {
		position, _ := t.Place(step.Step)
		line := "- Step " + strconv.Itoa(position) + " (" + string(step.StepType) + ", " + clean.Inline(step.Subdomain, say.ShortLine) + "): " + clean.Inline(step.Description, 2*say.MaxFact)
		if refs := t.RefWords(step.Refs); refs != "" {
			line += " | Refs: " + refs
		}
		if types := t.others[i].EntityTypes; len(types) > 0 {
			s.line(line, " | Types to draft: ", strings.Join(types, ", "))
		} else {
			s.line(line, " | Tables: ", strings.Join(t.others[i].Tables, ", "))
		}
	}
}
