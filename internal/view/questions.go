package view

import (
	"cmp"
	"encoding/json"
)

// QuestionPayload is the common payload of all questions.
type QuestionPayload struct {
	Text    string           `json:"text"`
	Options []QuestionOption `json:"options"`
	// Told is the same with refs, nil if it names none.
	Told *QuestionPayload `json:"told,omitempty"`
}

// ForModels is the question as models read it.
func (p *QuestionPayload) ForModels() *QuestionPayload { return cmp.Or(p.Told, p) }

// QuestionOption is one answer that a question offers. A click sends its id.
type QuestionOption struct {
	ID    string `json:"id"`
	Label string `json:"label"`
	Ref   string `json:"ref,omitempty"`
}

// OwnQuestion returns the question that this turn ends with, or nil.
func (t *Scene) OwnQuestion() *QuestionPayload {
	if t.Question == nil || t.Question.TurnID != t.Turn.ID {
		return nil
	}

	return t.AnyQuestion()
}

// QuestionToAsk returns the question that the turn's reply has to ask, or nil: what it offers may be gone by now.
func (t *Scene) QuestionToAsk() *QuestionPayload {
	if t.Question == nil || t.Question.Status != "open" {
		return nil
	}

	return t.OwnQuestion()
}

// AnyQuestion is what the turn's question asks, nil without one.
func (t *Scene) AnyQuestion() *QuestionPayload {
	var payload QuestionPayload
	if t.Question == nil || json.Unmarshal(t.Question.Payload, &payload) != nil {
		return nil
	}

	return &payload
}
