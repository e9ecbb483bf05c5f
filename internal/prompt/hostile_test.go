package prompt_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/clean"
	"alfred/internal/testfactory"
	"alfred/nodes"
)

// TestHostileTextsStayData puts every text of testdata/hostile.json wherever a row, a message or a model's words
// appear. Each prompt keeps the structure it has with a harmless text: no additional tag, heading, ref line or speaker,
// no other words to the system, and no key.
func TestHostileTextsStayData(t *testing.T) {
	t.Parallel()

	raw, err := os.ReadFile("testdata/hostile.json")
	require.NoError(t, err)
	var corpus map[string]string
	require.NoError(t, json.Unmarshal(raw, &corpus))
	require.GreaterOrEqual(t, len(corpus), 20)
	for name, attack := range corpus {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			harmless := prompts(t, harmlessly(attack))
			for node, frame := range prompts(t, attack) {
				require.Equal(t, skeleton(harmless[node]), skeleton(frame), "%s:\n%s", node, text(frame))
				require.Equal(t, harmless[node].Persona, frame.Persona)
				require.Equal(t, declared(harmless[node]), declared(frame), "all users share its record")
				require.NotRegexp(t, `(?i)[0-9a-f]{8}-[0-9a-f]{4}-|\b[0-9a-f]{32}\b`, text(frame), node)
				requireUnbroken(t, frame)
			}
		})
	}
}

// harmlessly is a harmless text of the same length and lines.
func harmlessly(attack string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == ' ' {
			return r
		}

		return 'x'
	}, strings.NewReplacer("{id}", "[id]", "{ID}", "[id]", "{hex}", "[id]").Replace(attack))
}

// prompts are those of every node in a session in which the attack is everywhere.
func prompts(t *testing.T, attack string) map[string]nodes.Frame {
	t.Helper()

	b := setup(t)
	id := uuid.NewString()
	attack = strings.NewReplacer("{id}", id, "{ID}", strings.ToUpper(id), "{hex}", strings.ReplaceAll(id, "-", "")).Replace(attack)
	quoted := jsonString(attack)
	past := testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: 1, Message: attack, Reply: attack, Goal: attack})
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "recipe_1", Label: attack, ID: id, LastRef: 2})
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "recipe_2", Label: attack, LastRef: 2, Excluded: attack})
	testfactory.Ref(t, b.tx, b.session, testfactory.RefOpts{Ref: "gen_recipe_1", Label: attack, LastRef: 2, Retained: attack})
	testfactory.Artifact(t, b.tx, b.session, "gen_recipe_1", `{"name": `+quoted+`}`)
	testfactory.Step(t, b.tx, past, testfactory.StepOpts{Outcome: new(db.StepOutcomeOk), Summary: attack, Note: attack, Description: attack})
	testfactory.Summary(t, b.tx, past)
	b.exec(t, `INSERT INTO constraints (user_id, session_id, text, kind, value, source_turn) VALUES ($1, $2, $3, 'other', to_jsonb($3::text), 1)`, b.user, b.session, attack)
	b.exec(t, `INSERT INTO questions (session_id, turn_id, kind, payload) VALUES ($1, $2, 'clarify', jsonb_build_object('text', $3::text, 'options', jsonb_build_array(jsonb_build_object('label', $3::text))))`,
		b.session, past.ID, attack)
	turn := testfactory.Turn(t, b.tx, b.session, testfactory.TurnOpts{Number: 2, Message: attack, Status: db.TurnStatusRunning})
	testfactory.Step(t, b.tx, turn, testfactory.StepOpts{Type: db.StepTypeWrite, Outcome: new(db.StepOutcomeOk), Conclusions: attack, Description: attack})
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{
		Step: 1, Type: "recipe",
		Rows: `[{"id": "recipe_1", "name": ` + quoted + `, "description": ` + quoted + `, "instructions": [` + quoted + `,` + quoted + `]}]`,
	})
	testfactory.StepResult(t, b.tx, turn, testfactory.ResultOpts{Step: 1, Call: 2, Tool: "db_read", Type: "recipe", Error: attack})
	summarize := b.summarize(t, turn)
	all := map[string]nodes.Frame{
		"understand": b.understand(t, turn).Frame, "think": b.think(t, turn).Frame, "act": b.act(t, turn, 1).Frame,
		"reply": b.reply(t, turn).Frame, "summarize": summarize.Frame,
	}
	all["compress"] = b.compress(t, 1).Frame

	return all
}

// declared are the bodies of the sections that say nothing of a conversation.
func declared(f nodes.Frame) []string {
	var bodies []string
	for _, block := range f.Blocks {
		for _, section := range block.Sections {
			if section.Declared {
				bodies = append(bodies, section.Body)
			}
		}
	}

	return bodies
}

// structure matches what gives a line meaning: tags, headings, refs, table rows, speakers.
var structure = regexp.MustCompile(`^\s*(?:(</?[a-z_]+>)$|(#+ .*)|- ((?:gen_)?[a-z_]+_\d+(?:\.\.[a-z_]+_\d+)?):|\| ((?:gen_)?[a-z_]+_\d+) \||(?i:[*_>\s]*((?:\[?turn \d+\]?[^:\n]*?\s)?(?:user|alfred|assistant|system|human|tool)\b(?: \([^)]*\))?)[*_]*\s*:))`)

// skeleton is a prompt's structure without its contents.
func skeleton(f nodes.Frame) []string {
	var bones []string
	for line := range strings.SplitSeq(text(f), "\n") {
		if match := structure.FindStringSubmatch(line); match != nil && match[2] != "### recipe_1" { // for its long texts
			bones = append(bones, strings.Join(match[1:], ""))
		}
	}

	return bones
}

// requireUnbroken checks that the printed prompt has exactly the frame's structure.
func requireUnbroken(t *testing.T, f nodes.Frame) {
	t.Helper()

	headings, tags := 0, 0
	for _, block := range f.Blocks {
		if len(block.Sections) > 0 {
			tags += 2
		}
		for _, section := range block.Sections {
			if section.Heading != "" {
				headings++
			}
			require.NotContains(t, section.Body, "</")
			require.NotRegexp(t, `\[/?(INST|SYSTEM_PROMPT|TOOL_CALLS)\]|<[|｜]`, section.Body, "K12: what a chat template is made of")
		}
	}
	for line := range strings.SplitSeq(text(f), "\n") {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "## ") || strings.HasPrefix(trimmed, "# ") {
			headings--
		}
		if strings.HasPrefix(trimmed, "<") {
			tags--
		}
	}
	require.Zero(t, headings, text(f))
	require.Zero(t, tags, text(f))
}

func jsonString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		fmt.Fprintf(&b, `\u%04x`, r)
	}
	b.WriteByte('"')

	return b.String()
}

// Identifiers are often part of a file's name or of an address.
func TestRedactTakesIdentifiersWithinWords(t *testing.T) {
	t.Parallel()
	const id = "01900000-0000-7000-8000-00000000010a"
	plain := strings.ReplaceAll(id, "-", "")
	for text, want := range map[string]string{
		"img_" + id + ".png": "img_[id].png", "x" + id + "y": "x[id]y", id + id: "[id][id]",
		"img_" + plain + "_2.png": "img_[id]_2.png", "img_" + id[:30]: "img_[id]", "img_" + id[:18] + "…": "img_[id]…",
		plain + "0": plain + "0", "call 4912345678-1234-56": "call 4912345678-1234-56", "img_20260112-1300": "img_20260112-1300",
	} {
		clean, _ := clean.Redact(text)
		require.Equal(t, want, clean)
	}
}

func TestRedactTakesCutIdentifiers(t *testing.T) {
	t.Parallel()

	const id = "84a4786a-bbba-472e-98a5-15f3a9c0d7e1"
	for end := 13; end <= len(id); end++ {
		for _, after := range []string{"", "…", " …"} {
			clean, found := clean.Redact("see " + id[:end] + after)
			require.Equal(t, "see [id]"+after, clean)
			require.Equal(t, 1, found)
		}
	}
	clean, found := clean.Redact("at 20260112-1300")
	require.Equal(t, "at 20260112-1300", clean)
	require.Zero(t, found)
}
