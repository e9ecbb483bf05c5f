package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/color"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"alfred/internal/llm"
)

// speaker is a participant in the conversation: the calls of each turn, and their cost at each provider.
type speaker struct {
	Name  string
	color color.RGBA
	calls [][]call
	spent map[string][]spent
}

// measureCost holds the conversation with Alfred, plays it to the agents and asks the providers what it costs.
func measureCost(ctx context.Context, address string) (c *comparison, picture string, err error) {
	if err := installLangGraph(ctx); err != nil {
		return nil, "", err
	}
	talk, err := recordTalk(ctx, address, conversation())
	if err != nil {
		return nil, "", fmt.Errorf("have the conversation: %w", err)
	}
	speakers := []*speaker{{Name: "Alfred", color: color.RGBA{27, 108, 168, 255}}, {Name: "agent, all turns", color: color.RGBA{181, 84, 28, 255}}, {Name: "agent, last ten", color: color.RGBA{59, 125, 59, 255}}}
	for _, turn := range talk.Turns {
		speakers[0].calls = append(speakers[0].calls, turn.calls)
	}
	for i, kept := range []int{0, 10} {
		if speakers[i+1].calls, err = talk.loop(ctx, kept); err != nil {
			return nil, "", fmt.Errorf("%s: %w", speakers[i+1].Name, err)
		}
	}
	for _, s := range speakers {
		s.bill()
	}
	c = &comparison{At: time.Now().UTC().Format(toTheMinute), Turns: len(talk.Turns), Speakers: speakers}
	picture, err = c.plot()

	return c, picture, err
}

// bill has each provider answer the turns, starting with an empty cache.
func (s *speaker) bill() {
	s.spent = map[string][]spent{}
	for _, terms := range profiles() {
		p := newProvider(terms)
		for _, calls := range s.calls {
			s.spent[terms.Provider] = append(s.spent[terms.Provider], p.turn(calls))
		}
	}
}

// Mean averages the repeated messages from a turn on.
func (s *speaker) Mean(provider string, from int) mean {
	m := mean{Name: s.Name, turns: float64(len(repeated()))}
	for _, turn := range s.spent[provider][from-1 : from-1+len(repeated())] {
		m.add(turn)
	}

	return m
}

// One is what the repeated message at a place from a turn on cost.
func (s *speaker) One(provider string, from, place int) mean {
	return mean{spent: s.spent[provider][from-1+place], Name: s.Name, turns: 1}
}

// Cold is what a turn costs long after the one before, when the provider has forgotten all.
func (s *speaker) Cold(p profile, turn int) spent { return newProvider(p).turn(s.calls[turn-1]) }

// mean of a number of turns, whose sum it holds.
type mean struct {
	spent

	Name  string
	turns float64
}

// Of is a turn's part of a sum.
func (m mean) Of(n int) float64 { return float64(n) / m.turns }

// Hits is the cached part of the prompts, in percent.
func (m mean) Hits() float64 { return 100 * float64(m.Cached) / float64(m.Input) }

// Thousand is what a thousand turns cost, in dollars.
func (m mean) Thousand() float64 { return 1000 * m.Dollars / m.turns }

// Wait is how long the first word takes, in seconds.
func (m mean) Wait() float64 { return m.Seconds / m.turns }

// loop plays the conversation to an agent on LangGraph.js that is sent the last turns, or all of them if kept is 0.
func (t *talk) loop(ctx context.Context, kept int) ([][]call, error) {
	input, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "node", filepath.Join(langGraph(), "loop.mjs"), "--turns", strconv.Itoa(kept))
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("run it: %w", err)
	}
	turns, sent := make([][]call, len(t.Turns)), []part{}
	for lines := json.NewDecoder(bytes.NewReader(out)); lines.More(); {
		var line struct {
			Turn    int            `json:"turn"`
			Added   []string       `json:"added"`
			Skipped int            `json:"skipped"`
			Text    string         `json:"text"`
			Calls   []llm.ToolCall `json:"calls"`
		}
		if err := lines.Decode(&line); err != nil {
			return nil, fmt.Errorf("read its calls: %w", err)
		}
		for _, text := range line.Added {
			sent = append(sent, part{Text: text})
		}
		parts := append([]part{{t.tools, true}, {t.system, true}}, sent[line.Skipped:]...)
		parts[len(parts)-1].Mark = true
		answer := llm.Response{Text: line.Text, ToolCalls: line.Calls}
		turns[line.Turn] = append(turns[line.Turn], call{Parts: parts, Output: answer.EstimateTokens(), Words: line.Text != ""})
	}

	return turns, nil
}

// comparison is the content of docs/cost.md. Alfred is the first speaker.
type comparison struct {
	At       string
	Turns    int
	Speakers []*speaker
}

// costGoal compares Alfred with an agent from a turn on.
type costGoal struct {
	Provider, Agent    string
	Turn               int
	Dollars, Wait, Aim float64 // of the agent's; what the wait may be
	Later              bool    // cost is a goal, too
}

// Goals are those at each provider.
func (c *comparison) Goals() []costGoal {
	var goals []costGoal
	for _, p := range profiles() {
		for _, at := range []int{1, 50, 200} {
			ours := c.Speakers[0].Mean(p.Provider, at)
			for _, agent := range c.Speakers[1:] {
				theirs := agent.Mean(p.Provider, at)
				goal := costGoal{Provider: p.Provider, Agent: agent.Name, Turn: at, Dollars: ours.Thousand() / theirs.Thousand(), Wait: ours.Wait() / theirs.Wait(), Aim: 1, Later: at > 1}
				if !goal.Later {
					goal.Aim = 1.3
				}
				goals = append(goals, goal)
			}
		}
	}

	return goals
}

// plot draws what a turn costs and takes at the first provider, as multiples of Alfred's first turns.
func (c *comparison) plot() (string, error) {
	provider := profiles()[0].Provider
	first := c.Speakers[0].Mean(provider, 1)
	var lines []series
	for _, figure := range []struct {
		name   string
		dashed bool
		of     func(mean) float64
	}{{"dollars", false, mean.Thousand}, {"wait", true, mean.Wait}} {
		for _, s := range c.Speakers {
			line := series{name: s.Name + ": " + figure.name, color: s.color, dashed: figure.dashed, base: figure.of(first)}
			for _, at := range points() {
				line.values = append(line.values, figure.of(s.Mean(provider, at)))
			}
			lines = append(lines, line)
		}
	}

	return draw("from turn, at "+provider, points(), lines)
}
