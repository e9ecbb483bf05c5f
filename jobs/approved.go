package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"alfred/db"
	"alfred/internal/crud"
	"alfred/internal/domain"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// A question for approval holds the calls that a yes lets code carry out, and the steps that wait for the answer. A turn
// that answers yes makes these calls, then does what has waited, then what its message asks for besides.

// carriesOutApproved reports whether this turn carries out what its message has approved.
func (s *state) carriesOutApproved() bool {
	return len(s.Steps) > 0 && s.approves()
}

// approves reports whether the turn's message says yes to a question for approval.
func (s *state) approves() bool {
	return s.answered != nil && s.answered.kind == vocab.AskApprove && s.Understood().Intent == "confirm"
}

// approvedIn returns the approved calls that a step makes: those of the turn's first one. The others have waited for it.
func (s *state) approvedIn(step *db.TurnSteps) []crud.ApprovedCall {
	if !s.carriesOutApproved() || step != s.Steps[0] {
		return nil
	}

	return s.answered.Calls
}

// runApproved runs exactly the calls that the user approved.
func runApproved(ctx context.Context, c *commit) (move, error) {
	outcome, err := c.s.runner.Tools.ExecuteApproved(ctx, c.tx, c.s.scope(c.at), c.s.answered.Calls)
	if err != nil {
		return move{}, err
	}
	c.remember(&nodes.ActOutput{}, &outcome)

	return afterApproved(&outcome, c.s.acted(&nodes.ActOutput{})), nil
}

// keepWaiting keeps with a question for approval the steps that wait for the answer: all that are neither ended nor among
// those done before it is asked. It also keeps the versions of the rows that their calls change.
func (s *state) keepWaiting(asked *question, done []int32) error {
	if asked.kind != vocab.AskApprove {
		return nil
	}
	asked.Seen = map[string]string{}
	for _, step := range s.Steps {
		if step.Outcome != nil || step.Step <= s.Step().Step || slices.Contains(done, step.Step) {
			continue
		}
		waits, err := asPlanned(step)
		if err != nil {
			return err
		}
		for _, ref := range s.rowsChangedIn(waits) {
			if version := s.rowVersion(ref); version != "" {
				asked.Seen[ref] = version
			}
		}
		asked.Rest = append(asked.Rest, *waits)
	}

	return nil
}

// asPlanned is a stored step as a plan has it.
func asPlanned(step *db.TurnSteps) (*nodes.Step, error) {
	planned := &nodes.Step{Type: string(step.StepType), Subdomain: step.Subdomain, Description: step.Description, Refs: step.Refs, Needs: step.Needs}
	if len(step.Calls) > 0 {
		if err := json.Unmarshal(step.Calls, &planned.Calls); err != nil {
			return nil, fmt.Errorf("read the calls of a step: %w", err)
		}
	}

	return planned, nil
}

// rowVersion is the version in which the conversation last saw a row, "" if it has seen none.
func (s *state) rowVersion(ref string) string {
	if e := s.Scene(true).ByRef[ref]; e != nil && e.RowVersion != nil {
		return *e.RowVersion
	}

	return ""
}

// yes is a message that says yes to a question for approval.
type yes struct {
	s        *state
	asked    *question
	mentions []nodes.Mention
	in       *nodes.ThinkInput  // what plan was made from
	plan     *nodes.ThinkOutput // for all that the message wants, nil for none
	unsaid   []nodes.Step       // what the plan would write beside the yes, of which the message says nothing
}

// saysMore reports whether there may be more in the message than the yes to a question. Some scripts set no spaces, but a yes alone is
// as short in them.
func (s *state) saysMore(asked *question) bool {
	words := wordsIn(s.Turn.Message)

	return asked.chosen == "" && (len(words) > 1 || len(words) == 1 && len([]rune(words[0])) > 2 && strings.ContainsFunc(words[0], domain.IsUnspaced))
}

// steps are those of the turn.
func (y *yes) steps() []nodes.Step {
	carryOut := nodes.Step{
		Type: vocab.StepWrite, Subdomain: y.s.runner.approvedSubdomain(y.asked.Calls), Description: "Do what the user has approved: " + y.asked.textForModels(), Needs: "refs",
	}
	waited := y.s.waitingSteps(y.asked)

	return slices.Concat([]nodes.Step{carryOut}, waited, y.stepsBeside(waited))
}

// approvedSubdomain is the subdomain of the first approved call.
func (r *Runner) approvedSubdomain(calls []crud.ApprovedCall) string {
	if len(calls) == 0 {
		return nodes.NoSubdomain
	}
	_, subdomain := r.placeOf(calls[0].EntityType)

	return cmp.Or(subdomain, nodes.NoSubdomain)
}

// waitingSteps returns the steps that a question kept. The calls of one are decided anew if a row that they change has
// been written or read since: their planner has not seen it as it is now.
func (s *state) waitingSteps(asked *question) []nodes.Step {
	for i := range asked.Rest {
		step := &asked.Rest[i]
		if slices.ContainsFunc(s.rowsChangedIn(step), func(ref string) bool {
			version := s.rowVersion(ref)

			return version == "" || version != asked.Seen[ref]
		}) {
			step.Calls = nil
		}
	}

	return asked.Rest
}

// stepsBeside returns the steps for what a message wants beside its yes: "and add milk", "and how many are left?". What
// the plan looks up before a write that was approved only serves that write, so it is left out too.
func (y *yes) stepsBeside(waited []nodes.Step) []nodes.Step {
	if y.plan == nil || y.in == nil {
		return nil
	}
	plan := *y.plan
	plan.Steps = nil
	for _, step := range y.plan.Steps {
		switch {
		case step.Type == vocab.StepWrite:
			more := y.notApproved(step, waited)
			if len(more.Calls) == 0 || len(more.Calls) < len(step.Calls) {
				plan.Steps = slices.DeleteFunc(plan.Steps, func(s nodes.Step) bool { return s.Type != vocab.StepWrite })
			}
			if len(more.Calls) > 0 && !undecidedIn(waited, step) {
				plan.Steps = append(plan.Steps, more)
			}
		case step.Type != vocab.StepGenerate && !callsWaited(waited, step):
			plan.Steps = append(plan.Steps, step)
		}
	}
	in := *y.in
	in.Permission = permit("confirm", y.asked)
	ready, _ := in.Ready(&plan)
	if ready == nil || ready.Decision != "plan" {
		return nil
	}

	return withReads(ready.Steps, thought{refs: in.Refs, domain: y.s.Domain})
}

// notApproved leaves a planned write only the calls that were neither approved nor have waited. Those of which the message says
// nothing are left undone and told.
func (y *yes) notApproved(step nodes.Step, waited []nodes.Step) nodes.Step {
	planned, calls := step.Calls, step.ReadyCalls()
	step.Calls = nil
	var have []vocab.Call
	for _, w := range waited {
		have = append(have, w.ReadyCalls()...)
	}
	var words []string
	for i, call := range calls {
		said := nodes.InWords(call, y.s.runner.pluralOf(call))
		switch {
		case y.s.repeatsApproved(call, y.asked) || slices.ContainsFunc(have, func(w vocab.Call) bool { return y.s.mayRepeat(call, w) }):
		case y.isMentioned(call):
			step.Calls, words = append(step.Calls, planned[i]), append(words, said)
		case !undecidedIn(waited, step):
			y.unsaid = append(y.unsaid, nodes.Step{Type: step.Type, Subdomain: step.Subdomain, Description: said, Needs: "refs", Undone: "the message does not say so plainly"})
		}
	}
	if len(calls) == 0 && !y.s.mayBeApproved(step, y.asked) && !undecidedIn(waited, step) {
		y.unsaid = append(y.unsaid, nodes.Step{Type: step.Type, Subdomain: step.Subdomain, Description: step.Description, Needs: "refs", Undone: "it has to be asked for without the yes"})
	}
	if len(step.Calls) < len(planned) {
		step.Description = strings.Join(words, "; ")
	}

	return step
}

// repeatsApproved reports whether a planned call may be one that the user was asked about. The question has the names of its rows: a
// call for rows of other names is another wish.
func (s *state) repeatsApproved(call vocab.Call, asked *question) bool {
	text := strings.ToLower(asked.Text)
	for _, names := range s.namesOfRows(call) {
		if !slices.ContainsFunc(names, func(name string) bool { return strings.Contains(text, strings.ToLower(name)) }) {
			return false
		}
	}

	return slices.ContainsFunc(asked.Calls, func(c crud.ApprovedCall) bool { return s.mayRepeat(call, c.Call) })
}

// setsOtherwise reports whether the plan beside a yes sets what the user was asked about to another value: "yes, but make it 5" is no
// plain yes, whatever a model makes of it. A click is one.
func (u *understand) setsOtherwise(asked *question) bool {
	if asked.chosen != "" || u.out.Think == nil {
		return false
	}

	return slices.ContainsFunc(u.out.Think.Steps, func(step nodes.Step) bool {
		return slices.ContainsFunc(step.ReadyCalls(), func(call vocab.Call) bool {
			return slices.ContainsFunc(asked.Calls, func(c crud.ApprovedCall) bool { return u.s.mayRepeat(call, c.Call) && u.s.otherValue(call, c.Call) })
		})
	})
}

// wantsFewer reports whether the plan beside a yes names, of the rows that the user was asked about, only some, and has nothing else that
// the message may say, unless it says these rows: "yes, but only the first" is no plain yes, whatever a model makes of it.
func (u *understand) wantsFewer(asked *question) bool {
	if u.out.Think == nil || !u.s.saysMore(asked) {
		return false
	}
	all, wanted, others := map[string]int{}, map[string][]string{}, false
	for _, c := range asked.Calls {
		all[c.Tool+c.EntityType] += len(c.Keys)
	}
	for _, step := range u.out.Think.Steps {
		for _, call := range step.ReadyCalls() {
			kind, rows := u.s.namedOf(asked, call)
			wanted[kind] = append(wanted[kind], rows...)
			others = others || len(rows) == 0 && call.Tool != vocab.ToolRead
		}
	}
	for kind, rows := range wanted {
		if len(rows) > 0 && len(rows) < all[kind] {
			return !others || slices.ContainsFunc(rows, u.says)
		}
	}

	return false
}

// namedOf are the rows that a planned call names, by their refs or names, of those that a question is about; none if it is another wish
// or selects rows otherwise.
func (s *state) namedOf(asked *question, call vocab.Call) (kind string, rows []string) {
	at := slices.IndexFunc(asked.Calls, func(c crud.ApprovedCall) bool { return s.mayRepeat(call, c.Call) })
	if at < 0 || !s.repeatsApproved(call, asked) {
		return "", nil
	}
	refs, _ := changedRows(s.runner.Domain, call)
	for _, ref := range refs {
		if e := s.Scene(true).ByRef[ref]; e != nil && e.EntityID != nil && slices.Contains(asked.Calls[at].Keys, *e.EntityID) {
			rows = append(rows, ref)
		}
	}
	for _, names := range s.namesOfRows(call) {
		rows = append(rows, names...)
	}

	return asked.Calls[at].Tool + asked.Calls[at].EntityType, rows
}

// says reports whether the message says a row, given by its ref or name.
func (u *understand) says(row string) bool {
	message := domain.Plain(u.s.Turn.Message)

	return strings.Contains(message, domain.Plain(u.s.Scene(true).RefNames().Unref(row))) || slices.ContainsFunc(u.out.Mentions, func(m nodes.Mention) bool {
		return m.Ref == row && m.Text != "" && strings.Contains(message, domain.Plain(m.Text))
	})
}

// otherValue reports whether two updates set a column to different values. A day is no other than a time of it, nor is a row's name than
// its ref.
func (s *state) otherValue(call, known vocab.Call) bool {
	values := gjson.GetBytes(known.Args, "set").Array()

	return slices.ContainsFunc(gjson.GetBytes(call.Args, "set").Array(), func(set gjson.Result) bool {
		at := slices.IndexFunc(values, func(was gjson.Result) bool { return was.Get("column").Str == set.Get("column").Str })
		if at < 0 {
			return false
		}
		names := s.Scene(true).RefNames()
		was, is := strings.ToLower(names.Unref(values[at].Get("value").String())), strings.ToLower(names.Unref(set.Get("value").String()))
		if (was == "") != (is == "") { // none is another
			return true
		}
		if a, err := strconv.ParseFloat(was, 64); err == nil {
			b, err := strconv.ParseFloat(is, 64)

			return err == nil && a != b
		}

		return !strings.Contains(was, is) && !strings.Contains(is, was)
	})
}

// mayBeApproved reports whether a step whose calls are left to Act may be what the user was asked about.
func (s *state) mayBeApproved(step nodes.Step, asked *question) bool {
	home := s.runner.Domain.Subdomain(step.Subdomain)

	return home == nil || slices.ContainsFunc(asked.Calls, func(c crud.ApprovedCall) bool {
		e := s.runner.Domain.ByType(c.EntityType)
		rows, _ := changedRows(s.runner.Domain, c.Call)

		return e == nil || slices.Contains(home.Tables, e.Table) && mayOverlap(rows, step.Refs)
	})
}

// undecidedIn reports whether a step of the same kind has waited whose calls Act decides: it may do what this one does.
func undecidedIn(waited []nodes.Step, step nodes.Step) bool {
	return slices.ContainsFunc(waited, func(w nodes.Step) bool {
		return w.Type == step.Type && w.Subdomain == step.Subdomain && len(w.Calls) == 0
	})
}

// callsWaited reports whether a step has waited that makes the same calls.
func callsWaited(waited []nodes.Step, step nodes.Step) bool {
	calls := step.ReadyCalls()
	same := func(a, b vocab.Call) bool { return crud.Fingerprint(a) == crud.Fingerprint(b) }

	return len(calls) > 0 && slices.ContainsFunc(waited, func(w nodes.Step) bool { return slices.EqualFunc(calls, w.ReadyCalls(), same) })
}
