package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"

	"alfred/cmd/internal/program"
)

// terminal lets a person type at any time: output is printed above the input box. It owns the keyboard until it is closed,
// so that nothing typed during an answer is lost or echoed in the wrong place.
type terminal struct {
	out     io.Writer
	program *tea.Program
	lines   chan string   // one per request
	ended   chan struct{} // closed when the keyboard is given back
	err     error         // why it ended; to be read after ended is closed
}

// openTerminal takes over a terminal. Ctrl-C is a signal when there is nothing written that it could take away.
func openTerminal(in *os.File, out io.Writer, signals chan<- os.Signal) *terminal {
	t := &terminal{out: out, lines: make(chan string, 1), ended: make(chan struct{})}
	interrupt := func() {
		select {
		case signals <- syscall.SIGINT:
		default: // two are waiting, and no more is asked for
		}
	}
	t.program = tea.NewProgram(newBox(t.lines, interrupt), tea.WithInput(in), tea.WithOutput(out), tea.WithoutSignalHandler())
	go func() {
		defer close(t.ended)
		_, t.err = t.program.Run()
	}()

	return t
}

// line returns the next message: one queued during the last answer, or one still to be typed.
func (t *terminal) line() (string, error) {
	t.program.Send(wanted{})
	select {
	case text, more := <-t.lines:
		if !more {
			return "", io.EOF
		}
		_, err := io.WriteString(t, labelled(you, program.Visible(text), widthOf(t.out))+"\n\n")

		return text, err
	case <-t.ended:
		if t.err != nil {
			return "", t.err
		}

		return "", io.EOF
	}
}

// Write prints whole lines above the box.
func (t *terminal) Write(data []byte) (int, error) {
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" {
			line = " " // an empty one would not be printed
		}
		select {
		case <-t.ended:
			if _, err := io.WriteString(t.out, line+"\n"); err != nil {
				return 0, err
			}
		default:
			t.program.Send(tea.Println(line)()) // line by line: more than the screen holds would push the box up with it
		}
	}

	return len(data), nil
}

// show displays what is being done, "" for nothing.
func (t *terminal) show(what string) { t.program.Send(doing(what)) }

func (t *terminal) close() {
	t.program.Send(closed{})
	<-t.ended
}

const usualWidth = 80

// widthOf is how many columns a screen has.
func widthOf(out io.Writer) int {
	if file, ok := out.(*os.File); ok {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
			return width
		}
	}

	return usualWidth
}

// linesOf reads messages from a pipe or a file, one on each line; the last may lack its line break. The database decides
// how long a message may be.
func linesOf(r io.Reader) func() (string, error) {
	reader := bufio.NewReader(r)

	return func() (string, error) {
		text, err := reader.ReadString('\n')
		if errors.Is(err, io.EOF) && text != "" {
			err = nil
		}

		return text, err
	}
}
