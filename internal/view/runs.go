package view

import (
	"encoding/json"
	"fmt"
	"slices"

	"alfred/db"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// Run is one decision of the turn with its decoded output.
type Run struct {
	*db.NodeRunListMadeRow

	Understood *nodes.UnderstandOutput `json:"-"` // of Understand, else nil
	Acted      *Acted                  `json:"-"` // of Act, else nil
}

// Acted is a stored decision of Act: its output and the results of its calls.
type Acted struct {
	nodes.ActOutput
	Results []CallResult `json:"results,omitempty"`
	Undo    string       `json:"undo,omitempty"`    // what the user is told about undoing it
	Company string       `json:"company,omitempty"` // what the user is told of rows that were deleted with others
}

// Failed reports whether one of the calls failed.
func (a *Acted) Failed() bool {
	return slices.ContainsFunc(a.Results, func(r CallResult) bool { return r.ErrorCode != "" })
}

// CallResult is what one call did.
type CallResult struct {
	Tool       string `json:"tool"`
	EntityType string `json:"entity_type,omitempty"`
	RowCount   int    `json:"row_count"`
	Told       string `json:"told,omitempty"` // what it did, in words
	ErrorCode  string `json:"error_code,omitempty"`
	Error      string `json:"error,omitempty"`
}

func newRun(row *db.NodeRunListMadeRow) (*Run, error) {
	run := &Run{NodeRunListMadeRow: row}
	var err error
	switch row.Node {
	case vocab.NodeUnderstand:
		err = json.Unmarshal(row.Output, &run.Understood)
	case vocab.NodeAct:
		err = json.Unmarshal(row.Output, &run.Acted)
	}
	if err != nil {
		return nil, fmt.Errorf("read the output of %s: %w", row.Node, err)
	}

	return run, nil
}

// LastRun is the turn's last decision, nil before the first.
func (v *View) LastRun() *Run {
	if len(v.Runs) == 0 {
		return nil
	}

	return v.Runs[len(v.Runs)-1]
}

// Understood is what Understand made of the message, zero before it ran.
func (v *View) Understood() nodes.UnderstandOutput {
	if len(v.Runs) == 0 || v.Runs[0].Understood == nil {
		return nodes.UnderstandOutput{}
	}

	return *v.Runs[0].Understood
}

// ActsOf returns the decisions of Act about a step, oldest first.
func (v *View) ActsOf(step int32) []*Acted {
	var acted []*Acted
	for _, run := range v.Runs {
		if run.Acted != nil && Is(run.Step, step) {
			acted = append(acted, run.Acted)
		}
	}

	return acted
}

// WaitingPlan returns the plan that came with Understand's answer, until it is followed or superseded; nil if there is
// none.
func (v *View) WaitingPlan() *nodes.ThinkOutput {
	if last := v.LastRun(); last != nil && last.Understood != nil {
		return last.Understood.Think
	}

	return nil
}

// Continues returns the model call that the next decision of act goes on from: the last decision's, if the step goes
// on. It is nil if no conversation can be continued.
func (v *View) Continues() *nodes.Round {
	if v.roundOf() == nil {
		return nil
	}

	return v.Round
}

// roundOf is the last decision if the step being worked on goes on from it, and a model call is recorded for it.
func (v *View) roundOf() *Run {
	step, last := v.Step(), v.LastRun()
	if step == nil || last == nil || last.Acted == nil || !Is(last.Step, step.Step) || last.LlmCallID == nil {
		return nil
	}

	return last
}

// DecisionsOf counts the decisions a node has made in this turn.
func (v *View) DecisionsOf(node string) int {
	n := 0
	for _, run := range v.Runs {
		if run.Node == node {
			n++
		}
	}

	return n
}
