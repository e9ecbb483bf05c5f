package prompt

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	docs  = "../../docs/prompts.md"
	head  = "| Node | Tag | Heading | Source | Window | Budget |\n|---|---|---|---|---|---|\n"
	after = "\n## Output contracts\n"
)

// docs/prompts.md shows the table of sections with the default budgets; -update prints it.
func TestDocsShowTheTable(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(docs)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(data), head)
	require.True(t, found)
	got, end, found := strings.Cut(rest, after)
	require.True(t, found)
	want := printed(t)
	if flag.Lookup("update").Value.String() == "true" {
		require.NoError(t, os.WriteFile(docs, []byte(before+head+want+after+end), 0o600))

		return
	}
	require.Equal(t, want, got)
}

func printed(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	config := DefaultConfig()
	used := map[string]bool{}
	for _, rule := range table() {
		var budgets []string
		for _, name := range names(rule.budget) {
			field := reflect.ValueOf(config.Budget).FieldByName(name)
			require.True(t, field.IsValid(), name)
			budgets = append(budgets, fmt.Sprint(name, " ", field.Int()))
			used[name] = true
		}
		if len(budgets) == 0 {
			budgets = []string{"-"}
		}
		heading := strings.TrimPrefix(rule.title(config), "## ")
		cells := []string{rule.node, rule.tag, heading, rule.source, rule.window, strings.Join(budgets, ", ")}
		b.WriteString(strings.Join(slices.Insert(cells, 0, ""), " | ")[1:] + " |\n")
	}
	require.Len(t, used, reflect.TypeFor[Budget]().NumField(), "every budget bounds a section")

	return strings.ReplaceAll(b.String(), "|  |", "| |")
}

func names(list string) []string {
	return slices.DeleteFunc(strings.Split(list, ", "), func(name string) bool { return name == "" })
}
