package jobs

import (
	"alfred/db"
	"alfred/internal/crud"
	"alfred/internal/vocab"
	"alfred/nodes"
)

func lastError(outcome *crud.Outcome) string {
	for i := range outcome.Results {
		if r := outcome.Results[i]; r.ErrorCode != "" && r.ErrorCode != crud.CodeNotExecuted {
			return r.ErrorMessage
		}
	}

	return "the calls were refused."
}

// rowsOf counts what a step's calls achieved. In a write step, reads do not count.
func rowsOf(stepType string, outcome *crud.Outcome) int {
	rows := 0
	for i := range outcome.Results {
		rows += weight(stepType, outcome.Results[i].Tool, outcome.Results[i].RowCount)
	}

	return rows
}

func weight(stepType, tool string, rows int) int {
	reading := tool == vocab.ToolRead || tool == vocab.ToolRecall
	switch {
	case tool == vocab.ToolCalculate:
		return 1
	case stepType == vocab.StepWrite && reading:
		return 0
	default:
		return rows
	}
}

// afterApproved is the edge after code carried out what the user approved.
func afterApproved(outcome *crud.Outcome) move {
	end := &ending{outcome: db.StepOutcomeOk, summary: outcome.Told()}
	if outcome.Approval != nil { // it would no longer do what was shown
		return afterAct(&nodes.ActOutput{}, outcome, acted{})
	}
	switch {
	case outcome.Failed():
		end.outcome, end.summary = db.StepOutcomeFailed, "Nothing was changed: "+lastError(outcome)
	case rowsOf(vocab.StepWrite, outcome) == 0:
		end.outcome = db.StepOutcomeEmpty
	}

	return move{next: vocab.NodeReply, end: end, skip: true}
}
