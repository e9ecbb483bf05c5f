package eval

import (
	"cmp"
	"fmt"
	"io"
	"strings"
)

// Part is one aspect of a turn, on both sides.
type Part struct{ What, Was, Is string }

// Parts are the aspects that are compared verbatim.
func (t *ReplayedTurn) Parts() []Part {
	return []Part{
		{"status", t.Was.Status, t.Is.Status},
		{"intent", t.Was.Intent, t.Is.Intent},
		{"plan", strings.Join(t.Was.Plan, "; "), strings.Join(t.Is.Plan, "; ")},
		{"calls", strings.Join(t.Was.Calls, "; "), strings.Join(t.Is.Calls, "; ")},
		{"reply", t.Was.Reply, t.Is.Reply},
	}
}

// IsSame reports whether a turn had the same result, whatever it cost.
func (t *ReplayedTurn) IsSame() bool {
	for _, part := range t.Parts() {
		if part.Was != part.Is {
			return false
		}
	}

	return t.Rows == Rows{Equal: t.Rows.Equal}
}

// Other returns the turns whose results differ.
func (r *Replay) Other() []int {
	var numbers []int
	for i := range r.Turns {
		if !r.Turns[i].IsSame() {
			numbers = append(numbers, r.Turns[i].Number)
		}
	}

	return numbers
}

// Sum is the total cost of all turns.
func (r *Replay) Sum() ReplayedTurn {
	var all ReplayedTurn
	for i := range r.Turns {
		all.Was.add(&r.Turns[i].Was)
		all.Is.add(&r.Turns[i].Is)
	}

	return all
}

func (s *Side) add(other *Side) {
	s.Models += other.Models
	s.Tokens += other.Tokens
	s.USD += other.USD
	s.Seconds += other.Seconds
}

// HTML writes a page: which turns differ, and each side by side.
func (r *Replay) HTML(out io.Writer) error {
	return writePage(out, "replay.html", r)
}

// Text formats the comparison for people: equal parts in a word, others side by side.
func (r *Replay) Text() string {
	var b strings.Builder
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	for i := range r.Turns {
		t := &r.Turns[i]
		fmt.Fprintf(&b, "turn %d: %s\n", t.Number, oneLine(t.Message))
		for _, one := range t.Parts() {
			if one.Was == one.Is {
				fmt.Fprintf(&b, "  %-7s same: %s\n", one.What, cmp.Or(oneLine(one.Is), "nothing"))
			} else {
				fmt.Fprintf(&b, "  %-7s was:  %s\n          is:   %s\n", one.What, cmp.Or(oneLine(one.Was), "nothing"), cmp.Or(oneLine(one.Is), "nothing"))
			}
		}
		fmt.Fprintf(&b, "  rows    %d equal, %d different, %d missing, %d more\n", t.Rows.Equal, t.Rows.Different, t.Rows.Missing, t.Rows.Extra)
		for _, other := range t.Other {
			fmt.Fprintf(&b, "          %s\n", other)
		}
		fmt.Fprintf(&b, "  took    %d calls, %d tokens, %.4f USD, %.1f s; was %d calls, %d tokens, %.4f USD, %.1f s\n",
			t.Is.Models, t.Is.Tokens, t.Is.USD, t.Is.Seconds, t.Was.Models, t.Was.Tokens, t.Was.USD, t.Was.Seconds)
	}

	return b.String()
}
