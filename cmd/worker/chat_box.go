package main

import (
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/spinner"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"alfred/cmd/internal/program"
)

const (
	you       = "You    "
	beside    = "       " // as wide
	mostLines = 10        // of a box; more scroll

	mostPasted = 10_000 // lines; how long a message may be is for the database to say
)

// Messages to the box.
type (
	wanted struct{} // the reader asks for the next message
	doing  string   // the current activity, "" for none
	closed struct{} // the chat has ended
)

// box is the message being typed, shown below the current activity and the messages queued meanwhile.
type box struct {
	text   textarea.Model
	width  int
	past   []string
	at     int    // of past; its length for what is new
	fresh  string // what is new, while an old one is looked at
	warned bool   // Ctrl-C took away what was written

	wanted    bool // a message, by whoever reads lines
	lines     chan<- string
	next      []string // sent, and not wanted yet
	leaving   bool     // once the next is wanted: Ctrl-D was pressed
	interrupt func()

	doing  string
	wheel  spinner.Model
	closed bool
}

func newBox(lines chan<- string, interrupt func()) *box {
	b := &box{text: textarea.New(), width: usualWidth, lines: lines, interrupt: interrupt, wheel: spinner.New(spinner.WithSpinner(spinner.MiniDot))}
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
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		b.width = msg.Width
		b.text.SetWidth(msg.Width)

		return b, nil
	case wanted:
		b.wanted = true
		b.deliver()

		return b, nil
	case doing:
		return b, b.setActivity(string(msg))
	case spinner.TickMsg:
		if b.doing != "" {
			b.wheel, cmd = b.wheel.Update(msg)
		}

		return b, cmd
	case closed:
		b.closed = true

		return b, tea.Quit
	case tea.KeyPressMsg:
		if done, cmd := b.press(msg); done {
			return b, cmd
		}
	}
	b.text, cmd = b.text.Update(msg)

	return b, cmd
}

// setActivity shows what is being done, with a spinner.
func (b *box) setActivity(what string) tea.Cmd {
	still := b.doing == ""
	b.doing = what
	if !still || what == "" {
		return nil
	}
	b.wheel = spinner.New(spinner.WithSpinner(spinner.MiniDot)) // a new one: ticks of the old would make it spin twice as fast

	return b.wheel.Tick
}

// deliver passes on a queued message, or ends the chat, if the reader is waiting.
func (b *box) deliver() {
	switch {
	case !b.wanted:
	case len(b.next) > 0:
		b.lines <- b.next[0] // there is room: one is wanted
		b.wanted, b.next = false, b.next[1:]
	case b.leaving:
		b.leave()
	}
}

// press handles the keys that have a meaning here; the text area handles the others.
func (b *box) press(msg tea.KeyPressMsg) (done bool, cmd tea.Cmd) {
	b.warned, b.leaving = false, false
	info := b.text.LineInfo()
	switch msg.String() {
	case "enter":
		b.send()

		return true, nil
	case "ctrl+c":
		b.stop()

		return true, nil
	case "ctrl+d":
		if b.text.Value() == "" {
			b.leaving = true
			b.deliver()

			return true, nil
		}
	case "ctrl+z":
		return true, tea.Suspend
	case "up":
		return b.text.Line() == 0 && info.RowOffset == 0 && b.recall(b.at-1), nil
	case "down":
		return b.text.Line() == b.text.LineCount()-1 && info.RowOffset >= info.Height-1 && b.recall(b.at+1), nil
	}

	return false, nil
}

// send queues the typed text as a message.
func (b *box) send() {
	text := b.text.Value()
	if strings.TrimSpace(text) == "" {
		return
	}
	b.past = append(b.past, text)
	b.next = append(b.next, text)
	b.at, b.fresh = len(b.past), ""
	b.text.Reset()
	b.deliver()
}

// stop clears the typed text; if there is none, it interrupts the answer and returns queued messages to the box; if nothing is
// being answered, it ends the chat.
func (b *box) stop() {
	switch {
	case b.text.Value() != "":
		b.text.Reset()
		b.warned = true
	case b.wanted:
		b.leave()
	default:
		b.text.SetValue(strings.Join(b.next, "\n"))
		b.next = nil
		b.interrupt()
	}
}

func (b *box) leave() {
	b.wanted = false
	close(b.lines)
}

// recall shows another earlier message, or the new one again.
func (b *box) recall(at int) bool {
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

// View implements tea.Model.
func (b *box) View() tea.View {
	if b.closed {
		return tea.NewView("")
	}
	var lines []string
	if b.doing != "" {
		lines = append(lines, b.aside(b.wheel.View()+" "+b.doing+"…"))
	}
	for _, text := range b.next {
		first, _, _ := strings.Cut(program.Visible(text), "\n")
		lines = append(lines, b.aside("then: "+first))
	}
	if b.leaving {
		lines = append(lines, b.aside("then: the end"))
	}
	lines = append(lines, b.text.View())
	if b.warned {
		lines = append(lines, b.aside(b.hint()))
	}

	return tea.NewView(strings.Join(lines, "\n"))
}

// hint says what Ctrl-C does the next time.
func (b *box) hint() string {
	if b.wanted {
		return "Ctrl-C again ends the chat"
	}

	return "Ctrl-C again stops the answer"
}

func (b *box) aside(text string) string {
	return beside + faint(ansi.Truncate(text, max(20, b.width-len(beside)-1), "…"))
}

// labelled is a text next to a name, wrapped between words.
func labelled(name, text string, width int) string {
	wrapped := ansi.Wrap(text, max(20, width-len(name)), "")

	return bold(name) + strings.ReplaceAll(wrapped, "\n", "\n"+strings.Repeat(" ", len(name)))
}
