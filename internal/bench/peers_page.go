package main

import (
	"fmt"
	"strings"
)

// The contestants' places.
const (
	placeAlfred = iota
	placeDBOS
	placeADK
	placeLangGraph
)

// peersPage is the content of docs/peers.md.
type peersPage struct {
	facts

	Analyzed int // turns of a history after the tables are analyzed
	Outcomes []outcome
}

// ratios are Alfred's turns per second as multiples of each peer's.
func ratios(scores []*score) string {
	var parts []string
	for _, x := range scores[1:] {
		parts = append(parts, fmt.Sprintf("%.2f x %s", scores[placeAlfred].PerSecond()/x.PerSecond(), x.Who.Name))
	}

	return strings.Join(parts, ", ")
}

// peerGoal is what Alfred's turns per second should be, as a multiple of a peer's, and what they are.
type peerGoal struct {
	peer, place int // of the contest
	Keeping     bool
	Aim         float64

	contest

	Peer     contestant
	Measured float64
}

// Goals compares the tables' ratios with what they should be.
func (p *peersPage) Goals() []peerGoal {
	goals := []peerGoal{
		{peer: placeLangGraph, place: 0, Aim: 1.5}, {peer: placeLangGraph, place: 1, Aim: 1.2},
		{peer: placeLangGraph, place: 3, Aim: 3}, {peer: placeLangGraph, place: 4, Aim: 20},
		{peer: placeLangGraph, place: 0, Keeping: true, Aim: 3}, {peer: placeLangGraph, place: 1, Keeping: true, Aim: 3},
		{peer: placeDBOS, place: 0, Keeping: true, Aim: 0.5}, {peer: placeDBOS, place: 1, Keeping: true, Aim: 0.5},
	}
	for i := range goals {
		g := &goals[i]
		o := p.Outcomes[g.place]
		scores := o.Bare
		if g.Keeping {
			scores = o.Kept
		}
		g.contest, g.Peer, g.Measured = o.contest, scores[g.peer].Who, scores[placeAlfred].PerSecond()/scores[g.peer].PerSecond()
	}

	return goals
}

// spending is what a turn takes in a contest.
type spending struct {
	contest

	Columns []column
}

// column is a contestant, bare or keeping.
type column struct {
	*score

	Name string
	Sent *score // counted the queries
}

// Waited is the part of a turn in which neither program nor backend has a processor, in milliseconds. It is meaningful
// only for one session, because several wait for each other.
func (c column) Waited() float64 { return c.Turn() - millis(c.CPU.Own) - millis(c.CPU.Server) }

// Spent says what a turn takes in the first two contests. Queries were counted with one session.
func (p *peersPage) Spent() []spending {
	var all []spending
	single := p.Outcomes[0]
	for _, o := range p.Outcomes[:2] {
		s := spending{o.contest, []column{{o.Bare[placeAlfred], o.Bare[placeAlfred].Who.Name, o.Bare[placeAlfred]}}}
		for i := placeDBOS; i < len(o.Bare); i++ {
			s.Columns = append(s.Columns, column{o.Bare[i], o.Bare[i].Who.Name + ", bare", single.Bare[i]}, column{o.Kept[i], o.Kept[i].Who.Name + ", the same kept", single.Kept[i]})
		}
		all = append(all, s)
	}

	return all
}

// Share is a part of the difference between Alfred and DBOS Transact, bare.
func (s spending) Share(part float64) string {
	return fmt.Sprintf("%.1f ms | %.0f %%", part, 100*part/(s.Columns[placeAlfred].Turn()-s.Columns[placeDBOS].Turn()))
}
