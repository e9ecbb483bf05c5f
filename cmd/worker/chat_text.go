package main

import (
	"cmp"
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

	// Of a terminal alone.
	terminal *terminal
	pending  string // of a reply, what is not whole enough to be written

	err error
}

func newTextScreen(out io.Writer, terminal *terminal) *textScreen {
	return &textScreen{out: out, terminal: terminal}
}

func (s *textScreen) close() { s.doing("") }

func (s *textScreen) width() int { return widthOf(s.terminal.out) }

// doing says what goes on, until that is called again or something is printed.
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
		s.putf(beside+strings.ReplaceAll(format, "\n", "\n"+beside)+"\n", args...)

		return
	}
	for line := range strings.SplitSeq(ansi.Wrap(program.Visible(fmt.Sprintf(format, args...)), s.width()-len(beside), ""), "\n") {
		s.raw(beside + faint(line) + "\n")
	}
}

func (s *textScreen) session(id uuid.UUID, past []*db.TurnPageRow) error {
	s.asidef("session %s; /help lists commands", id)
	for _, t := range past {
		s.raw(s.besideName(you, program.Visible(t.Message)) + "\n")
		if t.Reply != nil {
			s.whole(*t.Reply)
		} else {
			s.asidef("(%s)", t.Status)
		}
	}

	return s.err
}

func (s *textScreen) event(e *follow.Event) error {
	switch e.Type {
	case "turn.started":
		s.said, s.open, s.pending = follow.Speech{}, false, ""
		s.doing(doingWords[vocab.NodeUnderstand])
	case "node.started":
		var node struct{ Node string }
		if err := e.Decode(&node); err != nil {
			return err
		}
		s.doing(doingWords[node.Node])
	case "step.started":
		var step struct{ Description string }
		if err := e.Decode(&step); err != nil {
			return err
		}
		s.doing(cmp.Or(forPeople(step.Description), doingWords[vocab.NodeAct]))
	case "plan":
		return s.plan(e)
	case "step.finished":
		var end struct {
			Step             int
			Outcome, Summary string
		}
		if err := e.Decode(&end); err != nil {
			return err
		}
		s.asidef("step %d %s: %s", end.Step, end.Outcome, end.Summary)
	case "reply.delta", "reply.reset":
		piece, err := s.said.Hear(e)
		if err != nil {
			return err
		}
		s.say(piece)
	}

	return s.err
}

func (s *textScreen) plan(e *follow.Event) error {
	var plan struct {
		Goal  string
		Steps []struct {
			Step        int
			StepType    string `json:"step_type"`
			Description string
		}
	}
	if err := e.Decode(&plan); err != nil {
		return err
	}
	if plan.Goal != "" {
		s.asidef("plan: %s", plan.Goal)
	}
	for _, step := range plan.Steps {
		s.asidef("  %d. %s: %s", step.Step, step.StepType, forPeople(step.Description))
	}

	return s.err
}

// forPeople is what a step is for, without what the built-in rules note in it for themselves.
func forPeople(description string) string {
	words, _, _ := strings.Cut(description, ` {"`)

	return words
}

// doingWords say what a node is for.
var doingWords = map[string]string{vocab.NodeUnderstand: "Reading your message", vocab.NodeThink: "Planning", vocab.NodeAct: "Working", vocab.NodeReply: "Writing"}

// say prints a piece of a reply: as it comes, or on a terminal as soon as it is whole enough to be drawn.
func (s *textScreen) say(piece string) {
	if piece == "" {
		return
	}
	if s.terminal != nil {
		s.pending += piece
		whole := ripe(s.pending)
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
	drawn := newMarkdown(s.width()).written(text)
	s.raw(name + strings.ReplaceAll(drawn, "\n", "\n"+beside) + "\n")
}

// whole prints a reply of before.
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
		return said(name, text, s.width())
	}

	return name + text
}

func (s *textScreen) turn(t *follow.Turn) error {
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
		s.options(t.Question.Options)
	}
	if t.Error != nil {
		s.asidef("%s: %s", t.Error.Code, t.Error.Message)
	}
	s.said, s.open, s.pending = follow.Speech{}, false, ""

	return s.err
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

func (s *textScreen) options(all []follow.Option) {
	for i, option := range all {
		s.asidef("%d. %s", i+1, option.Label)
	}
}

func (s *textScreen) waiting() error {
	s.asidef("nothing yet; does a worker run? (worker run)")

	return s.err
}

func (s *textScreen) problem(_ string, err error) error {
	s.asidef("%s", reason(err))

	return s.err
}

func (s *textScreen) entities(refs []*db.EntityListRow) error {
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

	return s.err
}

func (s *textScreen) why(held []*db.ContextItemSumTurnRow) error {
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

	return s.err
}

func (s *textScreen) saved(ref string, _ crud.Row) error {
	s.asidef("saved %s", ref)

	return s.err
}

func (s *textScreen) note(text string) error {
	s.asidef("%s", text)

	return s.err
}
