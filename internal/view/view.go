package view

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"

	"alfred/db"
	"alfred/internal/domain"
	"alfred/nodes"
)

// Windows say how far back a view reaches, in turns.
type Windows struct {
	RetentionWindow int  // of the recent tier, of What Happened, and of the rows shown
	FullDetailTurns int  // shown in full under Conversation
	UnderstandTurns int  // shown in full to Understand
	CompressOlder   bool // compress older turns in the background
	CompressEvery   int  // turns between compressions
}

// Full returns how many turns are shown in full under Conversation after turn last: at least FullDetailTurns. They
// accumulate until the oldest are compressed together, so that consecutive prompts begin alike.
func (w *Windows) Full(last int) int {
	if last <= w.FullDetailTurns {
		return w.FullDetailTurns
	}

	return w.FullDetailTurns + (last-w.FullDetailTurns)%max(w.CompressEvery, 1)
}

// View is what is loaded about one turn and the turns before it. It is plain data; only its Loader changes it.
type View struct {
	Domain *domain.Domain

	Turn *db.Turns
	// Began is when the turn did, in the user's time zone. Later writes by other jobs (a compressed history, a late
	// summary) must not change what this turn sees, nor midnight what it calls today.
	Began time.Time
	// HasInputs: the user changed or pointed at something that has not been applied yet. Such a view is not filled.
	HasInputs bool
	Answers   []*db.LlmCallAnswersRow // bought for the next decision
	// Round is the model call that the last decision came from, if it was one of act; see Continues.
	Round *nodes.Round

	Registry    []*db.EntityRefListInViewRow // in display order
	OlderCounts []*db.EntityRefCountOlderRow // what has left the window, by type
	Past        []*db.TurnListPastRow        // oldest first
	Earlier     map[string]*db.HistorySummaryListNewestRow
	Decisions   []*db.DecisionListRecentRow // newest first
	Constraints []*db.ConstraintListInForceRow
	Questions   []*db.QuestionListTurnRow // asked by this turn, answered by it, or open, in this order
	Steps       []*db.TurnSteps
	Runs        []*Run
	Results     []*Result
	Drafts      map[string]json.RawMessage
	Versions    Versions
	Events      map[int][]*db.EntityEventListWindowRow
	Profile     Profile
	Stale       map[string]string // ref -> "changed" or "gone" outside the conversation

	scenes       *scenes
	spoken       *spoken // what its texts name
	spokenBefore *spoken // what those of earlier turns name; nil until they have been read
	asked        *spoken // what was looked up in the registry for them
	// written is as of the load: it shows whether others have written since.
	written Written
}

// Versions are what a decision was based on. A commit does not overwrite what somebody else has written since.
type Versions struct {
	Drafts map[string]int               // by ref
	Rows   map[string]map[string]string // by type and key: as shown, or as of the probe
}

// Profile is what the domain's queries say about the user and the existing data.
type Profile struct {
	Profile, Snapshot []string
	Guidance          map[string]string // by subdomain
	Order             []string          // of Guidance
	Failed            bool

	known bool // whether the queries were run
}

// LogShown is how many of its own decisions Understand sees.
const LogShown = 10

// Window returns the last n turns, oldest first.
func (v *View) Window(n int) []*db.TurnListPastRow {
	return v.Past[max(0, len(v.Past)-n):]
}

// latest is the highest number of this turn and of those that ended before it: one that interrupted has a higher number.
func (v *View) latest() int32 {
	latest := v.Turn.Number
	for _, p := range v.Past {
		latest = max(latest, p.Number)
	}

	return latest
}

// Older returns the turns before the last n that the compressed text of this kind does not cover, oldest first.
func (v *View) Older(kind string, n int) []*db.TurnListPastRow {
	older := v.Past[:max(0, len(v.Past)-n)]
	covered := v.Earlier[kind]
	if covered == nil {
		return older
	}

	return slices.DeleteFunc(slices.Clone(older), func(p *db.TurnListPastRow) bool { return p.Number <= covered.ToTurn })
}

// Step returns the step to work on: the first that has not ended. Nil when all have.
func (v *View) Step() *db.TurnSteps {
	for _, step := range v.Steps {
		if step.Outcome == nil {
			return step
		}
	}

	return nil
}

// OnlyDrafts reports whether the turn's last step drafts, and all other steps prepared it: they wrote nothing, and found
// something. What an analysis among them concluded is known to whoever drafts.
func (v *View) OnlyDrafts(last *db.TurnSteps) bool {
	prepared := func(step *db.TurnSteps) bool {
		return step.StepType != db.StepTypeWrite && Is(step.Outcome, db.StepOutcomeOk)
	}

	return last.StepType == db.StepTypeGenerate && !slices.ContainsFunc(v.Steps, func(step *db.TurnSteps) bool { return step.Step != last.Step && !prepared(step) })
}

// Calls counts the decisions of a step that count against its limit: schema requests do not.
func (v *View) Calls(step int32) (counted int) {
	for _, acted := range v.ActsOf(step) {
		if acted.RequestSchema == nil {
			counted++
		}
	}

	return counted
}

// ClickedOption returns the id of the option of a question that the turn's message chose by a click, "" for an answer in words.
func (v *View) ClickedOption(question uuid.UUID) string {
	answer := gjson.GetManyBytes(v.Turn.Answer, "question_id", "option_id")
	if !strings.EqualFold(answer[0].Str, question.String()) {
		return ""
	}

	return answer[1].Str
}

// Answered returns the question that this turn answered, or nil.
func (v *View) Answered() *db.QuestionListTurnRow {
	for _, q := range v.Questions {
		if q.Status == "answered" && Is(q.AnsweredByTurn, v.Turn.Number) {
			return q
		}
	}

	return nil
}

// Is reports whether a value that may be missing is this one.
func Is[T comparable](value *T, this T) bool { return value != nil && *value == this }
