package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/google/uuid"

	"alfred/db"
	"alfred/internal/crud"
	"alfred/internal/follow"
)

// screen shows a chat to a person or a program. After an error it shows nothing more.
type screen interface {
	session(id uuid.UUID, past []*db.TurnPageRow)
	event(e *follow.Event)
	turn(t *follow.Turn) // as it ended
	waiting()            // nothing has happened for a while
	problem(code, message string)
	entities(refs []*db.EntityListRow)
	why(held []*db.ContextItemSumTurnRow)
	saved(ref string, row crud.Row)
	note(text string)
	failed() error
}

// jsonScreen prints one object per line, each with a type. Events are as in the API's streams.
type jsonScreen struct {
	out io.Writer
	err error
}

func (s *jsonScreen) failed() error { return s.err }

func (s *jsonScreen) print(kind string, fields map[string]any) {
	fields["type"] = kind
	if s.err == nil {
		s.err = json.NewEncoder(s.out).Encode(fields)
	}
}

func (s *jsonScreen) session(id uuid.UUID, past []*db.TurnPageRow) {
	history := []map[string]any{}
	for _, t := range past {
		history = append(history, map[string]any{"number": t.Number, "status": t.Status, "message": t.Message, "reply": t.Reply})
	}
	s.print("session", map[string]any{"session_id": id, "history": history})
}

func (s *jsonScreen) event(e *follow.Event) {
	if s.err == nil {
		_, s.err = fmt.Fprintf(s.out, "%s\n", e.Data)
	}
}

func (s *jsonScreen) turn(t *follow.Turn) { s.print("turn", map[string]any{"turn": t}) }
func (s *jsonScreen) waiting()            { s.print("waiting", map[string]any{}) }
func (s *jsonScreen) note(text string)    { s.print("note", map[string]any{"text": text}) }

func (s *jsonScreen) problem(code, message string) {
	s.print("error", map[string]any{"code": code, "message": message})
}

func (s *jsonScreen) entities(refs []*db.EntityListRow) {
	items := []map[string]any{}
	for _, r := range refs {
		items = append(items, map[string]any{
			"ref": r.Ref, "type": r.EntityType, "label": r.Label, "action": r.Action, "state": r.State, "tier": r.Tier, "reason": r.Reason,
		})
	}
	s.print("entities", map[string]any{"items": items})
}

func (s *jsonScreen) why(held []*db.ContextItemSumTurnRow) {
	items := []map[string]any{}
	for _, h := range held {
		items = append(items, map[string]any{
			"node": h.Node, "step": h.Step, "call": h.Call, "section": h.Section, "reason": h.Reason, "items": h.Items, "tokens": h.Tokens, "refs": h.Refs,
		})
	}
	s.print("why", map[string]any{"items": items})
}

func (s *jsonScreen) saved(ref string, row crud.Row) {
	s.print("saved", map[string]any{"ref": ref, "row": row.Data})
}
