package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/uuid"

	"alfred/cmd/internal/program"
	"alfred/db"
	"alfred/internal/crud"
	"alfred/internal/follow"
	"alfred/internal/vocab"
)

// textScreen prints for a person.
type textScreen struct {
	out  io.Writer
	said follow.Speech
	open bool // a reply has begun and its line has not ended

	// Only for a terminal.
	terminal *terminal
	pending  string // the part of a reply that cannot be rendered yet

	err error
}

func (s *textScreen) failed() error { return s.err }

func (s *textScreen) width() int { return widthOf(s.terminal.out) }

// doing shows the current activity until the next call.
func (s *textScreen) doing(what string) {
	if s.terminal != nil {
		s.terminal.show(program.Visible(what))
	}
}

// putf prints text that may come from a model or a row.
func (s *textScreen) putf(format string, args ...any) {
	s.raw(program.Visible(fmt.Sprintf(format, args...)))
}

func (s *textScreen) raw(text string) {
	if s.err == nil {
		_, s.err = io.WriteString(s.out, text)
	}
}

// asidef prints one line about what is happening.
func (s *textScreen) asidef(format string, args ...any) {
	if s.terminal == nil {
		s.putf("%s\n", beside+strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "\n"+beside))

		return
	}
	for line := range strings.SplitSeq(ansi.Wrap(program.Visible(fmt.Sprintf(format, args...)), s.width()-len(beside), ""), "\n") {
		s.raw(beside + faint(line) + "\n")
	}
}

func (s *textScreen) session(id uuid.UUID, past []*db.TurnPageRow) {
	s.asidef("session %s; /help lists commands", id)
	for _, t := range past {
		s.raw(s.besideName(you, program.Visible(t.Message)) + "\n")
		if t.Reply != nil {
			s.whole(*t.Reply)
		} else {
			s.asidef("(%s)", t.Status)
		}
	}
}

// eventData is what is shown of events.
type eventData struct {
	Node, Description, Goal, Outcome, Summary string

	Step  int
	Steps []struct {
		Step        int
		StepType    string `json:"step_type"`
		Description string
	}
}

func (s *textScreen) event(e *follow.Event) {
	var data eventData
	piece, err := s.said.Hear(e)
	if err = errors.Join(err, e.Decode(&data)); err != nil {
		s.err = cmp.Or(s.err, err)

		return
	}
	switch e.Type {
	case "turn.started":
		s.said, s.open, s.pending = follow.Speech{}, false, ""
		s.doing(doingWords[vocab.NodeUnderstand])
	case "node.started":
		s.doing(doingWords[data.Node])
	case "step.started":
		s.doing(cmp.Or(data.Description, doingWords[vocab.NodeAct]))
	case "plan":
		if data.Goal != "" {
			s.asidef("plan: %s", data.Goal)
		}
		for _, step := range data.Steps {
			s.asidef("  %d. %s: %s", step.Step, step.StepType, step.Description)
		}
	case "step.finished":
		s.asidef("step %d %s: %s", data.Step, data.Outcome, data.Summary)
	default:
		s.say(piece)
	}
}

// doingWords say what a node is for.
var doingWords = map[string]string{vocab.NodeUnderstand: "Reading your message", vocab.NodeThink: "Planning", vocab.NodeAct: "Working", vocab.NodeReply: "Writing"}

// say prints a piece of a reply: at once, or on a terminal as soon as it is complete enough to be rendered.
func (s *textScreen) say(piece string) {
	if piece == "" {
		return
	}
	if s.terminal != nil {
		s.pending += piece
		whole := renderable(s.pending)
		s.block(s.pending[:whole])
		s.pending = s.pending[whole:]

		return
	}
	if !s.open {
		s.raw(alfred)
		s.open = true
	}
	s.putf("%s", piece)
}

const alfred = "Alfred "

// block draws a whole piece of a reply on a terminal.
func (s *textScreen) block(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	name := bold(alfred)
	if s.open {
		name = "\n" + beside
	}
	s.open = true
	drawn := markdown(text, s.width())
	s.raw(name + strings.ReplaceAll(drawn, "\n", "\n"+beside) + "\n")
}

// whole prints an earlier reply.
func (s *textScreen) whole(text string) {
	if s.terminal != nil {
		s.block(text)
		s.open = false

		return
	}
	s.putf(alfred+"%s\n", text)
}

// besideName is what somebody said, wrapped on a terminal.
func (s *textScreen) besideName(name, text string) string {
	if s.terminal != nil {
		return labelled(name, text, s.width())
	}

	return name + text
}

func (s *textScreen) turn(t *follow.Turn) {
	rest, corrected := s.said.Rest(t.Text())
	s.doing("")
	if corrected {
		s.block(s.pending)
		s.pending, s.open = "", false
		s.raw("\n")
	}
	s.say(rest)
	s.block(s.pending)
	if s.open && s.terminal == nil {
		s.raw("\n")
	}
	s.wrote(t.Wrote)
	if t.Unwritten {
		s.asidef("nothing was saved, changed or deleted")
	}
	if t.Question != nil && t.Question.Status == "open" {
		for i, option := range t.Question.Options {
			s.asidef("%d. %s", i+1, option.Label)
		}
	}
	if t.Error != nil {
		s.asidef("%s: %s", t.Error.Code, t.Error.Message)
	}
	s.said, s.open, s.pending = follow.Speech{}, false, ""
}

// wrote says what the turn wrote, from the rows and not from the reply.
func (s *textScreen) wrote(all []follow.Wrote) {
	const most = 12
	for _, verb := range [][2]string{{"created", "saved"}, {"updated", "changed"}, {"deleted", "deleted"}} {
		var labels []string
		for _, one := range all {
			if one.Action == verb[0] {
				labels = append(labels, one.Label)
			}
		}
		if more := len(labels) - most; more > 0 {
			labels = append(labels[:most], fmt.Sprintf("and %d more", more))
		}
		if len(labels) > 0 {
			s.asidef("%s: %s", verb[1], strings.Join(labels, ", "))
		}
	}
}

func (s *textScreen) waiting()                     { s.asidef("nothing yet; does a worker run? (worker run)") }
func (s *textScreen) problem(_, message string)    { s.asidef("%s", message) }
func (s *textScreen) saved(ref string, _ crud.Row) { s.asidef("saved %s", ref) }
func (s *textScreen) note(text string)             { s.asidef("%s", text) }

func (s *textScreen) entities(refs []*db.EntityListRow) {
	if len(refs) == 0 {
		s.asidef("nothing yet")
	}
	for _, r := range refs {
		why := ""
		if r.Reason != nil {
			why = ": " + *r.Reason
		}
		s.putf("       %-10s %-14s %s [%s]%s\n", r.Tier, r.Ref, r.Label, r.Action, why)
	}
}

func (s *textScreen) why(held []*db.ContextItemSumTurnRow) {
	if len(held) == 0 {
		s.asidef("no model was asked")
	}
	before := ""
	for _, h := range held {
		call := h.Node
		if h.Step > 0 {
			call = fmt.Sprintf("%s, step %d, call %d", h.Node, h.Step, h.Call)
		}
		if call != before {
			s.putf("       %s\n", call)
			before = call
		}
		s.putf("         %-24s %-10s %3d items %5d tokens  %s\n", h.Section, h.Reason, h.Items, h.Tokens, strings.Join(h.Refs, " "))
	}
}
