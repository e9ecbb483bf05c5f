package view

import (
	"encoding/json"
	"slices"
	"time"

	"alfred/db"
	"alfred/domain"
	"alfred/nodes"
)

// Windows say how far back a view reaches, in turns.
type Windows struct {
	RetentionWindow int  // turns in the recent tier, in What Happened, and whose rows are shown
	FullDetailTurns int  // turns in full under Conversation
	UnderstandTurns int  // turns in full for Understand
	CompressOlder   bool // older turns are compressed in the background
	CompressEvery   int  // turns from one compression to the next
}

// View is what is loaded of one turn and of what came before it. It is plain data;
// nobody but its Loader changes it.
type View struct {
	Domain  *domain.Domain
	Windows Windows

	Turn *db.Turns
	// Before is when the turn began, in the user's time zone. What other jobs write later (a compressed history, a late
	// summary) must not change what this turn sees, nor midnight what it calls today.
	Before time.Time
	// HasInputs: the user changed or pointed at something that is not applied yet. Such a view is not filled.
	HasInputs bool
	// Void: the plan that came with Understand's answer does not fit what is known now, and Think has to be asked.
	Void    bool
	Answers []*db.LlmCallAnswersRow // bought for the decision to make

	Registry    []*db.EntityRefListInViewRow // in display order
	OlderCounts []*db.EntityRefCountOlderRow // by type, what has left the window
	Past        []*db.TurnListPastRow        // oldest first
	Earlier     map[string]*db.HistorySummaryListNewestRow
	Decisions   []*db.DecisionListRecentRow // newest first
	Constraints []*db.ConstraintListInForceRow
	Questions   []*db.QuestionListTurnRow // asked by this turn, answered by it, open
	Steps       []*db.TurnSteps
	Runs        []*db.NodeRunListMadeRow
	Results     []*Result
	Drafts      map[string]json.RawMessage
	Versions    Versions
	Events      map[int][]*db.EntityEventListWindowRow
	Profile     Profile
	Stale       map[string]string // ref -> "changed" or "gone": behind the conversation's back

	spoken *spoken // what its texts name
	asked  *spoken // what was looked up of it in the registry
	// The versions of session and user as of when the view was loaded: what others write goes by them.
	sessionVersion, userVersion int64
}

// Versions are those of what a decision is made on. Who has written something else since is not written over.
type Versions struct {
	Drafts map[string]int               // by ref
	Rows   map[string]map[string]string // by type and key: of the row as it is shown, or as it was when the view was probed
}

// Profile is what the domain's queries say of the user and of what exists.
type Profile struct {
	Profile, Snapshot []string
	Guidance          map[string]string // by subdomain
	Order             []string          // of guidance
	Failed            bool

	known bool // whether the queries were asked
}

// LogShown is how many of its own decisions Understand sees.
const LogShown = 10

// Window returns the last n turns, oldest first.
func (v *View) Window(n int) []*db.TurnListPastRow {
	return v.Past[max(0, len(v.Past)-n):]
}

// Older returns the turns before the last n that the compressed text of a kind
// does not cover, oldest first.
func (v *View) Older(kind string, n int) []*db.TurnListPastRow {
	older := v.Past[:max(0, len(v.Past)-n)]
	covered := v.Earlier[kind]
	if covered == nil {
		return older
	}

	return slices.DeleteFunc(slices.Clone(older), func(p *db.TurnListPastRow) bool { return p.Number <= covered.ToTurn })
}

// Carried is the plan that came with the answer in which the message was understood, until it is followed or
// something else decided; nil if there is none.
func (v *View) Carried() *nodes.ThinkOutput {
	if len(v.Runs) == 0 || v.Void {
		return nil
	}
	var made struct {
		Think *nodes.ThinkOutput `json:"think"`
	}
	if last := v.Runs[len(v.Runs)-1]; last.Node != "understand" || json.Unmarshal(last.Output, &made) != nil {
		return nil
	}

	return made.Think
}

// Step is the step to work on: the first that has not ended. Nil when all have.
func (v *View) Step() *db.TurnSteps {
	for _, step := range v.Steps {
		if step.Outcome == nil {
			return step
		}
	}

	return nil
}

// Calls is how many decisions a step has taken, and how many of them count
// against its limit: asking for a schema does not.
func (v *View) Calls(step int) (taken, counted int) {
	for _, run := range v.Runs {
		if run.Node != "act" || run.Step == nil || int(*run.Step) != step {
			continue
		}
		taken++
		var output nodes.ActOutput
		if json.Unmarshal(run.Output, &output) != nil || output.RequestSchema == nil {
			counted++
		}
	}

	return taken, counted
}

// Question is the one that the turn has to do with: the one it asked or answered,
// else the open one; nil if there is none.
func (v *View) Question() *db.QuestionListTurnRow {
	if len(v.Questions) == 0 {
		return nil
	}

	return v.Questions[0]
}

// Answered is the question that this turn answered, or nil.
func (v *View) Answered() *db.QuestionListTurnRow {
	for _, q := range v.Questions {
		if q.Status == "answered" && q.AnsweredByTurn != nil && *q.AnsweredByTurn == v.Turn.Number {
			return q
		}
	}

	return nil
}
