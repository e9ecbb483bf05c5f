package crud

import (
	"cmp"
	"slices"
	"strings"

	"github.com/google/uuid"

	"alfred/db"
	"alfred/internal/domain"
	"alfred/internal/recall"
	"alfred/internal/vocab"
)

// Tools are the data tools of one domain. They hold no state and are safe for
// concurrent use.
type Tools struct {
	domain *domain.Domain
	search *recall.Searcher
}

// New returns the tools of a domain.
func New(d *domain.Domain, search *recall.Searcher) *Tools {
	return &Tools{domain: d, search: search}
}

// Prepared is one decision's calls with the results of their searches.
type Prepared struct {
	calls   []vocab.Call
	vectors recall.Vectors
	hits    map[search][]recall.Hit
	orders  map[search][]string // row keys, best first
}

// Calls returns the prepared calls.
func (p Prepared) Calls() []vocab.Call { return p.calls }

// Outcome is the result of one decision.
type Outcome struct {
	// Results has one entry per call, in order, followed by reads of the rows that somebody else changed meanwhile.
	Results []Result
	// Approval is set if the user has to agree first; then nothing was changed.
	Approval *Approval
	// Undo tells the user whether what was written can be undone: that it cannot be, or that deleted rows can be
	// restored; "" for nothing.
	Undo string
	// Company tells the user what was deleted with rows without being asked about, and what goes on naming them; "" for nothing.
	Company string
	// Aftermath says which tables' triggers may have written elsewhere, which no undo reverses; "" for none.
	Aftermath string
	// Part: an undo left some of what its turn wrote.
	Part bool
}

// Failed reports whether a call failed, in which case the decision changed nothing.
func (o *Outcome) Failed() bool {
	return slices.ContainsFunc(o.Results, func(r Result) bool { return r.ErrorCode != "" })
}

// MayHaveMissed reports whether a call found or counted nothing and has a notice why another call may find something.
func (o *Outcome) MayHaveMissed() bool {
	return slices.ContainsFunc(o.Results, func(r Result) bool {
		return !slices.Contains([]string{"", vocab.NoAccount, foundLoosely}, r.Notice) && (r.RowCount == 0 || r.Tool == vocab.ToolAnalyze)
	})
}

// Result is one call's result.
type Result struct {
	Call         int // number in the step, from 1
	Tool         string
	EntityType   string // "" if the tool has none
	RowCount     int    // rows that matched
	Refs         []string
	Changes      []Change
	Told         string // what the call did, in words; "" if it failed
	Notice       string // what the result itself does not show, such as a degraded search
	ErrorCode    Code
	ErrorMessage string
	// Stored is its row in turn_step_results.
	Stored *db.TurnStepResultInsertParams

	rows    []map[string]any
	removed removals
	setBack []*domain.Column // what an undo gave its old values
}

// linesAgain are its rows as people read them, with the values that an undo set back.
func (r *Result) linesAgain(e *domain.Entity) []string {
	shown := e.Spoken.Columns()

	return each(r.rows, func(row map[string]any) string {
		said := []string{spokenLine(e, row)}
		for _, c := range r.setBack {
			if row[c.Name] == nil || !slices.Contains(shown, c.Name) && !slices.Contains(shown, "_"+c.Name+"_label") {
				said = append(said, columnInWords(c)+": "+rowWords(c, row))
			}
		}

		return strings.Join(said, ", ")
	})
}

// rowWords is what stands in a column of a row, as people read it.
func rowWords(c *domain.Column, row map[string]any) string {
	if c.Kind == domain.KindJSON && row[c.Name] != nil {
		return "as before"
	}

	return cmp.Or(inWords(c, row), "nothing")
}

// MissingFrom reports whether the result has a notice that these words, written before it was known, do not tell. What was
// removed from drafts they tell by naming it.
func (r *Result) MissingFrom(words string) bool {
	if r.removed == nil {
		return r.Notice != ""
	}
	said := strings.Fields(strings.ToLower(words))
	for _, one := range r.removed {
		for _, name := range one.names {
			if !slices.ContainsFunc(longest(name), func(word string) bool {
				return slices.ContainsFunc(said, func(other string) bool { return strings.HasPrefix(other, word) })
			}) {
				return true
			}
		}
	}

	return false
}

// longest are the longest of a name's words, by which others know it: "the" is in every text.
func longest(name string) []string {
	words := strings.Fields(strings.ToLower(name))
	most := 0
	for _, word := range words {
		most = max(most, len(word))
	}

	return slices.DeleteFunc(words, func(word string) bool { return len(word) < most })
}

// Change is one row that a decision wrote. ID is the row's key and never leaves the program.
type Change struct {
	ID     string
	Action string // created, updated, deleted
}

// Approval is what the user has to agree to.
type Approval struct {
	Text string
	// Calls are the decision's calls with the rows they were about to change.
	Calls []ApprovedCall
}

// ApprovedCall is one call and exactly the rows it may change, as a question keeps it.
type ApprovedCall struct {
	vocab.Call

	EntityType string `json:"entity_type,omitempty"`
	// Preview is what the user was told an operation would do.
	Preview string `json:"preview,omitempty"`
	// Keys are row keys as text. They stay in the database: of a question's payload, only text and options are shown.
	Keys []string `json:"keys,omitempty"`
	// Versions are the rows' versions when the user was asked, by key; for an operation, which may name rows of several
	// types, by type and key.
	Versions map[string]string `json:"versions,omitempty"`
}

// User is the user on whose behalf a user interface acts.
type User struct {
	ID uuid.UUID
	// Session, if not nil, is where the change is registered as the user's.
	Session *uuid.UUID
	// Settles: the user calls [Tools.Settle] after this change, which then may violate what is checked late.
	Settles bool
}
