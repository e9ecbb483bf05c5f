package mover

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// Kinds of messages of the plug-in pgoutput, protocol 1.
const (
	kindRelation = 'R'
	kindInsert   = 'I'
	kindUpdate   = 'U'
	kindDelete   = 'D'
	kindTruncate = 'T'
)

// valueIsText precedes a value that was sent; others are null, or long and unchanged.
const valueIsText = 't'

var errShort = errors.New("a message of the publication is cut off")

// parser reads a message's fields. After one that is not there err is set, and all that follow are empty.
type parser struct {
	rest []byte
	err  error
}

func (p *parser) take(n int) []byte {
	if n < 0 || n > len(p.rest) {
		p.rest, p.err = nil, errShort

		return make([]byte, 8) // wide enough for any number
	}
	taken := p.rest[:n]
	p.rest = p.rest[n:]

	return taken
}

func (p *parser) byte() byte   { return p.take(1)[0] }
func (p *parser) short() int   { return int(binary.BigEndian.Uint16(p.take(2))) }
func (p *parser) long() uint32 { return binary.BigEndian.Uint32(p.take(4)) }

func (p *parser) text() string {
	text, rest, ended := bytes.Cut(p.rest, []byte{0})
	if !ended {
		p.rest, p.err = nil, errShort

		return ""
	}
	p.rest = rest

	return string(text)
}

// relation reads which columns a table's tuples have.
func (p *parser) relation() (id uint32, name string, columns []string) {
	id = p.long()
	name = p.text() + "." + p.text()
	p.byte() // the replica identity
	for range p.short() {
		p.byte() // whether it is of the key
		columns = append(columns, p.text())
		p.take(4 + 4) // type and modifier
	}

	return id, name, columns
}

// tuple reads a row's values; nil are those that are null or were not sent.
func (p *parser) tuple() []*string {
	values := make([]*string, p.short())
	for i := range values {
		if p.byte() == valueIsText {
			text := string(p.take(int(p.long())))
			values[i] = &text
		}
		if p.err != nil {
			return nil
		}
	}

	return values
}
