package vocab

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// The nodes. Each is also the kind of its jobs.
const (
	NodeUnderstand = "understand"
	NodeThink      = "think"
	NodeAct        = "act"
	NodeReply      = "reply"
	NodeSummarize  = "summarize"
	NodeCompress   = "compress"
)

// The types of steps.
const (
	StepRead     = "read"
	StepAnalyze  = "analyze"
	StepGenerate = "generate"
	StepWrite    = "write"
)

// StepTypes lists the types of steps.
var StepTypes = []string{StepRead, StepAnalyze, StepGenerate, StepWrite}

// CanBeUndone is said when rows are deleted that can be restored.
const CanBeUndone = "This can be undone."

// NoWayBack ends what is said of an operation that has no inverse.
const NoWayBack = "cannot be taken back."

// The data tools.
const (
	ToolAnalyze   = "db_analyze"
	ToolCalculate = "calculate"
	ToolCreate    = "db_create"
	ToolDelete    = "db_delete"
	ToolGenerate  = "generate"
	ToolRead      = "db_read"
	ToolRecall    = "recall"
	ToolUpdate    = "db_update"
)

// The tools that end a step or ask, whatever its type.
const (
	ToolAskUser       = "ask_user"
	ToolBlocked       = "blocked"
	ToolRequestSchema = "request_schema"
	ToolStepComplete  = "step_complete"
)

// What a step may take; prompts say so, and code enforces it.
const (
	MaxStepCalls      = 6 // decisions that call tools; several calls in one answer count once
	MaxSchemaRequests = 2
)

// Results also carry these names, which no model calls.
const (
	ToolMention  = "mention"   // a row that the user pointed at
	ToolUIChange = "ui_change" // a row that the user changed on the page
	ToolUndo     = "undo"
)

// The kinds of question, by what asks them.
const (
	AskApprove      = "approve"
	AskClarify      = "clarify"
	AskDisambiguate = "disambiguate"
	AskPropose      = "propose"
	AskUser         = "ask_user"
)

// Call is one call of a data tool, with its arguments as the model wrote them (valid JSON).
type Call struct {
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args"`
}

// EveryStep lists the tools that end a step or ask, in the order in which models are offered them.
var EveryStep = []string{ToolStepComplete, ToolAskUser, ToolBlocked, ToolRequestSchema}

// Tool is a data tool.
type Tool struct {
	Name   string
	Steps  []string // the types of the steps that may use it
	Rows   bool     // its results are rows of the domain
	Reads  bool     // it looks something up
	Writes bool     // it changes rows of the domain
}

// Tools lists the data tools in the order in which models are offered them. The domain's operations follow them; they
// write.
var Tools = []Tool{
	{Name: ToolAnalyze, Steps: []string{StepAnalyze}, Reads: true},
	{Name: ToolGenerate, Steps: []string{StepGenerate}},
	{Name: ToolCreate, Steps: []string{StepWrite}, Rows: true, Writes: true},
	{Name: ToolUpdate, Steps: []string{StepWrite}, Rows: true, Writes: true},
	{Name: ToolDelete, Steps: []string{StepWrite}, Rows: true, Writes: true},
	{Name: ToolRead, Steps: []string{StepRead, StepWrite}, Rows: true, Reads: true},
	{Name: ToolRecall, Steps: []string{StepRead, StepAnalyze}, Reads: true},
	{Name: ToolCalculate, Steps: []string{StepRead, StepAnalyze, StepGenerate, StepWrite}},
}

// StepTools lists the data tools that a step of this type may use, none for an unknown type. Others are neither offered
// to it nor accepted from it.
func StepTools(stepType string) []string {
	return names(func(t *Tool) bool { return slices.Contains(t.Steps, stepType) })
}

// DataTools lists the data tools.
func DataTools() []string { return names(func(*Tool) bool { return true }) }

// WriteTools lists the data tools that change rows of the domain.
func WriteTools() []string { return names(func(t *Tool) bool { return t.Writes }) }

// Writes reports whether a data tool changes rows of the domain.
func Writes(tool string) bool { return slices.Contains(WriteTools(), tool) }

// Reads reports whether a data tool looks something up, and neither writes, drafts nor calculates.
func Reads(tool string) bool {
	return slices.Contains(names(func(t *Tool) bool { return t.Reads }), tool)
}

// CarriesRows reports whether a tool's results are rows of the domain, not totals, formulas or drafts. Results of the
// domain's operations are rows.
func CarriesRows(tool string) bool {
	return !slices.Contains(names(func(t *Tool) bool { return !t.Rows }), tool)
}

// TypeField holds the type of a row that is of another type than its call.
const TypeField = "_type"

// ActionField holds what an operation did to a row: created, updated or deleted it.
const ActionField = "_action"

func names(which func(*Tool) bool) (names []string) {
	for i := range Tools {
		if which(&Tools[i]) {
			names = append(names, Tools[i].Name)
		}
	}

	return names
}

// ReadsWhatChanges describes the step in which code reads what a planned write is to change.
const ReadsWhatChanges = "Read what the next step changes"

// SimilarNames begins what a read that finds no row says of the names that may have been meant. People are told it too.
const SimilarNames = "Similar names: "

// NoAccount is said where somebody sees no rows, and can save none, because no account is theirs. People are told it too.
const NoAccount = "No account is linked to this user yet, so there are no rows to show or change; whoever runs the assistant can link one."

// Aggregates are the functions of db_analyze.
var Aggregates = []string{"count", AggregateDistinct, "sum", "avg", "min", "max"}

// AggregateDistinct counts different values.
const AggregateDistinct = "count_distinct"

// noWord is what stands between the words of a path or a formula.
var noWord = regexp.MustCompile(`[^\pL\pN_]+`)

// AggregateName is what the number that a function makes of a column, "" or * for rows, is called if nobody says so.
func AggregateName(fn, column string) string {
	return strings.Trim(fn+"_"+strings.Trim(noWord.ReplaceAllString(column, "_"), "_"), "_")
}
