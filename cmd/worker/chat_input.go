package main

import (
	"bufio"
	"errors"
	"io"
	"os"

	"golang.org/x/term"
)

// input yields messages line by line. line returns io.EOF at the end.
type input interface {
	line() (string, error)
	close()
}

// plainInput is a pipe or a file.
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

// terminalInput is a terminal with line editing and history. It is raw only while a line is being read, so that between
// lines Ctrl-C is a signal.
type terminalInput struct {
	fd    int
	lines *term.Terminal
	was   *term.State
}

func newTerminalInput(in *os.File, out io.Writer) *terminalInput {
	both := struct {
		io.Reader
		io.Writer
	}{in, out}

	return &terminalInput{fd: int(in.Fd()), lines: term.NewTerminal(both, "You    ")}
}

func (t *terminalInput) line() (string, error) {
	var err error
	if t.was, err = term.MakeRaw(t.fd); err != nil {
		return "", err
	}
	defer t.close()
	if width, height, err := term.GetSize(t.fd); err == nil && width > 0 {
		_ = t.lines.SetSize(width, height) // at worst, lines wrap wrongly
	}
	text, err := t.lines.ReadLine()
	if errors.Is(err, term.ErrPasteIndicator) {
		err = nil
	}

	return text, err
}

// close restores the terminal.
func (t *terminalInput) close() {
	if t.was != nil {
		_ = term.Restore(t.fd, t.was) // a closed terminal needs no state
		t.was = nil
	}
}
