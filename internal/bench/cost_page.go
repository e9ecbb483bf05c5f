package main

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
