package registry

import (
	"errors"
	"strings"
)

// Reason is why a ref cannot be used.
type Reason string

// The reasons.
const (
	ReasonUnknown   Reason = "unknown"    // not in this session
	ReasonWrongType Reason = "wrong_type" // of another entity type than required
	ReasonDeleted   Reason = "deleted"    // its row is deleted
	ReasonDropped   Reason = "dropped"    // discarded in this conversation
	ReasonPending   Reason = "pending"    // a draft where a stored row is required
	ReasonSaved     Reason = "saved"      // a stored row where a draft is required
	ReasonUUID      Reason = "uuid"       // looks like a database id
)

// ErrRefused is wrapped by errors of curations that the rules forbid; their text is fit for a model.
var ErrRefused = errors.New("refused")

// RefError says that a ref cannot be used, in words for the model.
type RefError struct {
	Ref      string // as written, with ids replaced by [id]
	Reason   Reason
	Sentence string // without database ids

	wanted Want
}

// Error returns the sentence.
func (e *RefError) Error() string { return e.Sentence }

// RefErrors are all the unusable refs of one input, each once, in order of appearance. errors.As finds the first
// *RefError in it.
type RefErrors []*RefError

// Error joins the sentences.
func (e RefErrors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Sentence
	}

	return strings.Join(lines, " ")
}

// Unwrap returns the single errors.
func (e RefErrors) Unwrap() []error {
	list := make([]error, len(e))
	for i, one := range e {
		list[i] = one
	}

	return list
}
