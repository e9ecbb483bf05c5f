package memory

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/domain"
	"alfred/nodes"
)

// Memory builds the inputs of nodes. It is immutable and safe for concurrent use.
type Memory struct {
	domain *domain.Domain
	config Config
}

// New makes a Memory for a bound domain.
func New(d *domain.Domain, cfg Config) *Memory {
	return &Memory{domain: d, config: cfg}
}

// Understand loads what the memory manager sees of a turn whose UI changes and
// mentions are already applied.
func (m *Memory) Understand(ctx context.Context, tx pgx.Tx, t *db.Turns) (nodes.UnderstandInput, error) {
	l, err := m.load(ctx, tx, t,
		[]loading{loadPast, loadEarlier, loadDecisions, loadConstraints, loadQuestion, loadDrafts, countOlder}, []loading{loadEvents, loadResults}, []loading{loadKnown})
	if err != nil {
		return nodes.UnderstandInput{}, fmt.Errorf("load for understand: %w", err)
	}
	in := nodes.UnderstandInput{Facts: l.nodeFacts(), Refs: l.refs(), HasQuestion: l.question != nil && l.question.Status == "open"}
	for _, e := range m.domain.Entities {
		in.EntityTypes = append(in.EntityTypes, e.Type)
	}
	in.Frame = frame(m.domain.Persona, nodes.At{Turn: l.number, Call: 1},
		part{"entity_context", []*section{l.legend(), l.allKnown(), l.constraintsInForce()}},
		part{"conversation_history", []*section{l.understandLog(), l.recentConversation()}},
		part{"current_task", []*section{l.openQuestion(), l.currentMessage()}},
	)

	return in, nil
}

// Think loads what the planner sees, in a replan too.
func (m *Memory) Think(ctx context.Context, tx pgx.Tx, t *db.Turns) (nodes.ThinkInput, error) {
	l, err := m.load(ctx, tx, t,
		[]loading{loadPast, loadEarlier, loadDecisions, loadConstraints, loadQuestion, loadSteps, loadRuns}, []loading{loadResults}, []loading{loadEntities})
	if err == nil {
		err = l.loadUser(ctx, tx)
	}
	if err != nil {
		return nodes.ThinkInput{}, fmt.Errorf("load for think: %w", err)
	}
	in := nodes.ThinkInput{Facts: l.nodeFacts(), Refs: l.refs(), MaxSteps: m.config.MaxSteps[l.mode], WriteAllowed: l.writeAllowed(), SubdomainAliases: map[string]string{}}
	for _, sub := range m.domain.Subdomains {
		in.Subdomains = append(in.Subdomains, sub.Name)
		for _, alias := range sub.Aliases {
			in.SubdomainAliases[alias] = sub.Name
		}
	}
	in.Frame = frame(l.plannerPersona(), nodes.At{Turn: l.number, Call: 1 + l.decisionsOf("think")},
		part{"session_context", []*section{l.userProfile(), l.preferences(""), l.snapshot()}},
		part{"entity_context", []*section{l.legend(), l.generated(false), l.recent(nil), l.retained(), l.excluded(), l.viable(), l.constraintsInForce()}},
		part{"turn_narrative", []*section{l.whatHappened()}},
		part{"conversation_history", []*section{l.conversation()}},
		part{"current_task", []*section{l.openQuestion(), l.currentTask()}},
	)

	return in, nil
}

// Act loads what one decision of a step sees. An unknown step is an error.
func (m *Memory) Act(ctx context.Context, tx pgx.Tx, t *db.Turns, step int) (nodes.ActInput, error) {
	l, err := m.load(ctx, tx, t,
		[]loading{loadPast, loadEarlier, loadDecisions, loadConstraints, loadSteps, loadRuns, loadDrafts}, []loading{loadResults}, []loading{loadEntities})
	if err != nil {
		return nodes.ActInput{}, fmt.Errorf("load for act: %w", err)
	}
	for _, s := range l.steps {
		if int(s.Step) == step {
			return l.act(ctx, tx, s)
		}
	}

	return nodes.ActInput{}, fmt.Errorf("load for act: turn %d has no step %d", l.number, step)
}

func (t *turn) act(ctx context.Context, tx pgx.Tx, step *db.TurnSteps) (nodes.ActInput, error) {
	if err := t.markStale(ctx, tx); err != nil {
		return nodes.ActInput{}, fmt.Errorf("load for act: %w", err)
	}
	reads := step.StepType == db.StepTypeRead
	if !reads {
		if err := t.loadUser(ctx, tx); err != nil {
			return nodes.ActInput{}, fmt.Errorf("load for act: %w", err)
		}
	}
	in := nodes.ActInput{
		Facts: t.nodeFacts(), Step: typedStep(step),
		StepType: string(step.StepType), Tables: t.tables(step), Writable: t.writable(step), EntityTypes: t.draftable(step),
		SchemaRequestsLeft: max(0, t.memory.config.SchemaRequests-len(step.SchemaTables)),
	}
	context := part{tag: "session_context"}
	if !reads {
		context.sections = append(context.sections, t.userProfile(), t.preferences(t.subdomainName(step.Subdomain)))
	}
	if step.StepType != db.StepTypeAnalyze {
		context.sections = append(context.sections, t.schema(step))
	}
	position, total := t.place(step.Step)
	taken, _ := t.calls(int(step.Step))
	elsewhere := func(e *entity) bool { return t.isNew(e) || t.isJustSaved(e) }
	in.Frame = frame(t.stepPersona(step.Subdomain), nodes.At{Turn: t.number, Step: int(step.Step), Call: 1 + taken},
		context,
		part{"entity_context", []*section{t.legend(), t.generated(true), t.recent(elsewhere), t.retained(), t.excluded(), t.constraintsInForce(), t.justSaved(), t.firstSeenNow()}},
		part{"prior_turn_context", []*section{t.whatHappened()}},
		part{"conversation_history", []*section{t.conversation()}},
		part{"step_context", []*section{t.currentStep(step, position, total)}},
		part{"data_to_analyze", []*section{t.fullData(step.Refs), t.stepResults()}},
	)

	return in, nil
}

// Reply loads the facts of a turn whose steps have ended, without refs.
func (m *Memory) Reply(ctx context.Context, tx pgx.Tx, t *db.Turns) (nodes.ReplyInput, error) {
	l, err := m.load(ctx, tx, t,
		[]loading{loadPast, loadEarlier, loadDecisions, loadQuestion, loadSteps, loadRuns, loadDrafts}, []loading{loadResults}, []loading{loadEntities})
	if err != nil {
		return nodes.ReplyInput{}, fmt.Errorf("load for reply: %w", err)
	}
	f := frame(m.domain.Persona, nodes.At{Turn: l.number, Call: 1},
		part{"conversation_history", []*section{l.conversation()}},
		part{"execution_results", []*section{l.executionResults(), l.questionToAsk()}},
		part{"conversation_flow", []*section{l.conversationFlow()}},
		part{"reply_guidance", []*section{l.replyGuidance()}},
	)

	return nodes.ReplyInput{
		Frame: l.withoutRefs(f), Facts: l.nodeFacts(), Outcome: l.outcome(), Blocked: l.blockedBy(), Notices: l.noticeTexts(), Fallback: l.replyFromFacts(),
	}, nil
}

// QuickReply words the reply of a quick turn from the rows it read, without a
// model. The results must be visible in tx.
func (m *Memory) QuickReply(ctx context.Context, tx pgx.Tx, t *db.Turns) (string, error) {
	l, err := m.load(ctx, tx, t, []loading{loadQuestion, loadSteps, loadResults}, []loading{loadEntities})
	if err != nil {
		return "", fmt.Errorf("load for the quick reply: %w", err)
	}

	return l.quickReply(), nil
}

// Summarize loads a turn that has been replied to.
func (m *Memory) Summarize(ctx context.Context, tx pgx.Tx, t *db.Turns) (nodes.SummarizeInput, error) {
	l, err := m.load(ctx, tx, t, []loading{loadDecisions, loadQuestion, loadSteps, loadRuns, loadResults}, []loading{loadEntities})
	if err != nil {
		return nodes.SummarizeInput{}, fmt.Errorf("load for summarize: %w", err)
	}
	f := frame(m.domain.Persona, nodes.At{Turn: l.number, Call: 1},
		part{"conversation_history", []*section{l.thisExchange()}},
		part{"execution_results", []*section{l.turnFacts()}},
	)

	return nodes.SummarizeInput{Frame: f, Facts: l.nodeFacts(), Fallback: l.summaryFromFacts()}, nil
}

// Compress loads the turns from..to (inclusive) of a session for one text of the
// given kind, conversation or narrative, together with the newest text that
// covers turns before them.
func (m *Memory) Compress(ctx context.Context, tx pgx.Tx, sessionID uuid.UUID, kind string, from, to int) (nodes.CompressInput, error) {
	l, err := m.loadRange(ctx, tx, sessionID, kind, from, to)
	if err != nil {
		return nodes.CompressInput{}, fmt.Errorf("load for compress: %w", err)
	}
	text := l.conversationRange()
	if kind == "narrative" {
		text = l.narrativeRange()
	}
	f := frame(m.domain.Persona, nodes.At{Turn: to, Call: 1}, part{"conversation_history", []*section{text}})

	return nodes.CompressInput{Frame: f, Kind: kind, Fallback: l.compressedByCode(kind)}, nil
}

// Preview builds the frame that a node of the session's coming turn would see if
// the turn began now: understand, think, act (a first read step), reply,
// summarize. Another name is an error.
func (m *Memory) Preview(ctx context.Context, tx pgx.Tx, sessionID uuid.UUID, node string) (nodes.Frame, error) {
	f, err := m.preview(ctx, tx, sessionID, node)
	if err != nil {
		return nodes.Frame{}, err
	}
	gate := m.Gate(tx, sessionID)
	for i := range f.Blocks {
		for j := range f.Blocks[i].Sections {
			section := &f.Blocks[i].Sections[j]
			if section.Body, _, err = gate.Check(ctx, section.Body); err != nil {
				return nodes.Frame{}, fmt.Errorf("preview: %w", err)
			}
		}
	}

	return f, nil
}

func (m *Memory) preview(ctx context.Context, tx pgx.Tx, sessionID uuid.UUID, node string) (nodes.Frame, error) {
	session, err := db.New().SessionGetContext(ctx, tx, sessionID)
	if err != nil {
		return nodes.Frame{}, fmt.Errorf("preview: load session: %w", err)
	}
	now := time.Now()
	coming := &db.Turns{SessionID: sessionID, UserID: session.UserID, Number: session.LastTurn + 1, Mode: session.Mode, StartedAt: &now}
	switch node {
	case "understand":
		in, err := m.Understand(ctx, tx, coming)

		return in.Frame, err
	case "think":
		in, err := m.Think(ctx, tx, coming)

		return in.Frame, err
	case "act":
		return m.previewAct(ctx, tx, coming)
	case "reply":
		in, err := m.Reply(ctx, tx, coming)

		return in.Frame, err
	case "summarize":
		in, err := m.Summarize(ctx, tx, coming)

		return in.Frame, err
	default:
		return nodes.Frame{}, fmt.Errorf("preview: unknown node %q", node)
	}
}

func (m *Memory) previewAct(ctx context.Context, tx pgx.Tx, coming *db.Turns) (nodes.Frame, error) {
	l, err := m.load(ctx, tx, coming,
		[]loading{loadPast, loadEarlier, loadDecisions, loadConstraints, loadDrafts}, []loading{loadResults}, []loading{loadEntities})
	if err != nil {
		return nodes.Frame{}, fmt.Errorf("preview: %w", err)
	}
	step := &db.TurnSteps{Step: 1, StepType: db.StepTypeRead, Description: "The first step of the coming turn."}
	if len(m.domain.Subdomains) > 0 {
		step.Subdomain = m.domain.Subdomains[0].Name
	}
	l.steps = []*db.TurnSteps{step}
	in, err := l.act(ctx, tx, step)

	return in.Frame, err
}

// decisionsOf is how many decisions a node has taken in this turn.
func (t *turn) decisionsOf(node string) int {
	n := 0
	for _, run := range t.runs {
		if run.Node == node {
			n++
		}
	}

	return n
}

func (t *turn) subdomainName(word string) string {
	if sub := t.memory.domain.Subdomain(word); sub != nil {
		return sub.Name
	}

	return word
}
