package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/crud"
	"alfred/internal/domain"
	"alfred/internal/vocab"
	"alfred/nodes"
	"alfred/registry"
)

// understand resolves what the message is about and curates the registry.
type understand struct {
	inTurn

	s       *state
	in      nodes.UnderstandInput
	out     *nodes.UnderstandOutput
	clicked *question     // the open question and the clicked option; nil for an answer in words
	recall  crud.Prepared // the search of the past that the message asks for; empty for none
	unsaid  []nodes.Step  // what would be written beside a yes, of which the message says nothing
}

func (u *understand) prepare() (frame *nodes.Frame, err error) {
	if u.s.Turn.Undoes != nil { // the purpose of the turn is known
		u.out = &nodes.UnderstandOutput{Intent: "write"}

		return nil, nil
	}
	u.in = u.s.prompts.Understand(u.s.View)
	if u.clicked, err = u.s.clickedQuestion(); err != nil {
		return nil, err
	}
	if u.clicked.isYesToApproval() {
		u.out = &nodes.UnderstandOutput{}
		u.clicked.applyTo(u.out)

		return nil, nil
	}

	return &u.in.Frame, nil
}

func (u *understand) run(ctx context.Context, rec *recorder) error {
	if u.out != nil {
		return nil
	}
	says := u.s.stream(ctx, false)
	u.in.OnDelta = says.add
	out, err := nodes.Understand(ctx, rec, u.in)
	says.close() //nolint:contextcheck // it has the run's context
	if err != nil {
		return err
	}
	u.out = out
	u.clicked.applyTo(out)
	u.heedNo()
	if out.Recall == nil || out.Recall.Query == "" {
		return nil
	}
	args, err := json.Marshal(map[string]string{"query": out.Recall.Query})
	if err != nil {
		return fmt.Errorf("encode query: %w", err)
	}
	u.recall, err = u.s.runner.Tools.Prepare(ctx, u.s.runner.Pool, u.s.asker(), []vocab.Call{{Tool: vocab.ToolRecall, Args: args}})

	return err
}

func (u *understand) effects(ctx context.Context, c *commit) (move, error) {
	u.noteChanges(c)
	approved, err := u.consent(ctx, c)
	if err != nil {
		return move{}, err
	}
	if permit(u.out.Intent, nil).Allowed {
		c.permitted = true
	}
	if err := u.curate(ctx, c); err != nil {
		return move{}, err
	}
	if err := u.search(ctx, c); err != nil {
		return move{}, err
	}
	m := afterUnderstand(u.out, understood{refs: u.in.Refs, approved: approved, unsaid: u.unsaid, quick: u.quickStep()})
	stored := *u.out
	if m.next == vocab.NodeThink && len(u.recall.Calls()) == 0 {
		m.coded = stored.Think != nil // the plan waits here to be followed, unless a question or a search comes first
	} else {
		stored.Think, stored.Say = nil, ""
	}
	c.output = stored

	return m, nil
}

// noteChanges says which parts of the view the effects may change.
func (u *understand) noteChanges(c *commit) {
	curation := &u.out.Curation
	c.changed.User = len(u.out.Constraints) > 0 || curation.ClearAll // constraints may be lasting
	c.changed.Questions = u.out.AnswersQuestion
	c.changed.Drafts = len(curation.Forget) > 0 || curation.ClearAll
	c.changed.Curation = c.changed.User || c.changed.Drafts || len(curation.Retain)+len(curation.Demote)+len(curation.Exclude) > 0
	c.changed.Registry = c.changed.Curation || len(u.namedRefs()) > 0 || len(u.recall.Calls()) > 0
}

// consent closes the open question, if the message answers it, and evaluates the answer. Understand decides whether it
// does; a short message alone does not. It returns the steps by which code carries out what the user approved, none for
// most answers, nor where a plan is still to be made.
func (u *understand) consent(ctx context.Context, c *commit) (approved []nodes.Step, err error) {
	if !u.out.AnswersQuestion {
		return nil, nil
	}
	q, err := db.New().QuestionAnswer(ctx, c.tx, &db.QuestionAnswerParams{SessionID: c.s.Turn.SessionID, TurnNumber: c.s.Turn.Number})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("close question: %w", err)
	}
	a, err := c.s.readQuestion(q.ID, q.Kind, q.Payload)
	if err != nil {
		return nil, err
	}
	if u.setsOtherwise(a) || u.wantsFewer(a) {
		u.out.Intent = "answer"
	}
	c.permitted = permit(u.out.Intent, a).Allowed
	if a.kind != vocab.AskApprove || !c.permitted || u.out.Intent != "confirm" {
		return nil, nil
	}

	y := &yes{s: u.s, asked: a, mentions: u.out.Mentions, in: u.in.Plan, plan: u.out.Think}
	if u.in.Plan == nil && u.s.saysMore(a) { // Think is asked for the plan
		u.out.Quick = nil

		return nil, nil
	}
	approved = y.steps()
	u.unsaid = y.unsaid

	return approved, nil
}

// quickStep is the only step of a turn that needs no plan, with the calls that came with the answer; nil if there has to be a
// plan. Without calls, Act decides them.
func (u *understand) quickStep() *nodes.Step {
	if u.s.Turn.Undoes != nil {
		return new((&nodes.UndoRequest{}).Step())
	}
	if u.out.Quick == nil {
		return nil
	}
	e, subdomain := u.s.runner.placeOf(u.out.Quick.EntityType)
	if subdomain == "" {
		return nil
	}
	step := &nodes.Step{Type: vocab.StepRead, Subdomain: subdomain, Description: "Read the " + e.Plural + " that the message asks for", Needs: "refs"}
	if plan := u.out.Think; plan != nil && len(plan.Steps) > 0 {
		if len(plan.Steps) > 1 || plan.Steps[0].Type != vocab.StepRead {
			return nil // it is no plain look-up, whatever the answer calls it
		}
		step.Calls, step.Description = plan.Steps[0].Calls, cmp.Or(plan.Steps[0].Description, step.Description)
	}

	return step
}

// search searches the past for Think, as a call of step 0. An error in the search is part of its result.
func (u *understand) search(ctx context.Context, c *commit) error {
	if len(u.recall.Calls()) == 0 {
		return nil
	}
	outcome, err := u.s.runner.Tools.Execute(ctx, c.tx, c.s.scope(nodes.At{Turn: c.at.Turn}), crud.Bounds{StepType: vocab.StepRead}, u.recall)
	for i := range outcome.Results {
		c.changed.Results = append(c.changed.Results, outcome.Results[i].Stored)
	}

	return err
}

// curate applies Understand's decisions about the registry, a fresh start first.
func (u *understand) curate(ctx context.Context, c *commit) error {
	reg := c.registry()
	curation := u.out.Curation
	if curation.ClearAll {
		if err := reg.ClearAll(ctx, u.out.CurationSummary); err != nil {
			return err
		}
	}
	if err := reg.Touch(ctx, u.namedRefs()); err != nil {
		return err
	}
	exclusion, err := u.constrain(ctx, reg)
	if err != nil {
		return err
	}
	for _, x := range curation.Retain {
		if err := lenient(reg.Retain(ctx, x.Ref, x.Reason, confidence(x.Confidence))); err != nil {
			return err
		}
	}
	for _, x := range curation.Exclude {
		if err := lenient(reg.Exclude(ctx, x.Ref, x.Reason, exclusion)); err != nil {
			return err
		}
	}
	for _, ref := range curation.Demote {
		if err := lenient(reg.Demote(ctx, ref, u.out.CurationSummary)); err != nil {
			return err
		}
	}

	return u.forget(ctx, c, reg)
}

// forget spares drafts that their user has changed since this was decided.
func (u *understand) forget(ctx context.Context, c *commit, reg *registry.Registry) error {
	if len(u.out.Curation.Forget) == 0 {
		return nil
	}
	versions, err := reg.NewestVersions(ctx, u.out.Curation.Forget...)
	if err != nil {
		return err
	}
	for _, ref := range u.out.Curation.Forget {
		version, is := versions[ref]
		if seen, was := c.s.Versions.Drafts[ref]; is && was && seen != version {
			continue
		}
		if err := lenient(reg.Forget(ctx, ref, u.out.CurationSummary)); err != nil {
			return err
		}
	}

	return nil
}

// namedRefs returns the refs that the message means unambiguously, and those that the user is asked to choose from: "no, the other
// one" is said of these.
func (u *understand) namedRefs() (refs []string) {
	for _, m := range u.out.Mentions {
		if m.Ref != "" && (m.Resolution == "exact" || m.Resolution == "inferred") {
			refs = append(refs, m.Ref)
		}
	}
	if u.out.Disambiguation != nil {
		refs = append(refs, u.out.Disambiguation.Options...)
	}

	return refs
}

// lenient ignores a curation that the rules forbid, or whose row was deleted after the model saw it: the turn must not
// fail for that.
func lenient(err error) error {
	if _, gone := errors.AsType[*registry.RefError](err); gone || errors.Is(err, registry.ErrRefused) {
		return nil
	}

	return err
}

func confidence(c *float64) *float32 {
	if c == nil {
		return nil
	}
	clamped := float32(min(max(*c, 0), 1))

	return &clamped
}

// placeOf returns the type that a word means, and the subdomain that handles its rows, "" for none.
func (r *Runner) placeOf(entityType string) (e *domain.Entity, subdomain string) {
	if e = r.Domain.Entity(entityType); e != nil {
		if s := r.Domain.SubdomainOf(e); s != nil {
			return e, s.Name
		}
	}

	return e, ""
}
