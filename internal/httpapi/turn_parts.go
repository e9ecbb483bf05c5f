package httpapi

import (
	"encoding/json"
	"fmt"

	"alfred/db"
	"alfred/internal/follow"
)

func questionOf(row *db.TurnDetailRow) (*question, error) {
	if row.QuestionID == nil {
		return nil, nil
	}
	q := &question{ID: *row.QuestionID, Kind: *row.QuestionKind, Status: *row.QuestionStatus}
	var payload struct {
		Text    string   `json:"text"`
		Options []option `json:"options"`
	}
	if err := json.Unmarshal(row.QuestionPayload, &payload); err != nil {
		return nil, fmt.Errorf("read question: %w", err)
	}
	q.Text, q.Options = payload.Text, payload.Options
	if q.Options == nil {
		q.Options = []option{}
	}

	return q, nil
}

func errorOf(code, message *string) *turnError {
	if code == nil {
		return nil
	}
	e := &turnError{Code: *code}
	if message != nil {
		e.Message = *message
	}

	return e
}

// wroteOf decodes what the query built, so it cannot fail.
func wroteOf(data json.RawMessage) []follow.Wrote {
	list := []follow.Wrote{}
	if err := json.Unmarshal(data, &list); err != nil {
		return []follow.Wrote{} // the query always builds a list
	}

	return list
}
