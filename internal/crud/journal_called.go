package crud

import (
	"strings"

	"alfred/internal/domain"
)

// formerCall is what row_changes stores about an operation, and about each row it affected.
type formerCall struct {
	Operation string         `json:"operation"`
	Args      map[string]any `json:"args,omitempty"`
	Reached   bool           `json:"reached,omitempty"` // a row the operation changed besides its target
}

// called records an operation. Only its inverse undoes what it does to rows.
func (j *journal) called(o *domain.Operation, key string, args map[string]any) {
	if j == nil {
		return
	}
	w := &rowChange{EntityType: o.On.Type, EntityID: key, Action: actionCalled, Before: formerCall{Operation: o.Name, Args: args}, entity: o.On}
	if o.Inverse == nil {
		w.Lost = sentence("%s cannot be taken back.", capital(spokenName(o)))
	}
	j.writes = append(j.writes, w)
}

// reached records rows that an operation changed: they must still be as it left them when its inverse is called.
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
