package jobs

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/google/uuid"

	"alfred/db"
	"alfred/internal/llm"
	"alfred/internal/pg"
	"alfred/internal/view"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// shortReply is below how many bytes a reply is probably its own summary.
const shortReply = 1000

// reply words the answer and ends the turn for its user. Code words the reply to a quick read, and one that only asks a
// question.
type reply struct {
	s      *state
	code   bool // the wording is fixed, and no model is asked
	in     nodes.ReplyInput
	out    *nodes.ReplyOutput
	words  string     // the part that a model worded, if not all of it
	offer  *question  // to save what this turn drafted; nil for none
	unsaid bool       // words of an earlier answer may have been shown, and are not used
	call   *uuid.UUID // the earlier answer's, if its reply is used
}

func (r *reply) prepare() (*nodes.Frame, error) {
	r.s.guard.Own = r.s.Scene(false).OwnTexts()
	r.wordByCode()
	if r.code = r.out != nil; r.code {
		return nil, nil
	}

	return &r.in.Frame, nil
}

// wordByCode sets the reply if no model has to be asked for it; otherwise it sets the model's input.
func (r *reply) wordByCode() {
	s := r.s
	undone, only := s.undoReply()
	switch {
	case only && (!s.thinkPlanned() || nodes.AsksForUndoInEnglish(s.Turn.Message)):
		r.out = &nodes.ReplyOutput{Text: undone}

		return
	case s.isQuick():
		r.out = &nodes.ReplyOutput{Text: s.prompts.QuickReply(s.View)}

		return
	}
	r.in = s.prompts.Reply(s.View)
	r.in.Fallback, r.in.Done = cmp.Or(undone, r.in.Fallback), s.doneSoFar()
	switch asked := s.Scene(false).QuestionToAsk(); {
	case asked != nil && s.onlyAsks(r.in.Done):
		r.out = &nodes.ReplyOutput{Text: r.in.Fallback}

		return
	case asked != nil:
		r.in.Ask = asked.Text
	case r.in.Done.Drafted:
		r.offer = s.offerToSave()
	}
	if r.offer != nil {
		r.in.Ask, r.in.Offer = r.offer.Text, true
	}
	r.takePrewritten()
}

// takePrewritten uses the reply that an earlier answer contains, if the turn went as that answer had it.
func (r *reply) takePrewritten() {
	said := r.s.prewritten()
	switch {
	case said == nil || !said.holds:
	case !said.introduces:
		r.out = r.in.Prewritten(said.text, r.s.Scene(false).Refs())
	case r.offer != nil:
		r.out = r.in.PrewrittenWithDrafts(said.text, r.in.Drafts(r.offer.Writes[0].Refs), r.s.Scene(false).Refs())
	}
	if r.out == nil {
		r.unsaid = said != nil || r.s.mayHaveShownWords()

		return
	}
	r.call, r.words = said.call, said.text
}

// onlyAsks reports whether the reply has nothing to say but the question, which a model worded for its user. What the only
// step of a turn looked up in order to ask need not be told.
func (s *state) onlyAsks(done nodes.Done) bool {
	if done.Curated || done.Wrote || done.Drafted || len(s.Steps) > 1 {
		return false
	}
	run := s.LastRun()
	asks := run != nil && run.Acted != nil && run.Acted.AskUser != nil
	told := slices.ContainsFunc(s.Results, func(r *view.Result) bool { return r.TurnID == s.Turn.ID && (!asks || r.Step == 0) })

	return !told && (asks || len(s.Steps) == 0)
}

// doneSoFar is what this turn has done so far, for a reply that may claim no more.
func (s *state) doneSoFar() nodes.Done {
	out := s.Understood()
	c := out.Curation
	done := nodes.Done{
		Curated: c.ClearAll || len(c.Retain)+len(c.Demote)+len(c.Forget)+len(c.Exclude)+len(out.Constraints) > 0, States: s.Domain.States(),
	}
	for _, run := range s.Runs {
		if run.Acted != nil && !run.Acted.Failed() {
			s.addDone(&done, run.Acted)
		}
	}
	done.Undrafted = !done.Drafted && slices.ContainsFunc(s.Steps, func(step *db.TurnSteps) bool { return step.StepType == db.StepTypeGenerate })

	return done
}

// addDone adds what a decision of Act did. That all can be undone is said only if nothing else is to be said of it.
func (s *state) addDone(done *nodes.Done, made *view.Acted) {
	if made.Undo != "" && (done.Undo == "" || done.Undo == vocab.CanBeUndone) {
		done.Undo = made.Undo
	}
	done.Company = strings.TrimSpace(done.Company + " " + made.Company)
	for _, r := range made.Results {
		changed := r.RowCount > 0
		done.Drafted = done.Drafted || changed && r.Tool == vocab.ToolGenerate
		done.Wrote = done.Wrote || s.Domain.Operation(r.Tool) != nil || changed && (vocab.Writes(r.Tool) || r.Tool == vocab.ToolUndo)
	}
}

// run streams the reply. If the model stays unreachable or even the shortest prompt is too long, only its wording is lost: the
// work is done, and the user must hear of it.
func (r *reply) run(ctx context.Context, rec *recorder) error {
	if r.code {
		return r.clean(ctx)
	}
	pieces := r.s.stream(ctx, r.unsaid)
	r.in.OnDelta = pieces.add
	out, err := nodes.Reply(ctx, rec, r.in)
	pieces.close() //nolint:contextcheck // it has the run's context
	if r.isLastTry(ctx, err) {
		out, err = r.in.WithoutModel(), nil
		ctx = context.WithoutCancel(ctx)
	}
	if err != nil {
		return err
	}
	r.out = out

	return r.clean(ctx)
}

// isLastTry reports whether an error of the model's is one after which it will not be asked again.
func (r *reply) isLastTry(ctx context.Context, err error) bool {
	failed, ok := errors.AsType[*llm.Error](err)
	if !ok || !failed.Transient() {
		return ok && failed.Kind == llm.KindContextOverflow && r.s.isShortest()
	}

	return errors.Is(context.Cause(ctx), errDeadline) || judge(err, r.s.d.attempt, r.s.d.snoozes).verdict == verdictFail
}

// clean removes identifiers from the reply, whoever worded it.
func (r *reply) clean(ctx context.Context) error {
	var err error
	if r.out.Text, err = r.s.guard.reply(ctx, r.out.Text); err != nil {
		return err
	}
	r.words, err = r.s.guard.reply(ctx, r.words)

	return err
}

// fence ends the turn.
func (r *reply) fence(first *pg.Batch, c *commit) {
	first.Exec("reply", db.TurnReply, &db.TurnReplyParams{
		SessionID: c.s.Turn.SessionID, ID: c.s.d.TurnID, Position: int32(c.s.d.Position), Reply: r.out.Text,
	})
}

func (r *reply) effects(ctx context.Context, c *commit) (move, error) {
	c.output, c.made.LlmCallID = r.out, r.call
	r.offer.adoptWording(r.in.QuestionIn(cmp.Or(r.words, r.out.Text)))
	if err := c.openQuestion(ctx, r.offer); err != nil {
		return move{}, err
	}
	c.events.add("node.finished", nodeData(vocab.NodeReply, c.at, nil))
	c.events.add("reply", map[string]any{"text": r.out.Text})
	c.events.add("turn.finished", map[string]any{"status": db.TurnStatusSucceeded})
	c.changed.Turn = c.s.turnAfter(db.TurnStatusSucceeded, vocab.NodeSummarize)
	c.changed.Turn.Reply, c.changed.Questions = &r.out.Text, r.offer != nil

	return move{next: vocab.NodeSummarize, coded: r.code || len(r.out.Text) < shortReply}, nil
}
