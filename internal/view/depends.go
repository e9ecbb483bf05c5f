package view

import (
	"slices"
	"strings"

	"alfred/db"
	"alfred/internal/domain"
	"alfred/nodes"
)

// FallsWith reports whether a step must not run if an earlier one failed. What only looks shows what is there, written or
// not, unless it names a draft that was to be saved.
func (v *View) FallsWith(earlier, step *db.TurnSteps) bool {
	if earlier.StepType == db.StepTypeWrite && IsReadOnly(step) {
		return slices.ContainsFunc(step.Refs, func(ref string) bool {
			return strings.HasPrefix(ref, "gen_") && slices.Contains(earlier.Refs, ref)
		})
	}

	return v.DependsOn(earlier, step)
}

// IsReadOnly reports whether a step only reads or counts.
func IsReadOnly(step *db.TurnSteps) bool {
	return step.StepType == db.StepTypeRead || step.StepType == db.StepTypeAnalyze
}

// DependsOn reports whether a step is meant to follow an earlier one: it concerns the same rows, uses what the other loads or
// drafts, or reads or writes where the other was to write.
func (v *View) DependsOn(earlier, step *db.TurnSteps) bool {
	if earlier.StepType == db.StepTypeWrite && earlier.Subdomain == nodes.NoSubdomain { // an undo: what is asked beside it has an answer without it
		return step.StepType == db.StepTypeWrite || step.StepType == db.StepTypeGenerate
	}
	if slices.ContainsFunc(step.Refs, func(ref string) bool { return slices.Contains(earlier.Refs, ref) }) {
		return true
	}
	related := v.related(earlier.Subdomain, step.Subdomain)
	switch step.StepType {
	case db.StepTypeRead:
		return related && earlier.StepType == db.StepTypeWrite // planned in order to show what was written
	case db.StepTypeWrite:
		return related || earlier.StepType == db.StepTypeAnalyze || earlier.StepType == db.StepTypeGenerate
	default:
		return related || earlier.StepType != db.StepTypeWrite
	}
}

// StepsBeside returns the later steps whose calls a decision of this step may also contain: they need nothing from this step
// or from unfinished steps in between, and nobody has written out their calls. A step that analyzes has to see what its
// calls return.
func (v *View) StepsBeside(step *db.TurnSteps) []*db.TurnSteps {
	if step.StepType == db.StepTypeAnalyze {
		return nil
	}
	var beside []*db.TurnSteps
	open := []*db.TurnSteps{step}
	for _, later := range v.Steps {
		if later.Step <= step.Step || later.Outcome != nil {
			continue
		}
		needs := slices.ContainsFunc(open, func(earlier *db.TurnSteps) bool { return v.DependsOn(earlier, later) })
		if open = append(open, later); !needs && len(later.Calls) == 0 && later.StepType != db.StepTypeAnalyze {
			beside = append(beside, later)
		}
	}

	return beside
}

// related reports whether two subdomains are the same, or rows of one reference rows of the other.
func (v *View) related(a, b string) bool {
	first, second := v.Domain.Subdomain(a), v.Domain.Subdomain(b)
	if a == b || first == nil || second == nil {
		return true
	}

	return v.points(first, second) || v.points(second, first)
}

func (v *View) points(from, to *domain.Subdomain) bool {
	for _, table := range from.Tables {
		e := v.Domain.ByTable(table)
		if e == nil {
			continue
		}
		for _, c := range e.Columns {
			if c.FK != nil && c.FK.Entity != nil && !c.FK.Entity.Reference && slices.Contains(to.Tables, c.FK.Entity.Table) {
				return true
			}
		}
	}

	return false
}
