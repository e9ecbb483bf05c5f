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

Written by `+"`make bench/cost`"+` on %s; do not edit. A model of models: the prompts and the order of the calls are real, providers are
simulated. Nobody waited for anything, and no provider was asked.

One conversation about the kitchen, of %d turns: it reads, adds, drafts, saves, plans and thanks. From turn %s on the same %d messages
are sent, so that turns can be compared, and the tables have their mean: %s.

- **Alfred** has it on Postgres with the offline model. Its answers are made as long as instructions and schema ask of other models: all
  required fields, calls and the reply written beside the plan of an addition or a saved draft, a hundred words for each text of older turns.
- **An agent** has it after that, a model with tools in a loop on LangGraph.js (`+"`internal/bench/peers/langgraph/loop.mjs`"+`), with the tools,
  arguments, rows and replies that were recorded. It has no drafts: it words them in its reply and passes their content when they are saved.
  It is sent all turns, or the last ten and nothing older.

Tokens are estimated at four characters each, for all alike. The cache keeps prefixes of prompts, is empty at first and forgets nothing. **Before**
is what was complete before the first word that a person sees: calls, and the tokens that they wrote. What Alfred and the agents
do themselves is not counted (docs/benchmarks.md), nor what models think before they answer.

`, c.at.Format("2006-01-02 15:04 UTC"), c.turns, joined(points()), len(repeated()), kinds())
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

- **A draft begins later**: after the plan, with the words that introduce it; an agent begins at once. Saving it is sooner here: an agent writes all of it again.
- **A detail and small talk wait a little longer** than an agent's: before the words stands a whole decision, what was meant, what stays in view, what
  is asked for, the plan. An agent writes a call of a tool, or nothing.
- **Less of a prompt is cached**: the conversation grows at its end only until older turns are compressed, what is known of rows changes with every turn, each node has
  instructions and tools of its own, and those of the reply are too short to be cached at all. Where cached tokens cost a tenth, a whole history is the cheaper
  one up to some dozens of turns.
- **Compression** is a call every few turns for which nobody waits, but which is paid for.

An agent that is sent ten turns forgets the rest: what was excluded, agreed or drafted eleven turns ago. One that is sent all
has filled a window of 200,000 tokens soon after the last of these turns, and then has to begin again or to compress as well.

`

func (c *comparison) writeGoals(b *strings.Builder) {
	b.WriteString("## Goals\n\nAlfred's as multiples of the agent's: at turn 1 no later than 1.3 x, later on cheaper and sooner.\n\n| provider | turn | beside | dollars | | first word | |\n|---|--:|---|--:|---|--:|---|\n")
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
	fmt.Fprintf(b, "## %s, %s\n\n| from turn | | calls | before | tokens in | cached | tokens out | before | first word | a thousand turns |\n|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|\n", p.Provider, p.Model)
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
	fmt.Fprintf(b, "## By message\n\nThe same at %s from turn 50 on: calls before the first word, the wait for it, dollars for a thousand turns.\n\n| |", p.Provider)
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
	fmt.Fprintf(b, "\n## After a break\n\nProviders forget what nobody asks for within minutes. The %s of turn 200 when the cache is gone:\n\n| | |", repeated()[0].Kind)
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
	b.WriteString("\n## Terms\n\nAs published and measured until November 2026; prices and speeds change, and providers differ by the hour. Dollars are for a million tokens, speeds in tokens per second.\n\n" +
		"| | in | cached | put into the cache | out | first token | reads | reads cached | writes | cached from | sources |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n")
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
