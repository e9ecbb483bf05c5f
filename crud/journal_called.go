package crud

import (
	"strings"

	"alfred/domain"
)

// formerCall is what row_changes keeps of an operation, and of each row that it has reached.
type formerCall struct {
	Operation string         `json:"operation"`
	Args      map[string]any `json:"args,omitempty"`
	Reached   bool           `json:"reached,omitempty"` // a row that the operation changed besides the one that it was done to
}

// called notes an operation of the owner's. What it does to rows only its inverse takes back.
func (j *journal) called(o *domain.Operation, key string, args map[string]any) {
	if j == nil {
		return
	}
	w := &rowChange{EntityType: o.On.Type, EntityID: key, Action: actionCalled, Before: formerCall{Operation: o.Name, Args: args}, entity: o.On}
	if o.Inverse == nil {
		w.Lost = said("%s cannot be taken back.", capital(spokenName(o)))
	}
	j.writes = append(j.writes, w)
}

// reached notes rows that an operation changed: they must be as it left them when its inverse is called.
func (j *journal) reached(o *domain.Operation, e *domain.Entity, rows []map[string]any) {
	if j == nil {
		return
	}
	for _, row := range rows {
		key := keyText(row, e)
		if w := j.noted(e, key); w == nil || w.Action != actionCalled {
			j.writes = append(j.writes, &rowChange{EntityType: e.Type, EntityID: key, Action: actionCalled, Before: formerCall{Operation: o.Name, Reached: true}, entity: e})
		}
	}
}

func spokenName(o *domain.Operation) string { return strings.ReplaceAll(o.Name, "_", " ") }

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
