package main

import (
	"bufio"
	"errors"
	"io"
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
