package nodes

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"
)

const (
	contractsDoc  = "../docs/prompts.md"
	contractsHead = "| Schema | Field | Type |\n|---|---|---|\n"
	contractsEnd  = "\n## What gives way first\n"
)

// V40: docs/prompts.md contains the output contracts as generated from the schemas; -update prints them.
func TestV40DocsShowTheContracts(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(contractsDoc)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(data), contractsHead)
	require.True(t, found)
	got, end, found := strings.Cut(rest, contractsEnd)
	require.True(t, found)
	want := contracts(t)
	if flag.Lookup("update").Value.String() == "true" {
		require.NoError(t, os.WriteFile(contractsDoc, []byte(before+contractsHead+want+contractsEnd+end), 0o600))

		return
	}
	require.Equal(t, want, got)
}

func contracts(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	understand, err := (&UnderstandInput{EntityTypes: []string{"..."}, Plan: &ThinkInput{Subdomains: []string{"..."}}}).together()()
	require.NoError(t, err)
	think, err := newSchema[thinkAnswer]((&ThinkInput{Subdomains: []string{"..."}}).enums(""))
	require.NoError(t, err)
	summarize, err := newSchema[SummarizeOutput](map[string][]string{"conversation_phase": phases, "tone": tones})
	require.NoError(t, err)
	compress, err := newSchema[CompressOutput](nil)
	require.NoError(t, err)
	for i, s := range []json.RawMessage{understand, think, summarize, compress} {
		var root jsonschema.Schema
		require.NoError(t, json.Unmarshal(s, &root))
		describe(&b, []string{"understand", "think", "summarize", "compress"}[i], "", &root)
	}

	return b.String()
}

// describe prints an object's fields with their types.
func describe(b *strings.Builder, name, path string, s *jsonschema.Schema) {
	for _, field := range slices.Sorted(func(yield func(string) bool) {
		for field := range s.Properties {
			if !yield(field) {
				return
			}
		}
	}) {
		one, kind := s.Properties[field], ""
		for _, option := range one.AnyOf {
			if option.Type == "null" {
				kind = ", or null"
			} else if option.Type != "" && (option.Type == "object" || len(option.Enum) > 0) {
				one = option
			}
		}
		at := path + field
		if one.Type == "array" && one.Items != nil {
			at, one = at+"[]", one.Items
		}
		switch {
		case len(one.Enum) > 0:
			kind = strings.Trim(strings.Join(strings.Fields(fmt.Sprint(one.Enum)), ", "), "[]") + kind
		case one.Type != "":
			kind = one.Type + kind
		case len(one.Types) > 0:
			kind = strings.Join(one.Types, " or ")
		default:
			kind = "any plain value"
		}
		b.WriteString("| " + name + " | `" + at + "` | " + kind + " |\n")
		if one.Type == "object" {
			describe(b, name, at+".", one)
		}
	}
}
