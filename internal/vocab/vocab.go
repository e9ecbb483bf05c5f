package vocab

import "slices"

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

// What stands beside the tools in results, though no model calls it.
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

// Tool is a data tool.
type Tool struct {
	Name   string
	Steps  []string // the types of the steps that may use it
	Rows   bool     // its results are rows of the domain
	Writes bool     // it changes rows of the domain
}

// Tools lists the data tools in the order in which models are offered them. The domain's operations come after them:
// they write.
var Tools = []Tool{
	{Name: ToolAnalyze, Steps: []string{StepAnalyze}},
	{Name: ToolGenerate, Steps: []string{StepGenerate}},
	{Name: ToolCreate, Steps: []string{StepWrite}, Rows: true, Writes: true},
	{Name: ToolUpdate, Steps: []string{StepWrite}, Rows: true, Writes: true},
	{Name: ToolDelete, Steps: []string{StepWrite}, Rows: true, Writes: true},
	{Name: ToolRead, Steps: []string{StepRead, StepWrite}, Rows: true},
	{Name: ToolRecall, Steps: []string{StepRead, StepAnalyze}},
	{Name: ToolCalculate, Steps: []string{StepRead, StepAnalyze, StepGenerate}},
}

// StepTools lists the data tools that a step of this type may use, none for an unknown type. No other is offered to it
// or accepted from it.
func StepTools(stepType string) []string {
	return names(func(t *Tool) bool { return slices.Contains(t.Steps, stepType) })
}

// DataTools lists the data tools.
func DataTools() []string { return names(func(*Tool) bool { return true }) }

// Writes reports whether a data tool changes rows of the domain.
func Writes(tool string) bool {
	return slices.Contains(names(func(t *Tool) bool { return t.Writes }), tool)
}

// CarriesRows reports whether a tool's results are rows of the domain, as those of its operations are, and not totals,
// formulas or drafts.
func CarriesRows(tool string) bool {
	i := slices.IndexFunc(Tools, func(t Tool) bool { return t.Name == tool })

	return i < 0 || Tools[i].Rows
}

func names(which func(*Tool) bool) (names []string) {
	for i := range Tools {
		if which(&Tools[i]) {
			names = append(names, Tools[i].Name)
		}
	}

	return names
}
