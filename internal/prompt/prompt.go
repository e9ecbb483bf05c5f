package prompt

import (
	"fmt"
	"strings"
	"sync"

	"alfred/db"
	"alfred/internal/domain"
	"alfred/internal/say"
	"alfred/internal/view"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// Prompts builds the inputs of nodes. It is immutable and safe for concurrent use.
type Prompts struct {
	domain *domain.Domain
	config Config
	// Both are made once: the tools of all steps of any turn, and the persona of a node that plans.
	tools   func() (nodes.Tools, error)
	planner func() string
}

// New makes Prompts for a bound domain.
func New(d *domain.Domain, config Config) *Prompts {
	blank := &page{Teller: say.Teller{Scene: &view.Scene{View: &view.View{Domain: d}}}}

	return &Prompts{domain: d, config: config, planner: sync.OnceValue(blank.plannerPersona), tools: sync.OnceValues(func() (nodes.Tools, error) {
		if config.Shortened { // a step's own are half as long
			return nil, nil
		}
		box := blank.toolbox()

		return box.TurnTools()
	})}
}

// page is a scene being turned into a prompt.
type page struct {
	say.Teller

	config  Config
	step    *db.TurnSteps       // the step Act works on, or nil
	steps   []*db.TurnSteps     // that step, and later ones whose calls the same answer may contain
	others  []nodes.BesideStep  // the later ones, in the same order
	shown   map[string][]string // columns that appear in the prompt, by ref
	leftOut int                 // how many of the step's rows do not
	// sections are those of act's frame, empty ones too, while it is made: the facts keep a page while the model works.
	sections []*section
	alike    map[string]int          // how many entities have a type and name; nil until asked for
	measured map[*domain.Column]bool // columns of which a prompt has said what their numbers measure
}

func (p *Prompts) page(v *view.View, known bool) *page {
	return &page{Teller: say.Teller{Scene: v.Scene(known)}, config: p.config, measured: map[*domain.Column]bool{}}
}

// Understand builds the memory manager's input. UI changes and mentions must already be applied.
func (p *Prompts) Understand(v *view.View) nodes.UnderstandInput {
	t := p.page(v, true)
	last := t.LastReplied()
	in := nodes.UnderstandInput{Facts: t.nodeFacts, Refs: t.Refs(), Deleted: t.DeletedRefs(), HasQuestion: t.Question != nil && t.Question.Status == "open"}
	in.Offers = !in.HasQuestion && last != nil && strings.ContainsAny(last.Reply, "?？؟")
	for _, e := range p.domain.Entities {
		in.EntityTypes = append(in.EntityTypes, e.Type)
	}
	if p.config.Apart {
		in.Frame = t.frame(vocab.NodeUnderstand, p.domain.Persona)

		return in
	}
	plan := p.plan(t)
	plan.Facts = in.Facts
	in.Plan, in.Frame = &plan, t.frame("together", p.planner())

	return in
}

// Need says which of the optional parts of a view a node's prompt shows.
func (p *Prompts) Need(node string, v *view.View) view.Need {
	switch node {
	case vocab.NodeUnderstand:
		return view.Need{Known: true, Profile: !p.config.Apart}
	case vocab.NodeThink:
		return view.Need{Profile: true}
	case vocab.NodeAct:
		step := v.Step()

		return view.Need{Profile: step != nil && !only(append(v.StepsBeside(step), step), db.StepTypeRead), Round: true}
	default:
		return view.Need{}
	}
}

// Think builds the planner's input, also for a replan.
func (p *Prompts) Think(v *view.View) nodes.ThinkInput {
	t := p.page(v, false)
	in := p.plan(t)
	in.Facts = t.nodeFacts
	in.Frame = t.frame(vocab.NodeThink, p.planner())

	return in
}

// Plan returns what checks a plan that is already known: an input without facts and without a frame.
func (p *Prompts) Plan(v *view.View) nodes.ThinkInput { return p.plan(p.page(v, false)) }

// plan is what bounds a plan.
func (p *Prompts) plan(t *page) nodes.ThinkInput {
	in := nodes.ThinkInput{Refs: t.Refs(), Deleted: t.DeletedRefs(), MaxSteps: p.config.MaxSteps[t.Turn.Mode], Subdomain: t.SubdomainName, Homes: map[string]nodes.Home{}}
	for _, o := range p.domain.Operations {
		in.Operations = append(in.Operations, o.Name)
	}
	for _, sub := range p.domain.Subdomains {
		in.Subdomains = append(in.Subdomains, sub.Name)
		t.addHomes(&in, sub, t.ownTables(sub))
	}
	for _, sub := range p.domain.Subdomains { // what no subdomain owns is read where it may be
		t.addHomes(&in, sub, sub.Readable)
	}

	return in
}

// addHomes says that a subdomain handles these tables, unless another one does.
func (t *page) addHomes(in *nodes.ThinkInput, sub *domain.Subdomain, tables []string) {
	for _, table := range tables {
		def := t.Domain.ByTable(table)
		if _, taken := in.Homes[table]; !taken && def != nil {
			in.Homes[table] = nodes.Home{Subdomain: sub.Name, Type: def.Type, Plural: def.Plural}
		}
	}
}

// Act builds the input for one decision of a step.
func (p *Prompts) Act(v *view.View, step *db.TurnSteps) (nodes.ActInput, error) {
	tools, err := p.tools()
	if err != nil {
		return nodes.ActInput{}, fmt.Errorf("offer tools to act: %w", err)
	}
	t := p.page(v, false)
	t.step, t.steps = step, []*db.TurnSteps{step}
	in := t.bounds(step)
	if tools != nil { // otherwise the step is offered nothing but its own tools
		t.workBeside()
	}
	in.Beside = t.others
	in.Facts, in.Step = t.nodeFacts, typedStep(step)
	in.Turn = tools
	in.SchemaRequestsLeft = max(0, vocab.MaxSchemaRequests-len(step.SchemaTables))
	in.Introduces = t.introduces(step)
	t.shown = map[string][]string{}
	in.Frame = t.frame(vocab.NodeAct, p.domain.Persona)
	in.Shown, in.LeftOut = t.shown, t.leftOut
	t.continueRound(&in.Frame, v.Continues())
	t.sections = nil

	return in, nil
}

// Bounds returns what checks a step's calls when they are already known: an input without facts and without a frame.
func (p *Prompts) Bounds(v *view.View, step *db.TurnSteps) nodes.ActInput {
	return p.page(v, false).bounds(step)
}

// bounds is what a step's tools may touch.
func (t *page) bounds(step *db.TurnSteps) nodes.ActInput {
	return nodes.ActInput{StepType: string(step.StepType), Toolbox: nodes.Toolbox{
		Tables: t.readableTables(step), Writable: t.writableByTool(t.ownTables(t.Domain.Subdomain(step.Subdomain))), Operations: t.operations(step), EntityTypes: t.draftable(step),
	}}
}

// Reply builds the input from a turn whose steps have ended, without refs.
func (p *Prompts) Reply(v *view.View) nodes.ReplyInput {
	t := p.page(v, false)
	f := t.frame(vocab.NodeReply, p.domain.Persona)
	written, others := t.Written()

	return nodes.ReplyInput{
		Frame: t.withoutRefs(f), Facts: t.nodeFacts, Notices: t.noticeTexts(), Fallback: t.ReplyFromFacts(), Drafts: t.DraftsInFull,
		Written: written, Others: others, NotWritten: t.NotWritten(), Before: t.Plain(t.DoneBefore(p.config.RetentionWindow)),
	}
}

// QuickReply words the reply of a quick turn from the rows it read, without a model.
func (p *Prompts) QuickReply(v *view.View) string {
	return p.page(v, false).QuickReply()
}

// Summarize builds the input for a turn that has been replied to.
func (p *Prompts) Summarize(v *view.View) nodes.SummarizeInput {
	t := p.page(v, false)

	return nodes.SummarizeInput{
		Frame: t.frame(vocab.NodeSummarize, p.domain.Persona), Fallback: t.SummaryByCode(), Short: t.IsShort(),
	}
}

// Compress builds the input for compressing a view's past (view.Loader.Range) together with the texts so far.
func (p *Prompts) Compress(v *view.View) nodes.CompressInput {
	t := p.page(v, false)
	most := p.config.Budget.Earlier.runes()

	return nodes.CompressInput{
		Frame:    t.frame(vocab.NodeCompress, p.domain.Persona),
		Fallback: nodes.CompressOutput{Conversation: t.CompressedByCode("conversation", most), Narrative: t.CompressedByCode("narrative", most)},
	}
}

// Preview returns the frame that a node of a coming turn (view.Loader.NextTurn) would see: understand, think, act (a
// first read step), reply or summarize. Any other name is an error.
func (p *Prompts) Preview(v *view.View, node string) (nodes.Frame, error) {
	switch node {
	case vocab.NodeUnderstand:
		return p.Understand(v).Frame, nil
	case vocab.NodeThink:
		return p.Think(v).Frame, nil
	case vocab.NodeAct:
		step := &db.TurnSteps{Step: 1, StepType: db.StepTypeRead, Description: "The first step of the coming turn."}
		if len(p.domain.Subdomains) > 0 {
			step.Subdomain = p.domain.Subdomains[0].Name
		}
		first := *v
		first.Steps = []*db.TurnSteps{step}

		in, err := p.Act(&first, step)

		return in.Frame, err
	case vocab.NodeReply:
		return p.Reply(v).Frame, nil
	case vocab.NodeSummarize:
		return p.Summarize(v).Frame, nil
	default:
		return nodes.Frame{}, fmt.Errorf("unknown node %q", node)
	}
}
