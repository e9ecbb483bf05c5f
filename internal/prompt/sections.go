package prompt

import (
	"fmt"
	"slices"
	"strings"

	"alfred/db"
	"alfred/internal/view"
	"alfred/internal/vocab"
)

// rule is one section of one node's prompt.
type rule struct {
	node, tag string
	heading   string // "" for a text without one; %d is the registry's window, in turns
	source    string // tables and functions it is built from
	window    string // which turns before the current one
	budget    string // names of the budgets that bound it; "" where it is bounded by itself
	reasons   string // why an item may appear here, as in context_items.reason
	told      told   // in act: how a conversation says that it has changed
	declared  bool   // it is the same for all users
	unless    func(t *page) bool
	write     func(t *page, s *section)
}

const headJustSaved = "Just Saved This Turn"

// told is how a conversation within a step says that a section has changed.
type told int

const (
	toldWhole     told = iota // not at all: a complete prompt replaces the conversation
	toldByLine                // new or different lines, rows, drafts and tables follow the results
	toldByResults             // the results of the calls say it
)

func (r *rule) title(c Config) string {
	switch {
	case r.heading == "":
		return ""
	case strings.Contains(r.heading, "%d"):
		return "## " + fmt.Sprintf(r.heading, c.RetentionWindow)
	default:
		return "## " + r.heading
	}
}

// rulesFor says of sections, in print order, that they are a node's.
func rulesFor(node string, rules []rule) []rule {
	for i := range rules {
		rules[i].node = node
	}

	return rules
}

// rulesOf are the rules of a node's sections.
func rulesOf(node string) []rule {
	return view.Filter(table(), func(r rule) bool { return r.node == node })
}

func allAre(t *page) bool { return only(t.steps, db.StepTypeRead) }

// only reports whether all steps are of a type.
func only(steps []*db.TurnSteps, kind db.StepType) bool {
	return !slices.ContainsFunc(steps, func(step *db.TurnSteps) bool { return step.StepType != kind })
}

// table lists every section of every node, in the same order for all nodes: who the user is, what was said, what
// happened, what is known, what a single step needs. Stable sections come first, so that consecutive prompts share a
// prefix and hit the providers' caches. docs/prompts.md is generated from it.
//
//nolint:funlen // a table
func table() []rule {
	// Sections that several nodes share.
	var (
		legend = rule{tag: "entity_context", told: toldByLine, write: (*page).legend,
			source: "fixed text"}
		constraintsInForce = rule{tag: "entity_context", heading: "Constraints", write: (*page).constraintsInForce,
			source: "constraints", window: "in force", budget: "Constraints", reasons: "constraint"}
		openQuestion = rule{tag: "current_task", heading: "Open Question", write: (*page).openQuestion,
			source: "questions", window: "open", reasons: "question"}
		userProfile = rule{tag: "session_context", heading: "User Profile", write: (*page).userProfile,
			source: "the domain's profile queries", budget: "Profile", reasons: "profile"}
		preferences = rule{tag: "session_context", heading: "User Preferences", write: (*page).preferences,
			source: "the domain's guidance query", budget: "Guidance", reasons: "profile"}
		snapshot = rule{tag: "entity_context", heading: "Snapshot", write: (*page).snapshot,
			source: "the domain's snapshot queries", budget: "Snapshot", reasons: "snapshot"}
		generated = rule{tag: "entity_context", heading: "Generated (NOT YET SAVED)", write: (*page).generated,
			source: "entities_at", window: "any age", budget: "Entities", reasons: "generated"}
		recent = rule{tag: "entity_context", heading: "Recent Context (last %d turns)", told: toldByLine, write: (*page).recent,
			source: "entities_at, turn_step_results", window: "TURN_RETENTION_WINDOW", budget: "Entities", reasons: "recent, mentioned"}
		retained = rule{tag: "entity_context", heading: "Long Term Memory (retained from earlier)", write: (*page).retained,
			source: "entities_at", window: "until demoted or decayed", budget: "Entities", reasons: "pinned, retained"}
		excluded = rule{tag: "entity_context", heading: "Excluded (user rejected)", write: (*page).excluded,
			source: "entities_at", window: "until restored", budget: "Entities", reasons: "excluded"}
		viable = rule{tag: "entity_context", heading: "Viable for planning", told: toldByLine, write: (*page).viable,
			source: "entities_at", window: "while something is excluded"}
		conversation = rule{tag: "conversation_history", heading: "Conversation", write: (*page).conversation,
			source: "turns, history_summaries", window: "earlier, then FULL_DETAIL_TURNS and up to COMPRESS_EVERY_TURNS more", budget: "Conversation, Message, Earlier", reasons: "window, summary"}
	)

	return slices.Concat(
		rulesFor(vocab.NodeUnderstand, []rule{
			{tag: "conversation_history", heading: "Recent Conversation", write: (*page).recentConversation,
				source: "turns, entity_events, history_summaries", window: "earlier, then UNDERSTAND_TURNS", budget: "Conversation, Message, Earlier", reasons: "window, summary"},
			{tag: "conversation_history", heading: "Previous Understand Decisions", write: (*page).understandLog,
				source: "decisions", window: "last 10", reasons: "window"},
			legend,
			{tag: "entity_context", heading: "All Known Entities", write: (*page).allKnown,
				source: "entities_at, entity_refs, artifacts", window: "drafts, retained, excluded at any age; named in the message, newest, 20 lines of both", budget: "Entities, Drafts", reasons: "generated, pinned, retained, excluded, mentioned, recent"},
			constraintsInForce, openQuestion,
			{tag: "current_task", heading: "Current Message", write: (*page).currentMessage,
				source: "turns", window: "current", reasons: "current"},
		}),
		rulesFor(vocab.NodeThink, []rule{
			userProfile, preferences, conversation,
			{tag: "turn_narrative", heading: "What Happened", write: (*page).narrative,
				source: "turn_summaries, decisions, node_runs, history_summaries", window: "TURN_RETENTION_WINDOW, then earlier", budget: "Narrative, Earlier", reasons: "current, window, summary, recalled"},
			snapshot, legend, generated, recent, retained, excluded, viable, constraintsInForce,
			{tag: "current_task", heading: "Open Question", write: (*page).openQuestion,
				source: "questions", window: "open, or answered by this message", reasons: "question"},
			{tag: "current_task", heading: "Current Task", write: (*page).currentTask,
				source: "turns, node_runs, turn_steps", window: "current", reasons: "current"},
		}),
		rulesFor("together", []rule{
			userProfile, preferences, conversation,
			{tag: "turn_narrative", heading: "What Happened", write: (*page).narrative,
				source: "turn_summaries, decisions, node_runs, history_summaries", window: "TURN_RETENTION_WINDOW, then earlier", budget: "Narrative, Earlier", reasons: "window, summary"},
			{tag: "turn_narrative", heading: "Previous Understand Decisions", write: (*page).understandLog,
				source: "decisions", window: "last 10", reasons: "window"},
			snapshot, legend,
			{tag: "entity_context", heading: "Entities by turn", write: (*page).entitiesByTurn,
				source: "entity_events", window: "UNDERSTAND_TURNS", budget: "Entities", reasons: "window"},
			generated, recent, retained, excluded, viable,
			{tag: "entity_context", heading: "All Known Entities", write: (*page).otherKnown,
				source: "entity_refs", window: "what the sections above do not list: named in the message, chosen by the last reply, newest; 20 lines", budget: "Entities", reasons: "mentioned, recent"},
			constraintsInForce, openQuestion,
			{tag: "current_task", heading: "Current Task", write: (*page).currentTask,
				source: "turns", window: "current", reasons: "current"},
		}),
		rulesFor(vocab.NodeAct, []rule{
			{tag: "session_context", heading: "User Profile", unless: allAre, write: (*page).userProfile,
				source: "the domain's profile queries", window: "not in read steps", budget: "Profile", reasons: "profile"},
			{tag: "conversation_history", heading: "Conversation", write: (*page).conversation,
				source: "as in think", window: "as in think", budget: "Conversation, Message, Earlier", reasons: "window, summary"},
			{tag: "prior_turn_context", heading: "What Happened", write: (*page).narrative,
				source: "as in think", window: "as in think", budget: "Narrative, Earlier", reasons: "current, window, summary, recalled"},
			legend,
			{tag: "entity_context", heading: "Generated (NOT YET SAVED)", told: toldByLine, write: (*page).generatedInFull,
				source: "entities_at, artifacts", window: "any age", budget: "Entities, Drafts", reasons: "generated"},
			recent, retained, excluded, viable, constraintsInForce,
			{tag: "entity_context", heading: headJustSaved, told: toldByLine, write: (*page).justSaved,
				source: "entity_refs", window: "current", reasons: "current"},
			{tag: "entity_context", heading: "This Turn", told: toldByLine, write: (*page).firstSeenNow,
				source: "entities_at", window: "current", budget: "Entities", reasons: "current, mentioned"},
			{tag: "step_context", heading: "Guidance", declared: true, write: (*page).stepGuidance,
				source: "the domain, fixed text", window: "own subdomain, the step's type"},
			{tag: "step_context", heading: "User Preferences", unless: allAre, write: (*page).preferences,
				source: "the domain's guidance query", window: "own subdomain, not in read steps", budget: "Guidance", reasons: "profile"},
			{tag: "step_context", heading: "Schema", told: toldByLine, declared: true, write: (*page).schema,
				source: "the catalog", window: "own subdomain's tables and those asked for; in analyze steps their columns only", budget: "Schema", reasons: "schema"},
			{tag: "step_context", heading: "Current Step", told: toldByLine, write: (*page).currentStep,
				source: "turn_steps, turns, node_runs", window: "current", reasons: "current"},
			{tag: "data_to_analyze", heading: "Active Entities (Full Data)", told: toldByLine, write: (*page).fullData,
				source: "turn_step_results", window: "TURN_RETENTION_WINDOW and current", budget: "Rows", reasons: "current, recent"},
			{tag: "data_to_analyze", heading: "Step Results", told: toldByResults, write: (*page).stepResults,
				source: "turn_step_results, turn_steps", window: "current", budget: "Results", reasons: "current"},
		}),
		rulesFor(vocab.NodeReply, []rule{
			conversation,
			{tag: "execution_results", heading: "Execution Results", write: (*page).executionResults,
				source: "turn_steps, turn_step_results, artifacts, decisions", window: "current", budget: "Results, Drafts", reasons: "current, generated"},
			{tag: "execution_results", heading: "What You Know", write: (*page).knownFacts,
				source: "turn_step_results, turn_summaries, entity_refs, the domain's tables", window: "what the message and the plan name, else TURN_RETENTION_WINDOW", budget: "Results", reasons: "recent, mentioned"},
			{tag: "execution_results", heading: "Constraints", write: (*page).constraintsInForce,
				source: "constraints", window: "in force", budget: "Constraints", reasons: "constraint"},
			{tag: "execution_results", heading: "Open Question", write: (*page).questionToAsk,
				source: "questions", window: "asked in this turn", reasons: "question"},
			{tag: "conversation_flow", heading: "Conversation Flow", write: (*page).conversationFlow,
				source: "turn_summaries, turns", window: "last turn with a reply", reasons: "summary"},
			{tag: "reply_guidance", heading: "Reply Guidance", write: (*page).replyGuidance,
				source: "node_runs, decisions, entities_at, questions", window: "from the second turn on", reasons: "current"},
		}),
		rulesFor(vocab.NodeSummarize, []rule{
			{tag: "conversation_history", heading: "Conversation", write: (*page).thisExchange,
				source: "turns", window: "current", reasons: "current"},
			{tag: "execution_results", heading: "Execution Results", write: (*page).turnFacts,
				source: "turn_steps, turn_step_results, decisions", window: "current", reasons: "current, generated, recalled"},
		}),
		rulesFor(vocab.NodeCompress, []rule{
			{tag: "conversation_history", heading: "Conversation", write: (*page).conversationRange,
				source: "turns, history_summaries", window: "the range", budget: "Conversation, Message", reasons: "window, summary"},
			{tag: "conversation_history", heading: "What Happened", write: (*page).narrativeRange,
				source: "turn_summaries, history_summaries", window: "the range", budget: "Narrative", reasons: "window, summary"},
		}),
	)
}
