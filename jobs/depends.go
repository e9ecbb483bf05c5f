package jobs

import (
	"slices"

	"alfred/db"
	"alfred/domain"
)

// depends reports whether a step needs an earlier one's result and must not run if that one failed: it concerns the
// same rows, uses what the other loads or drafts, or reads or writes where the other was to write.
func (r *Runner) depends(earlier, step *db.TurnSteps) bool {
	if slices.ContainsFunc(step.Refs, func(ref string) bool { return slices.Contains(earlier.Refs, ref) }) {
		return true
	}
	related := r.related(earlier.Subdomain, step.Subdomain)
	switch step.StepType {
	case db.StepTypeRead:
		return related && earlier.StepType == db.StepTypeWrite // planned in order to show what was written
	case db.StepTypeWrite:
		return related || earlier.StepType == db.StepTypeAnalyze || earlier.StepType == db.StepTypeGenerate
	default:
		return related || earlier.StepType != db.StepTypeWrite
	}
}

// related reports whether two subdomains are the same, or rows of one reference rows of the other.
func (r *Runner) related(a, b string) bool {
	first, second := r.Domain.Subdomain(a), r.Domain.Subdomain(b)
	if a == b || first == nil || second == nil {
		return true
	}

	return r.points(first, second) || r.points(second, first)
}

func (r *Runner) points(from, to *domain.Subdomain) bool {
	for _, table := range from.Tables {
		e := r.Domain.ByTable(table)
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
