package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/llm"
	"alfred/internal/vocab"
)

// tokens returns a text estimated at n tokens.
func tokens(n int, letter string) string { return strings.Repeat(letter, n*runesPerToken) }

// simple costs one dollar per token read, a tenth from the cache, two per token cached, three per token written.
func simple(marked bool) *provider {
	return newProvider(profile{
		First: 1, Reads: 1000, Loads: 10_000, Writes: 10, Price: llm.Price{Input: 1e6, Cached: 1e5, Output: 3e6},
		Kept: 2e6, Least: 1024, Step: 128, Marked: marked,
	})
}

func TestPromptsAreCachedByPrefix(t *testing.T) {
	t.Parallel()

	p := newProvider(profiles()[0])
	prompt := func(texts ...string) (input, cached int) {
		parts := make([]part, len(texts))
		for i, text := range texts {
			parts[i].Text = text
		}
		input, cached, _ = p.prompt(parts)

		return input, cached
	}
	for _, asked := range []struct {
		about         string
		parts         []string
		input, cached int
	}{
		{"nothing is there yet", []string{tokens(2000, "a")}, 2000, 0},
		{"steps of 128 are", []string{tokens(2000, "a")}, 2000, 1920},
		{"parts make no difference", []string{tokens(1500, "a"), tokens(500, "a"), tokens(100, "b")}, 2100, 1920},
		{"what differs ends it", []string{tokens(1100, "a"), tokens(900, "c")}, 2000, 1024},
		{"one letter at the beginning ends all", []string{"x" + tokens(2000, "a")}, 2001, 0},
		{"short prefixes are not kept", []string{tokens(1000, "d"), tokens(2000, "e")}, 3000, 0},
		{"even when they come again", []string{tokens(1000, "d"), tokens(2000, "f")}, 3000, 0},
		{"short prompts are not kept", []string{tokens(1000, "g")}, 1000, 0},
		{"even when they come again", []string{tokens(1000, "g")}, 1000, 0},
	} {
		input, cached := prompt(asked.parts...)
		require.Equal(t, []int{asked.input, asked.cached}, []int{input, cached}, asked.about)
	}
}

// With marks, nothing after the last one is cached, and a growing prompt is read from the cache up to the last mark.
func TestMarkedPromptsAreCached(t *testing.T) {
	t.Parallel()

	p := simple(true)
	stable := part{tokens(1500, "a"), true}
	for _, asked := range []struct {
		about        string
		parts        []part
		cached, kept int
	}{
		{"the mark is kept", []part{stable, {Text: tokens(1000, "b")}}, 0, 1500},
		{"the rest was not", []part{stable, {Text: tokens(1000, "b")}}, 1500, 0},
		{"a mark at the end keeps all", []part{stable, {tokens(1000, "b"), true}}, 1500, 1000},
		{"what grows is read to its old end", []part{stable, {Text: tokens(1000, "b")}, {tokens(10, "c"), true}}, 2500, 10},
	} {
		_, cached, kept := p.prompt(asked.parts)
		require.Equal(t, []int{asked.cached, asked.kept}, []int{cached, kept}, asked.about)
	}
}

func TestTurnsArePriced(t *testing.T) {
	t.Parallel()

	calls := []call{{Parts: []part{{tokens(2000, "a"), true}, {Text: tokens(100, "b")}}, Output: 50, Words: true}}
	p := simple(true)
	require.InDelta(t, 2000*2+100+50*3, p.turn(calls).Dollars, 1e-6)
	require.InDelta(t, 2000*0.1+100+50*3, p.turn(calls).Dollars, 1e-6)
	for _, terms := range profiles() {
		require.Positive(t, terms.Price.Cached)
		require.Less(t, terms.Price.Cached, terms.Price.Input)
		require.GreaterOrEqual(t, terms.Kept, terms.Price.Input)
	}
}

// The first word arrives with the first token of the call that words the reply; all calls before it are complete.
func TestFirstWord(t *testing.T) {
	t.Parallel()

	deciding, wording := call{Parts: []part{{Text: tokens(500, "a")}}, Output: 30}, call{Parts: []part{{Text: tokens(200, "b")}}, Output: 70, Words: true}
	behind := call{Parts: []part{{Text: tokens(900, "c")}}, Output: 500, Behind: true}
	for _, had := range []struct {
		about          string
		calls          []call
		before, waited int
		seconds        float64
	}{
		{"an answer at once", []call{wording}, 0, 0, 1.2},
		{"a decision, then the reply", []call{deciding, wording, behind}, 1, 30, 1 + 0.5 + 3 + 1.2},
		{"a reply that code words", []call{deciding, behind}, 1, 30, 1 + 0.5 + 3},
		{"a reply that is asked for twice", []call{deciding, wording, wording}, 1, 30, 1 + 0.5 + 3 + 1.2},
	} {
		spent := simple(false).turn(had.calls)
		require.Equal(t, []int{len(had.calls), had.before, had.waited}, []int{spent.Calls, spent.Before, spent.Waited}, had.about)
		require.InDelta(t, had.seconds, spent.Seconds, 1e-9, had.about)
	}
	p := simple(false)
	cached := []call{{Parts: []part{{Text: tokens(2048, "d")}}, Words: true}}
	require.InDelta(t, 1+2.048, p.turn(cached).Seconds, 1e-9)
	require.InDelta(t, 1+0.2048, p.turn(cached).Seconds, 1e-9, "what is cached is read faster")
}

func TestConversationRepeatsItself(t *testing.T) {
	t.Parallel()

	all := conversation()
	for _, at := range points() {
		require.Equal(t, repeated(), all[at-1:at-1+len(repeated())])
	}
}

func TestAnswersAreSpelledOut(t *testing.T) {
	t.Parallel()

	schema := json.RawMessage(`{"type": "object", "properties": {"who": {"type": "string"}, "sure": {"type": "boolean"}, "list": {"type": "array", "items": {"type": "object", "properties":
		{"a": {"type": "string"}, "b": {"type": ["null", "integer"]}}}}, "ask": {"anyOf": [{"type": "object", "properties": {"q": {"type": "string"}}}, {"type": "null"}]}}}`)
	text, err := spelledOut(schema, json.RawMessage(`{"sure": true, "list": [{"a": "x"}], "else": 1}`))
	require.NoError(t, err)
	require.JSONEq(t, `{"who": "", "sure": true, "list": [{"a": "x", "b": null}], "ask": null}`, text)
	text, err = spelledOut(schema, json.RawMessage(`{"ask": {}}`))
	require.NoError(t, err)
	require.JSONEq(t, `{"who": "", "sure": null, "list": [], "ask": {"q": ""}}`, text)
}

func TestUsesInRounds(t *testing.T) {
	t.Parallel()

	read, write := used{Tool: vocab.ToolRead}, used{Tool: vocab.ToolCreate}
	require.Empty(t, inRounds(nil))
	require.Equal(t, [][]used{{read, read}, {write}, {read}}, inRounds([]used{read, read, write, read}))
}
