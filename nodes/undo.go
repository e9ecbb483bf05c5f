package nodes

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"alfred/internal/answer"
	"alfred/internal/vocab"
)

// UndoRequest asks to undo what a turn wrote, the last one that wrote for Turn 0, or the last undo to Redo; if there are Refs,
// only what it did to those rows. It is the call of a step of its own.
type UndoRequest struct {
	Turn int      `json:"turn,omitempty"`
	Redo bool     `json:"redo,omitempty"`
	Refs []string `json:"refs,omitempty"`
}

// NoSubdomain is the subdomain of a step that belongs to none.
const NoSubdomain = "general"

// Step is the step that carries the request out.
func (u *UndoRequest) Step() Step {
	refs, _ := json.Marshal(u.Refs) //nolint:errchkjson // texts
	call := fmt.Appendf(nil, `{"tool": %q, "args": {"turn": %d, "redo": %t, "refs": %s}}`, vocab.ToolUndo, u.Turn, u.Redo, refs)

	return Step{Type: vocab.StepWrite, Subdomain: NoSubdomain, Description: "Take back " + u.words(), Needs: "refs", Calls: []json.RawMessage{call}}
}

// UndoIn is the request that a step's calls make, nil for none.
func UndoIn(calls []vocab.Call) *UndoRequest {
	if len(calls) != 1 || calls[0].Tool != vocab.ToolUndo {
		return nil
	}
	u := &UndoRequest{}
	if answer.Decode(calls[0].Args, u) != nil {
		return nil
	}

	return u
}

// undo is the request that the step consists of, nil for any other step.
func (s *Step) undo() *UndoRequest { return UndoIn(s.ReadyCalls()) }

func (u *UndoRequest) words() string {
	words := "what was written"
	switch {
	case u.Redo:
		words = "the last undo"
	case u.Turn > 0:
		words = fmt.Sprintf("what turn %d wrote", u.Turn)
	}
	if len(u.Refs) > 0 {
		words += " to " + strings.Join(u.Refs, ", ")
	}

	return words
}

// undoOf reads a planned call that undoes: its filters say which turn, and which rows of it. With any other filter it is of turn
// -1, which is refused: a filter that is ignored would take back more than was meant.
func undoOf(raw json.RawMessage) *UndoRequest {
	fields := gjson.ParseBytes(raw)
	if fields.Get("tool").Str != vocab.ToolUndo {
		return nil
	}
	if args := fields.Get("args"); args.IsObject() {
		fields = args
	}
	u, turn := &UndoRequest{Refs: texts(fields.Get("refs"))}, fields.Get("turn").String()
	for _, f := range fields.Get("filters").Array() {
		values := texts(f.Get("value"))
		switch field := f.Get("field").Str; {
		case !slices.Contains([]string{"", "=", "==", "in"}, f.Get("op").Str):
			return &UndoRequest{Turn: -1}
		case field == "turn" && len(values) < 2:
			turn = cmp.Or(values...)
		case field == "redo":
			turn = field
		case field == "id" && len(values) > 0:
			u.Refs = append(u.Refs, values...)
		default:
			return &UndoRequest{Turn: -1}
		}
	}
	if u.Redo = strings.EqualFold(turn, "redo"); !u.Redo {
		u.Turn = turnNamed(turn)
	}

	return u
}

// turnNamed is the number of the turn that a text names, 0 for the last one that wrote, -1 for what is no turn.
func turnNamed(text string) int {
	text = strings.TrimSpace(strings.TrimPrefix(strings.ToLower(text), "turn"))
	if isNothing(text) || text == "last" {
		return 0
	}
	number, err := strconv.Atoi(text)
	if err != nil || number < 0 {
		return -1
	}

	return number
}

// takeBack removes the calls that undo and returns the steps that they are instead, the newest turn first. Planned steps with
// no other calls are left out.
func (o *ThinkOutput) takeBack(in *ThinkInput) (first []Step) {
	var undos []*UndoRequest
	others := func(calls []json.RawMessage) []json.RawMessage {
		return slices.DeleteFunc(slices.Clone(calls), func(raw json.RawMessage) bool {
			u := undoOf(raw)
			if u != nil {
				undos = append(undos, u)
			}

			return u != nil
		})
	}
	all := o.Calls
	o.Calls = others(all)
	for i := range o.Steps {
		s := &o.Steps[i]
		own := slices.Concat(s.Calls, callsOfStep(all, i+1))
		s.Calls = others(s.Calls)
		s.spent = len(own) > 0 && len(s.Calls)+len(callsOfStep(o.Calls, i+1)) == 0
	}
	newest := func(u *UndoRequest) int { return cmp.Or(u.Turn, math.MaxInt) }
	slices.SortStableFunc(undos, func(a, b *UndoRequest) int { return cmp.Compare(newest(b), newest(a)) })
	for _, u := range oneForEachTurn(undos) {
		if in != nil {
			u.Refs = in.refsEver().expand(u.Refs)
		}
		first = append(first, u.Step())
	}

	return first
}

// oneForEachTurn joins requests about the same turn, which stand next to each other. Two that name none may be one that was written for
// each table, or mean the turn before as well: only the planner can say.
func oneForEachTurn(undos []*UndoRequest) (joined []*UndoRequest) {
	for _, u := range undos {
		n := len(joined)
		switch {
		case n == 0 || joined[n-1].Turn != u.Turn || joined[n-1].Redo != u.Redo:
			joined = append(joined, u)
		case !u.Redo && u.Turn == 0 && len(joined[n-1].Refs)+len(u.Refs) == 0:
			joined[n-1].Turn = -1
		case len(joined[n-1].Refs) == 0 || len(u.Refs) == 0:
			joined[n-1].Refs = nil
		default:
			joined[n-1].Refs = append(joined[n-1].Refs, u.Refs...)
		}
	}

	return joined
}

// callsOfStep are the calls that name a step.
func callsOfStep(calls []json.RawMessage, number int) []json.RawMessage {
	return slices.DeleteFunc(slices.Clone(calls), func(raw json.RawMessage) bool { return gjson.GetBytes(raw, "step").Int() != int64(number) })
}

// refsEver are all refs, those of deleted rows too.
func (in *ThinkInput) refsEver() Refs {
	all := maps.Clone(in.Refs)
	for _, ref := range in.Deleted {
		all[ref] = Ref{}
	}

	return all
}

// check says what is wrong with the request.
func (u *UndoRequest) check(f *faults, in *ThinkInput, decision string) {
	if decision != "plan" {
		f.addf("undo waits for no answer: plan it, without a proposal or questions")
	}
	if u.Turn < 0 {
		f.addf("undo takes the filters turn = the number of a turn and id = refs of its rows, and no others; without turn it takes back the last one that wrote, all of it at once")
	}
	for _, ref := range u.Refs {
		if _, known := in.refsEver()[ref]; !known {
			f.addf("there is no %s in this conversation to undo", ref)
		}
	}
}
