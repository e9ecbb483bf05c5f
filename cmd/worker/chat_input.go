package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"alfred/cmd/internal/program"
)

// input is where messages come from, one by one. line is io.EOF at its end.
type input interface {
	line() (string, error)
	close()
}

// plainInput is a pipe or a file, a message on each line.
type plainInput struct{ reader *bufio.Reader }

func newPlainInput(r io.Reader) *plainInput { return &plainInput{reader: bufio.NewReader(r)} }

// line also accepts a last line without a line break. The database decides how long a message may be.
func (p *plainInput) line() (string, error) {
	text, err := p.reader.ReadString('\n')
	if errors.Is(err, io.EOF) && text != "" {
		err = nil
	}

	return text, err
}

func (p *plainInput) close() {}

// terminalInput is a terminal: a box to write in, whose messages may have several
// lines, and those sent before. The terminal is raw while a message is written
// alone, so that between messages Ctrl-C is a signal.
type terminalInput struct {
	in      *os.File
	out     io.Writer
	past    []string
	program *tea.Program
}

func newTerminalInput(in *os.File, out io.Writer) *terminalInput {
	return &terminalInput{in: in, out: out}
}

func (t *terminalInput) line() (string, error) {
	t.program = tea.NewProgram(newBox(t.past), tea.WithInput(t.in), tea.WithOutput(t.out), tea.WithoutSignalHandler())
	last, err := t.program.Run()
	if err != nil {
		return "", err
	}
	written, ok := last.(*box)
	if !ok || written.left {
		return "", io.EOF
	}
	text := written.text.Value()
	if strings.TrimSpace(text) != "" {
		t.past = append(t.past, text)
	}

	return text, nil
}

// close restores the terminal.
func (t *terminalInput) close() {
	if t.program != nil {
		t.program.Kill()
	}
}

const (
	you       = "You    "
	beside    = "       " // as wide
	mostLines = 10        // of a box; more scroll

	mostPasted = 10_000 // lines; how long a message may be is for the database to say
)

// box is a message being written.
type box struct {
	text   textarea.Model
	width  int
	past   []string
	at     int    // of past; its length for what is new
	fresh  string // what is new, while an old one is looked at
	sent   bool
	left   bool
	warned bool // Ctrl-C took away what was written
}

func newBox(past []string) *box {
	b := &box{text: textarea.New(), past: past, at: len(past), width: usualWidth}
	b.text.ShowLineNumbers = false
	b.text.DynamicHeight = true
	b.text.MaxHeight, b.text.MaxContentHeight = mostLines, mostPasted
	b.text.EndOfBufferCharacter = ' '
	b.text.KeyMap.InsertNewline = key.NewBinding(key.WithKeys("alt+enter", "shift+enter", "ctrl+j"))
	plain := textarea.StyleState{Prompt: lipgloss.NewStyle().Bold(!plainTerminal())}
	b.text.SetStyles(textarea.Styles{Focused: plain, Blurred: plain})
	b.text.SetPromptFunc(len(you), func(line textarea.PromptInfo) string {
		if line.LineNumber == 0 {
			return you
		}

		return beside
	})
	b.text.SetWidth(b.width)
	b.text.Focus()

	return b
}

// Init implements tea.Model.
func (b *box) Init() tea.Cmd { return textarea.Blink }

// Update implements tea.Model.
func (b *box) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		b.width = msg.Width
		b.text.SetWidth(msg.Width)

		return b, nil
	case tea.KeyPressMsg:
		if done, cmd := b.press(msg); done {
			return b, cmd
		}
	}
	var cmd tea.Cmd
	b.text, cmd = b.text.Update(msg)

	return b, cmd
}

// press does what a key means here; other keys are the text's.
func (b *box) press(msg tea.KeyPressMsg) (done bool, cmd tea.Cmd) {
	b.warned = false
	empty := b.text.Value() == ""
	info := b.text.LineInfo()
	switch msg.String() {
	case "enter":
		b.sent = true

		return true, tea.Quit
	case "ctrl+c":
		if !empty {
			b.text.Reset()
			b.warned = true

			return true, nil
		}
		b.left = true

		return true, tea.Quit
	case "ctrl+d":
		b.left = empty
		if empty {
			return true, tea.Quit
		}
	case "up":
		return b.text.Line() == 0 && info.RowOffset == 0 && b.look(b.at-1), nil
	case "down":
		return b.text.Line() == b.text.LineCount()-1 && info.RowOffset >= info.Height-1 && b.look(b.at+1), nil
	}

	return false, nil
}

// look shows another of the messages sent before, and comes back to the new one.
func (b *box) look(at int) bool {
	if at < 0 || at > len(b.past) {
		return false
	}
	if b.at == len(b.past) {
		b.fresh = b.text.Value()
	}
	text := b.fresh
	if at < len(b.past) {
		text = b.past[at]
	}
	b.at = at
	b.text.SetValue(text)

	return true
}

// View implements tea.Model. What was sent stays there as it was said, without a cursor.
func (b *box) View() tea.View {
	switch {
	case b.left:
		return tea.NewView("")
	case b.sent:
		return tea.NewView(said(you, program.Visible(b.text.Value()), b.width) + "\n")
	case b.warned:
		return tea.NewView(b.text.View() + "\n" + beside + faint("Ctrl-C again ends the chat"))
	default:
		return tea.NewView(b.text.View())
	}
}

// said is a text beside a name, wrapped between words.
func said(name, text string, width int) string {
	wrapped := ansi.Wrap(text, max(20, width-len(name)), "")

	return bold(name) + strings.ReplaceAll(wrapped, "\n", "\n"+strings.Repeat(" ", len(name)))
}
