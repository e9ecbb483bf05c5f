package httpapi

import (
	"encoding/json"

	"alfred/internal/follow"
)

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
