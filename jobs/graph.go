package jobs

import (
	"fmt"
	"slices"
	"strings"

	"alfred/db"
	"alfred/internal/crud"
	"alfred/internal/domain"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// A turn's limits, besides those of a step that prompts mention.
const (
	maxStepRepairs = 2 // failed decisions of a step after the first
	maxReplans     = 2
)

// move is what follows a decision: the graph's edge and what code adds to it.
type move struct {
	next string       // node of the next job
	ask  *question    // opened with this commit
	plan []nodes.Step // appended to the turn's steps
	left []nodes.Step // also appended, as not done
	end  *ending      // of the current step; nil: it continues
	skip bool         // skip the steps that have not ended
	keep []int32      // exceptions to skip: steps that need nothing from what failed
	// coded: code probably makes the next decision.
	coded bool
}

// ending is how a step ends.
type ending struct {
	outcome db.StepOutcome
	summary string
	// Conclusions and note are the model's; "" for none.
	conclusions string
	note        string
}

// understood is what the edge after Understand depends on besides its output.
type understood struct {
	refs nodes.Refs
	// approved is the plan of a message that approves something: to carry it out, then what was to follow. Empty for others.
	approved []nodes.Step
	unsaid   []nodes.Step // what the plan would write beside that, of which the message says nothing
	quick    *nodes.Step  // the only step of a message that needs no plan, else nil
}

func afterUnderstand(out *nodes.UnderstandOutput, in understood) move {
	switch {
	case out.Disambiguation != nil:
		return move{next: vocab.NodeReply, ask: disambiguation(out.Disambiguation, in.refs), coded: true}
	case out.Clarification != nil:
		return move{next: vocab.NodeReply, ask: asking(vocab.AskClarify, strings.Join(out.Clarification.Questions, " ")), coded: true}
	case len(in.approved) > 0:
		return move{next: vocab.NodeAct, coded: true, plan: in.approved, left: in.unsaid}
	case in.quick != nil:
		return move{next: vocab.NodeAct, coded: len(in.quick.Calls) > 0, plan: []nodes.Step{*in.quick}}
	default:
		return move{next: vocab.NodeThink}
	}
}

// thought is what the edge after Think depends on besides its output.
type thought struct {
	said     bool // a reply came with the plan
	refs     nodes.Refs
	mentions []nodes.Mention
	domain   *domain.Domain
}

// afterThink is the edge after Think. A plan writes only where it may: any other has become a proposal in package nodes.
func afterThink(out *nodes.ThinkOutput, in thought) move {
	switch {
	case out.Decision == "propose":
		return move{next: vocab.NodeReply, ask: proposing(out.Proposal, offers(out.Steps)), skip: true, coded: true}
	case out.Decision == "clarify":
		return move{next: vocab.NodeReply, ask: asking(vocab.AskClarify, strings.Join(out.Questions, " ")), skip: true, coded: true}
	case len(out.Steps) == 0:
		return move{next: vocab.NodeReply, skip: true, coded: in.said}
	default:
		plan := withReads(bottomUp(out.Steps, in.domain), in)

		return move{next: vocab.NodeAct, plan: plan, left: out.Left, skip: true, coded: len(plan[0].Calls) > 0}
	}
}

// offers are the writes of a plan that waits for consent.
func offers(steps []nodes.Step) []nodes.Offer {
	var list []nodes.Offer
	for _, s := range steps {
		if s.Type == vocab.StepWrite {
			list = append(list, nodes.Offer{Description: s.Description, Refs: append([]string{}, s.Refs...)})
		}
	}

	return list
}

// acted is what the edge after Act depends on besides its output: what the step did before this decision, and what the
// turn may still spend.
type acted struct {
	stepType    string
	description string
	refs        []string // of the step
	calls       int      // decisions of this step that called tools
	failures    int      // how many of them failed
	failing     bool     // whether the last of them failed
	requests    int      // schema requests of this step
	rows        int      // rows that its calls found, wrote or drafted
	done        []string // what succeeded, for a summary by code
	refused     []string // what was refused though it was understood, likewise
	leftOut     []string // new rows that it tried to create and did not
	later       []later  // the steps after this one
	replans     int
	repeats     bool // the decision only repeats reads of this step
	quick       bool
	ready       bool // the decision's calls came with an earlier answer
	asked       bool // an earlier step has asked the user something
	said        bool // a reply came with those calls, or words with these drafts
}

// later is a step that has not begun.
type later struct {
	step  int32
	ready bool // its calls came with an earlier answer
	looks bool // reads or counts
	waits bool // is meant to follow what this step, or one that waits with it, does
	needs bool // cannot do without what this step, or one that is skipped with it, would have done
}

// beforeAct ends the step instead of executing the decision if a limit is reached; otherwise it returns nil.
func beforeAct(out *nodes.ActOutput, in acted) *move {
	var why string
	switch {
	case len(out.Calls) > 0 && in.calls >= vocab.MaxStepCalls:
		why = fmt.Sprintf("Stopped after %d calls.", vocab.MaxStepCalls)
	case len(out.Calls) > 0 && in.repeats:
		why = "Stopped, because the same read was asked for again."
	case out.RequestSchema != nil && in.requests >= vocab.MaxSchemaRequests:
		why = "Stopped after too many requests for table descriptions."
	default:
		return nil
	}

	return new(in.afterStop(why))
}

// afterAct is the edge after an executed decision; outcome is empty if it called no tool.
func afterAct(out *nodes.ActOutput, outcome *crud.Outcome, in acted) move {
	switch {
	case outcome.Approval != nil:
		return in.afterQuestion(approving(outcome.Approval), &ending{outcome: db.StepOutcomePartial, summary: "Not done yet: this has to be approved first."})
	case in.asked && outcome.Failed():
		return in.afterStop("Stopped, because it failed: " + firstError(outcome))
	case in.asked && (out.AskUser != nil || out.Blocked != nil):
		return in.afterStop("Stopped, because the user is asked something else first.")
	case outcome.Failed() && in.failures >= maxStepRepairs:
		return in.afterStop("Stopped, because it kept failing: " + firstError(outcome))
	case outcome.Failed():
		return move{next: vocab.NodeAct}
	case out.AskUser != nil:
		return in.afterQuestion(askedBy(out.AskUser, in), &ending{outcome: db.StepOutcomePartial, summary: "Waits for an answer of the user."})
	case out.Blocked != nil:
		return afterBlocked(out.Blocked, in)
	case in.calls == 0 && outcome.MayHaveMissed(): // nothing is not told as an answer before a model has read why
		return move{next: vocab.NodeAct}
	case out.StepComplete != nil:
		return in.afterComplete(out.StepComplete, outcome)
	case (in.quick || in.ready || out.Words != "") && len(out.Calls) > 0:
		return in.afterComplete(&nodes.StepComplete{Summary: outcome.Summary()}, outcome)
	default:
		return move{next: vocab.NodeAct}
	}
}

// afterApproved is the edge after code carried out what the user approved. What waited for it follows.
func afterApproved(outcome *crud.Outcome, in acted) move {
	switch {
	case outcome.Approval != nil: // it would no longer do what was shown
		return afterAct(&nodes.ActOutput{}, outcome, in)
	case outcome.Failed():
		return in.afterStep(&ending{outcome: db.StepOutcomeFailed, summary: "Nothing was changed: " + firstError(outcome)})
	case rowsOf(vocab.StepWrite, outcome) == 0:
		return in.afterStep(&ending{outcome: db.StepOutcomeEmpty, summary: outcome.Summary()})
	default:
		return in.afterStep(&ending{outcome: db.StepOutcomeOk, summary: outcome.Summary()})
	}
}

// afterQuestion ends the step with a question. Later steps that only look, and whose calls are known and need nothing from
// this step, are carried out before it is asked: who says no would lose what they asked beside it. They wait for a write that
// an answer may still let happen, not for one that failed.
func (in acted) afterQuestion(ask *question, end *ending) move {
	m := move{next: vocab.NodeReply, skip: true, ask: ask, end: end}
	for _, s := range in.later {
		if s.ready && s.looks && !s.needs && (!s.waits || end.outcome == db.StepOutcomeFailed) {
			m.next, m.coded, m.keep = vocab.NodeAct, true, append(m.keep, s.step)
		}
	}

	return m
}

// afterBlocked ends a step that its model cannot do. A turn that was planned anew too often only replies.
func afterBlocked(b *nodes.Blocked, in acted) move {
	end := &ending{outcome: db.StepOutcomeFailed, summary: b.Details}
	switch {
	case b.Details == nodes.NoDecision:
		return in.afterStop(b.Details)
	case b.Next == "ask_user":
		return in.afterQuestion(askedBy(&nodes.AskUser{Question: b.Details}, in), end)
	case b.Next == "fail":
		return in.afterStep(end)
	case in.replans < maxReplans:
		return move{next: vocab.NodeThink, skip: true, end: end}
	default:
		return move{next: vocab.NodeReply, skip: true, end: end}
	}
}

// afterComplete ends the step as its model says, as far as the calls confirm it.
func (in acted) afterComplete(c *nodes.StepComplete, outcome *crud.Outcome) move {
	end := &ending{outcome: db.StepOutcomeOk, summary: c.Summary, conclusions: c.Conclusions, note: c.Note}
	rows := in.rows + rowsOf(in.stepType, outcome)
	executed := len(outcome.Results) > 0
	switch {
	case !executed && in.failing && rows > 0:
		end.outcome, end.summary = db.StepOutcomePartial, in.stopSummary("The last call failed and was not repeated.")
	case !executed && in.failing:
		end.outcome, end.summary = db.StepOutcomeFailed, in.stopSummary("The calls failed.")
	case rows == 0 && in.stepType == vocab.StepWrite: // a model's words must not accompany a write that did not happen
		end = &ending{outcome: db.StepOutcomeEmpty, summary: strings.TrimSpace("Nothing was saved, changed or deleted. " + in.written(outcome))}
	case rows == 0 && in.stepType != vocab.StepAnalyze:
		end.outcome = db.StepOutcomeEmpty
	case in.stepType == vocab.StepWrite: // they may claim more than was written
		end.summary = in.written(outcome)
		if left := in.notNamedIn(in.did(outcome)); len(left) > 0 {
			end.outcome, end.summary = db.StepOutcomePartial, end.summary+" Left out: "+strings.Join(left, ", ")+"."
		}
	}

	return in.afterStep(end)
}

// written says what a step's calls did, and what they were refused: that may have been mended since, or left out.
func (in acted) written(outcome *crud.Outcome) string {
	if len(in.refused) == 0 {
		return in.did(outcome)
	}

	return in.did(outcome) + " An earlier attempt was refused: " + strings.Join(in.refused, " ")
}

// did says what a step's calls did.
func (in acted) did(outcome *crud.Outcome) string {
	all := &crud.Outcome{}
	for _, told := range in.done {
		all.Results = append(all.Results, crud.Result{Told: told})
	}
	all.Results = append(all.Results, outcome.Results...)

	return all.Summary()
}

// afterStop ends the step by code. It never counts as success.
func (in acted) afterStop(why string) move {
	end := &ending{outcome: db.StepOutcomePartial, summary: in.stopSummary(why)}
	if len(in.done) == 0 {
		end.outcome = db.StepOutcomeFailed
	}

	return in.afterStep(end)
}

// afterStep continues with the next step. Steps that need a failed step or a half-finished write are skipped: they were
// planned for its success.
func (in acted) afterStep(end *ending) move {
	dropped := end.outcome == db.StepOutcomeFailed || end.outcome == db.StepOutcomePartial && in.stepType == vocab.StepWrite
	m := move{next: vocab.NodeReply, end: end, skip: dropped, coded: in.quick || in.said}
	for _, s := range in.later {
		if dropped && s.needs {
			continue
		}
		if m.next != vocab.NodeAct {
			m.next, m.coded = vocab.NodeAct, s.ready
		}
		if dropped {
			m.keep = append(m.keep, s.step)
		}
	}

	return m
}

// stopSummary says why a step stopped and what it did. What it was to do stands beside it.
func (in acted) stopSummary(why string) string {
	if len(in.refused) > 0 && !strings.Contains(why, in.refused[len(in.refused)-1]) {
		why += " It was refused: " + strings.Join(slices.Compact(in.refused), " ")
	}
	if len(in.done) == 0 {
		return why + " Nothing of it is done."
	}

	return fmt.Sprintf("%s Done: %s. The rest is left.", why, strings.Join(in.done, ", "))
}

func firstError(outcome *crud.Outcome) string {
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
		rows += rowsCounted(stepType, outcome.Results[i].Tool, outcome.Results[i].RowCount)
	}

	return rows
}

func rowsCounted(stepType, tool string, rows int) int {
	switch {
	case stepType == vocab.StepWrite && slices.Contains([]string{vocab.ToolRead, vocab.ToolRecall, vocab.ToolCalculate}, tool):
		return 0
	case tool == vocab.ToolCalculate:
		return 1
	default:
		return rows
	}
}
