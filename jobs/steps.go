package jobs

import (
	"encoding/json"
	"fmt"
	"slices"

	"alfred/db"
	"alfred/nodes"
)

// newStep is a step of the plan that DecisionKeep stores.
type newStep struct {
	Step        int             `json:"step"`
	StepType    string          `json:"step_type"`
	Subdomain   string          `json:"subdomain"`
	Description string          `json:"description"`
	Refs        []string        `json:"refs"`
	Needs       string          `json:"needs"`
	Calls       []nodes.Call    `json:"calls,omitempty"`
	Outcome     *db.StepOutcome `json:"outcome,omitempty"`
	Summary     string          `json:"summary,omitempty"`
}

// steps are the turn's steps as the commit leaves them. What the commit writes to their rows is also written here, so
// that the next decision need not read them.
func (c *commit) steps() []*db.TurnSteps {
	if c.changed.Steps == nil {
		for _, step := range c.s.Steps {
			copied := *step
			c.changed.Steps = append(c.changed.Steps, &copied)
		}
	}

	return c.changed.Steps
}

// step is the step that the decision works on.
func (c *commit) step() *db.TurnSteps { return c.stepAt(c.at.Step) }

func (c *commit) stepAt(number int) *db.TurnSteps {
	steps := c.steps()

	return steps[slices.IndexFunc(steps, func(s *db.TurnSteps) bool { return int(s.Step) == number })]
}

// skipSteps repeats TurnStepSkipRest in memory.
func (c *commit) skipSteps(keep []int32) {
	skipped := db.StepOutcomeSkipped
	for _, step := range c.steps() {
		if step.Outcome == nil && !slices.Contains(keep, step.Step) {
			step.Outcome = &skipped
		}
	}
}

// addSteps adds the plan that DecisionKeep stores.
func (c *commit) addSteps(encoded json.RawMessage) error {
	var rows []struct {
		newStep

		Calls   json.RawMessage `json:"calls"`
		Summary *string         `json:"summary"`
	}
	if err := json.Unmarshal(encoded, &rows); err != nil {
		return fmt.Errorf("read the plan: %w", err)
	}
	c.changed.Steps = c.steps()
	for i := range rows {
		row := &rows[i]
		c.changed.Steps = append(c.changed.Steps, &db.TurnSteps{
			TurnID: c.s.d.TurnID, UserID: c.s.Turn.UserID, Step: int32(row.Step), StepType: db.StepType(row.StepType), Subdomain: row.Subdomain,
			Description: row.Description, Refs: row.Refs, Needs: row.Needs, Calls: row.Calls, SchemaTables: []string{}, Outcome: row.Outcome, Summary: row.Summary,
		})
	}

	return nil
}
