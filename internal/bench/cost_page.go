package main

import (
	"fmt"
	"strings"
	"time"
)

// comparison is the content of docs/cost.md. Alfred is the first speaker.
type comparison struct {
	at       time.Time
	turns    int
	speakers []*speaker
}

func (c *comparison) page() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# What models cost in a long conversation

Written by `+"`make bench/cost`"+` on %s; do not edit. The prompts and the order of the calls are real; the providers
are simulated by their published prices and speeds. No provider was called.

One conversation of %d turns about the kitchen reads, adds, drafts, saves, plans and thanks. To make turns comparable, the same %d messages are sent from turn %s
on, and the tables show their mean: %s.

- **Alfred** holds the conversation on Postgres with the offline model. Its answers are padded to the length that instructions and schema ask of other models: all
  required fields, calls and the reply beside the plan of an addition or a saved draft, and a hundred words for each text of older turns.
- **An agent** then holds the same conversation: a model with tools in a loop on LangGraph.js (`+"`internal/bench/peers/langgraph/loop.mjs`"+`), with the recorded tools,
  arguments, rows and replies. It has no drafts: it writes them in its reply and passes their content to a tool to save them.
  It is sent all turns, or only the last ten.

Tokens are estimated at four characters each. The cache keeps prefixes of prompts, is empty at first and forgets nothing. **Before** counts
the calls that were complete before the first word the user sees, and the tokens they wrote. The programs' own work is not counted
(see [benchmarks.md](benchmarks.md)), nor is thinking before an answer.

`, c.at.Format("2006-01-02 15:04 UTC"), c.turns, len(repeated()), joined(points()), kinds())
	c.writeGoals(&b)
	b.WriteString("\n![dollars and seconds by turn](cost.svg)\n\n")
	b.WriteString(worse)
	for _, p := range profiles() {
		c.writeProvider(&b, p)
	}
	c.writeKinds(&b, profiles()[0])
	c.writeCold(&b)
	writeTerms(&b)

	return b.String()
}

// worse explains where the figures favour others.
const worse = `## Where Alfred is worse, and why

- **A draft starts later**: after the plan, with the sentences that introduce it, while an agent starts at once. Alfred saves a draft sooner, because an agent writes all of it again.
- **A detail and small talk start a little later**: Alfred first writes a whole decision (what was meant, what stays in view, what is asked for, the plan). An
  agent writes a tool call, or nothing.
- **Less of a prompt is cached**: the conversation only grows at its end until older turns are compressed, the known rows change with every turn, each node has
  its own instructions and tools, and the reply's are too short to be cached. Where cached tokens cost a tenth, sending the whole history is cheaper for the first few dozen
  turns.
- **Compression** costs a call every few turns, though nobody waits for it.

An agent that is sent ten turns forgets the rest: anything excluded, agreed or drafted eleven turns ago. An agent that is sent all turns
fills a window of 200,000 tokens soon after the last of these turns, and then must start over or compress too.

`

func (c *comparison) writeGoals(b *strings.Builder) {
	b.WriteString("## Goals\n\nAlfred's figures as multiples of the agent's. The goals: at turn 1 a first word within 1.3 x; later, cheaper and sooner.\n\n| provider | turn | compared with | dollars | | first word | |\n|---|--:|---|--:|---|--:|---|\n")
	for _, p := range profiles() {
		for _, at := range []int{1, 50, 200} {
			ours := c.speakers[0].mean(p.Provider, at)
			for _, agent := range c.speakers[1:] {
				theirs := agent.mean(p.Provider, at)
				dollars, wait, cheaper, aim := ours.thousand()/theirs.thousand(), ours.seconds()/theirs.seconds(), "", 1.0
				if at == 1 {
					aim = 1.3
				} else {
					cheaper = verdict(dollars < 1)
				}
				fmt.Fprintf(b, "| %s | %d | %s | %.2f x | %s | %.2f x | %s |\n", p.Provider, at, agent.Name, dollars, cheaper, wait, verdict(wait <= aim))
			}
		}
	}
}

func (c *comparison) writeProvider(b *strings.Builder, p profile) {
	fmt.Fprintf(b, "## %s, %s\n\n| from turn | | calls | calls before | tokens in | cached | tokens out | out before | first word | 1,000 turns |\n|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|\n", p.Provider, p.Model)
	for _, at := range points() {
		for _, s := range c.speakers {
			m := s.mean(p.Provider, at)
			fmt.Fprintf(b, "| %d | %s | %.1f | %.1f | %.0f | %.0f %% | %.0f | %.0f | %.2f s | $%.2f |\n", at, s.Name, m.of(m.sum.Calls), m.of(m.sum.Before), m.of(m.sum.Input),
				100*float64(m.sum.Cached)/float64(m.sum.Input), m.of(m.sum.Output), m.of(m.sum.Waited), m.seconds(), m.thousand())
		}
	}
	b.WriteString("\n")
}

func (c *comparison) writeKinds(b *strings.Builder, p profile) {
	fmt.Fprintf(b, "## By message\n\nAt %s, from turn 50 on: calls before the first word, time to it, and dollars per 1,000 turns.\n\n| |", p.Provider)
	for _, s := range c.speakers {
		fmt.Fprintf(b, " %s | | |", s.Name)
	}
	b.WriteString("\n|---|" + strings.Repeat("--:|", 3*len(c.speakers)) + "\n")
	for i, message := range repeated() {
		fmt.Fprintf(b, "| %s |", message.Kind)
		for _, s := range c.speakers {
			turn := s.spent[p.Provider][50-1+i]
			fmt.Fprintf(b, " %d | %.2f s | $%.2f |", turn.Before, turn.Seconds, 1000*turn.Dollars)
		}
		b.WriteString("\n")
	}
}

// writeCold repeats the first message of each point, long after the turn before.
func (c *comparison) writeCold(b *strings.Builder) {
	fmt.Fprintf(b, "\n## After a break\n\nProviders drop unused cache entries within minutes. The %s of turn 200 with an empty cache:\n\n| | |", repeated()[0].Kind)
	for _, s := range c.speakers {
		fmt.Fprintf(b, " %s |", s.Name)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("--:|", len(c.speakers)) + "\n")
	for _, p := range profiles() {
		fmt.Fprintf(b, "| %s | first word, one turn |", p.Provider)
		for _, s := range c.speakers {
			turn := newProvider(p).turn(s.calls[200-1])
			fmt.Fprintf(b, " %.2f s, $%.4f |", turn.Seconds, turn.Dollars)
		}
		b.WriteString("\n")
	}
}

// writeTerms states the assumptions.
func writeTerms(b *strings.Builder) {
	b.WriteString("\n## Prices and speeds\n\nAs published and measured until November 2026. Prices and speeds change, and providers vary by the hour. Prices are dollars per million tokens, speeds are tokens per second.\n\n" +
		"| | in | cached | written to the cache | out | first token | reads | reads cached | writes | cached from (tokens) | sources |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n")
	for _, p := range profiles() {
		fmt.Fprintf(b, "| %s | $%g | $%g | $%g | $%g | %g s | %g | %g | %g | %d | %s |\n", p.Model, p.Price.Input, p.Price.Cached, p.Kept, p.Price.Output, p.First, p.Reads, p.Loads, p.Writes, p.Least, p.Sources)
	}
}

// plot draws what a turn costs and takes at the first provider, as multiples of Alfred's first turns.
func (c *comparison) plot() (string, error) {
	provider := profiles()[0].Provider
	first := c.speakers[0].mean(provider, 1)
	var lines []series
	for _, figure := range []struct {
		name   string
		dashed bool
		of     func(mean) float64
	}{{"dollars", false, mean.thousand}, {"wait", true, mean.seconds}} {
		for _, s := range c.speakers {
			line := series{name: s.Name + ": " + figure.name, color: s.color, dashed: figure.dashed, base: figure.of(first)}
			for _, at := range points() {
				line.values = append(line.values, figure.of(s.mean(provider, at)))
			}
			lines = append(lines, line)
		}
	}

	return draw("from turn, at "+provider, points(), lines)
}

func kinds() string {
	names := make([]string, 0, len(repeated()))
	for _, message := range repeated() {
		names = append(names, fmt.Sprintf("%s (%q)", message.Kind, message.Say))
	}

	return strings.Join(names, ", ")
}

func joined(numbers []int) string {
	last := len(numbers) - 1

	return strings.ReplaceAll(strings.Trim(fmt.Sprint(numbers[:last]), "[]"), " ", ", ") + fmt.Sprintf(" and %d", numbers[last])
}
