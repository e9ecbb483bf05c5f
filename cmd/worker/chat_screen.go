package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/google/uuid"

	"alfred/db"
	"alfred/internal/crud"
	"alfred/internal/follow"
)

// screen shows a chat to a person or a program.
type screen interface {
	session(id uuid.UUID, past []*db.TurnPageRow) error
	event(e *follow.Event) error
	turn(t *follow.Turn) error // as it ended
	waiting() error            // nothing has happened for a while
	problem(code string, err error) error
	entities(refs []*db.EntityListRow) error
	why(held []*db.ContextItemSumTurnRow) error
	saved(ref string, row crud.Row) error
	note(text string) error
	close()
}

// jsonScreen prints one object per line, each with a type. Events are as in the API's streams.
type jsonScreen struct{ out io.Writer }

func (s *jsonScreen) print(kind string, fields map[string]any) error {
	fields["type"] = kind
	if err := json.NewEncoder(s.out).Encode(fields); err != nil {
		return fmt.Errorf("print: %w", err)
	}

	return nil
}

func (s *jsonScreen) session(id uuid.UUID, past []*db.TurnPageRow) error {
	history := []map[string]any{}
	for _, t := range past {
		history = append(history, map[string]any{"number": t.Number, "status": t.Status, "message": t.Message, "reply": t.Reply})
	}

	return s.print("session", map[string]any{"session_id": id, "history": history})
}

func (s *jsonScreen) event(e *follow.Event) error {
	if _, err := fmt.Fprintf(s.out, "%s\n", e.Data); err != nil {
		return fmt.Errorf("print: %w", err)
	}

	return nil
}

func (s *jsonScreen) turn(t *follow.Turn) error { return s.print("turn", map[string]any{"turn": t}) }

func (s *jsonScreen) waiting() error { return s.print("waiting", map[string]any{}) }

func (s *jsonScreen) problem(code string, err error) error {
	return s.print("error", map[string]any{"code": code, "message": reason(err)})
}

func (s *jsonScreen) entities(refs []*db.EntityListRow) error {
	items := []map[string]any{}
	for _, r := range refs {
		items = append(items, map[string]any{
			"ref": r.Ref, "type": r.EntityType, "label": r.Label, "action": r.Action, "state": r.State, "tier": r.Tier, "reason": r.Reason,
		})
	}

	return s.print("entities", map[string]any{"items": items})
}

func (s *jsonScreen) why(held []*db.ContextItemSumTurnRow) error {
	items := []map[string]any{}
	for _, h := range held {
		items = append(items, map[string]any{
			"node": h.Node, "step": h.Step, "call": h.Call, "section": h.Section, "reason": h.Reason, "items": h.Items, "tokens": h.Tokens, "refs": h.Refs,
		})
	}

	return s.print("why", map[string]any{"items": items})
}

func (s *jsonScreen) saved(ref string, row crud.Row) error {
	return s.print("saved", map[string]any{"ref": ref, "row": row.Data})
}

func (s *jsonScreen) note(text string) error { return s.print("note", map[string]any{"text": text}) }

func (s *jsonScreen) close() {}

// reason is an error in the words of what refused, without what was attempted.
func reason(err error) string {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(next) {
		err = next
	}

	return err.Error()
}
