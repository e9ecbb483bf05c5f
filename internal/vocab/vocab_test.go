package vocab_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/vocab"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// The database knows the same words, and no others.
func TestTheDatabaseHoldsTheSameWords(t *testing.T) {
	t.Parallel()
	tx := dbtest.Tx(t)
	var stepTypes []string
	require.NoError(t, tx.QueryRow(t.Context(), `SELECT enum_range(NULL::step_type)::text[]`).Scan(&stepTypes))
	require.Equal(t, vocab.StepTypes, stepTypes)

	nodes := []string{vocab.NodeUnderstand, vocab.NodeThink, vocab.NodeAct, vocab.NodeReply, vocab.NodeSummarize}
	for check, words := range map[string][]string{
		"node_runs_node_known":     nodes,
		"turns_current_node_known": nodes,
		"questions_kind_known":     {vocab.AskApprove, vocab.AskClarify, vocab.AskDisambiguate, vocab.AskPropose, vocab.AskUser},
	} {
		var definition string
		require.NoError(t, tx.QueryRow(t.Context(), `SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = $1 AND conparentid = 0`, check).Scan(&definition))
		var known []string
		for _, quoted := range regexp.MustCompile(`'(\w+)'`).FindAllStringSubmatch(definition, -1) {
			known = append(known, quoted[1])
		}
		require.ElementsMatch(t, words, known, check)
	}
}

func TestEachStepHasItsTools(t *testing.T) {
	t.Parallel()
	for stepType, tools := range map[string][]string{
		vocab.StepRead:     {vocab.ToolRead, vocab.ToolRecall, vocab.ToolCalculate},
		vocab.StepAnalyze:  {vocab.ToolAnalyze, vocab.ToolRecall, vocab.ToolCalculate},
		vocab.StepGenerate: {vocab.ToolGenerate, vocab.ToolCalculate},
		vocab.StepWrite:    {vocab.ToolCreate, vocab.ToolUpdate, vocab.ToolDelete, vocab.ToolRead, vocab.ToolCalculate},
		"dance":            nil,
	} {
		require.Equal(t, tools, vocab.StepTools(stepType))
	}
}

// What a tool does decides how drafts, retries and the page treat its results. Operations of the domain write and
// return rows, but are not data tools.
func TestWhatEachToolDoes(t *testing.T) {
	t.Parallel()
	for tool, does := range map[string]struct{ reads, writes, rows bool }{
		vocab.ToolRead:      {reads: true, rows: true},
		vocab.ToolAnalyze:   {reads: true},
		vocab.ToolRecall:    {reads: true},
		vocab.ToolCalculate: {},
		vocab.ToolGenerate:  {},
		vocab.ToolCreate:    {writes: true, rows: true},
		vocab.ToolUpdate:    {writes: true, rows: true},
		vocab.ToolDelete:    {writes: true, rows: true},
		"an_operation":      {rows: true},
	} {
		require.Equal(t, does.reads, vocab.Reads(tool), tool)
		require.Equal(t, does.writes, vocab.Writes(tool), tool)
		require.Equal(t, does.rows, vocab.CarriesRows(tool), tool)
	}
}
