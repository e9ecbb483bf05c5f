package view

import (
	"alfred/db"
	"alfred/internal/clean"
)

// Scene is a view with what follows from it: its entities, each with its newest known row.
type Scene struct {
	*View

	Number   int                     // the turn's
	Question *db.QuestionListTurnRow // the turn's: the one it asked or answered, else the open one; nil if there is none

	Entities []*Entity // in display order
	ByRef    map[string]*Entity
	Dropped  []*Entity // hidden from every view; the reply may name them once
	Rows     *RowSet
}

// scenes holds the scenes made of a view. A copy of the view makes its own.
type scenes struct {
	of   *View
	made map[bool]*Scene
}

// Scene returns what a node's prompt may speak of: refs in a tier, and those that the view's texts name. For the
// curator (known) it adds what the message names by label, and the newest refs that have left the window. It is made
// once, and must not be changed.
func (v *View) Scene(known bool) *Scene {
	if v.scenes == nil || v.scenes.of != v {
		v.scenes = &scenes{of: v, made: map[bool]*Scene{}}
	}
	if v.scenes.made[known] == nil {
		v.scenes.made[known] = v.newScene(known)
	}

	return v.scenes.made[known]
}

func (v *View) newScene(known bool) *Scene {
	s := &Scene{View: v, Number: int(v.Turn.Number), ByRef: make(map[string]*Entity, len(v.Registry))}
	if len(v.Questions) > 0 {
		s.Question = v.Questions[0]
	}
	latest := v.latest()
	for _, row := range v.Registry {
		if row.TurnCreated > latest {
			continue // belongs to the next turn, which has already started: a summary may come late
		}
		if !known && row.Tier == "" && !v.spoken.names(row) {
			continue
		}
		e := &Entity{EntityRefListInViewRow: row, Label: clean.Inline(row.Label, MaxLabel), Stale: v.Stale[row.Ref]}
		if row.State == db.RefStateDropped {
			s.Dropped = append(s.Dropped, e)

			continue
		}
		s.Entities = append(s.Entities, e)
		s.ByRef[row.Ref] = e
	}
	s.mergeRows()

	return s
}
