package jobs

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"alfred/internal/exact"
	"alfred/internal/llm"
)

// How long a piece of a request must be, in bytes, to be stored separately: a row of its own and its index entry cost
// some 250 bytes. Postgres compresses only rows of 2 kB and more, so a shorter piece of a conversation takes less room
// within its request, even if the turn's other requests repeat it. What later turns repeat as well, such as the profile
// and the rows in view, pays for its row soon. Every request repeats what the program says.
const (
	minOwn      = 2000
	minRepeated = 200
	minShared   = 1000
)

// cutRequest is a request as llm_calls stores it: its JSON text without the pieces that other requests are likely to
// repeat, which are stored once by their hash. It restores to the same bytes wherever it was cut.
type cutRequest struct {
	outline  []byte                 // with a line break for each part; JSON on one line has none of its own
	parts    []uuid.UUID            // hashes, in order
	own      pieces                 // the conversation's
	shared   pieces                 // of the program and the declaration
	declared string                 // what the program says within messages, as JSON
	said     func(text string) bool // whether requests of earlier turns contained it; nil if that is not to matter
	err      error                  // the first
}

// pieces are the texts taken out of a request. A text that occurs twice is listed twice.
type pieces struct {
	least int // bytes
	list  []piece
}

// piece is a text as llm_call_keep takes it.
type piece struct {
	Hash uuid.UUID `json:"hash"`
	Text string    `json:"text"`
}

func (p *pieces) add(text string) uuid.UUID {
	hash := hashOf(text)
	p.list = append(p.list, piece{hash, text})

	return hash
}

func hashOf(text string) uuid.UUID {
	sum := sha256.Sum256([]byte(text))

	return uuid.UUID(sum[:16])
}

// repeated remembers which turn of a conversation was the first to send a text to a model. What it forgets, or another
// worker sent, only takes more room.
type repeated struct {
	mu           sync.Mutex
	newer, older map[repeatedText]uuid.UUID
}

type repeatedText struct{ session, hash uuid.UUID }

// maxRepeated texts take some 2 MB.
const maxRepeated = 20_000

// before returns a function that reports whether a turn of the session before this one sent a text.
func (r *repeated) before(session, turn uuid.UUID) func(text string) bool {
	return func(text string) bool {
		key := repeatedText{session, hashOf(text)}
		r.mu.Lock()
		defer r.mu.Unlock()
		first, known := r.newer[key]
		if known {
			return first != turn
		}
		if first, known = r.older[key]; !known {
			first = turn
		}
		if r.newer == nil || len(r.newer) >= maxRepeated {
			r.newer, r.older = map[repeatedText]uuid.UUID{}, r.newer
		}
		r.newer[key] = first

		return first != turn
	}
}

// sharedParts remembers which shared pieces are stored, by month and hash, so that instructions and tools, most of a
// request, are not sent with each one. Sending them again after a minute heals a table that somebody has emptied.
type sharedParts struct {
	mu     sync.Mutex
	stored map[sharedPart]time.Time
}

type sharedPart struct {
	month string
	hash  uuid.UUID
}

const resendShared = time.Minute

// monthOf is the month of a call's partition.
func monthOf(call uuid.UUID) string {
	return time.Unix(call.Time().UnixTime()).UTC().Format("2006-01")
}

// missing returns the pieces that are not known to be stored in the call's month.
func (s *sharedParts) missing(call uuid.UUID, of []piece) (missing []piece) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range of {
		if time.Since(s.stored[sharedPart{monthOf(call), one.Hash}]) > resendShared {
			missing = append(missing, one)
		}
	}

	return missing
}

// committed notes that a call's pieces are on disk.
func (s *sharedParts) committed(call uuid.UUID, of []piece) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.stored, func(_ sharedPart, at time.Time) bool { return time.Since(at) > resendShared })
	for _, one := range of {
		s.stored[sharedPart{monthOf(call), one.Hash}] = time.Now()
	}
}

// cut takes a request's parts out: what the program says as a whole, of messages their sections. The result is as long as the prompt, so it
// is not held while the model works.
func cut(req *llm.Request, said func(text string) bool) (*cutRequest, error) {
	c := &cutRequest{said: said, parts: []uuid.UUID{}, own: pieces{least: minOwn}, shared: pieces{least: minShared}}
	c.declared = c.encode(strings.Join(req.Declared, "\n"))
	c.write(`{"system":`)
	c.take(c.encode(req.System), &c.shared)
	c.write(`,"messages":[`)
	for i := range req.Messages {
		if i > 0 {
			c.write(",")
		}
		c.message(&req.Messages[i])
	}
	c.write("]")
	rest := *req
	rest.System, rest.Messages = "", nil
	c.take(strings.TrimPrefix(c.encode(rest), `{"system":"","messages":null`), &c.shared)

	return c, c.err
}

func (c *cutRequest) write(text string) { c.outline = append(c.outline, text...) }

func (c *cutRequest) encode(value any) string {
	encoded, err := exact.Storable(value)
	if err != nil && c.err == nil {
		c.err = fmt.Errorf("encode request: %w", err)
	}

	return string(encoded)
}

// take writes a text into the outline or, if it is long, adds it to the pieces.
func (c *cutRequest) take(text string, of *pieces) {
	if len(text) < of.least {
		c.write(text)
	} else {
		c.part(text, of)
	}
}

func (c *cutRequest) part(text string, of *pieces) {
	c.write("\n")
	c.parts = append(c.parts, of.add(text))
}

// message takes out long and repeated sections, and what every later call of the step repeats.
func (c *cutRequest) message(m *llm.Message) {
	text := c.encode(m)
	if m.Role == llm.RoleAssistant {
		c.take(text, &c.own)

		return
	}
	for _, section := range sections(text) {
		c.section(section)
	}
}

func (c *cutRequest) section(text string) {
	switch {
	case strings.Contains(c.declared, trimmed(text)):
		c.take(text, &c.shared)
	case len(text) >= c.own.least, c.repeats(text):
		c.part(text, &c.own)
	default:
		for line := range strings.SplitAfterSeq(text, lineBreak) {
			if c.repeats(line) {
				c.part(line, &c.own)
			} else {
				c.write(line)
			}
		}
	}
}

func (c *cutRequest) repeats(text string) bool {
	return len(text) >= minRepeated && c.said != nil && c.said(text)
}

// lineBreak is one within a JSON string.
const lineBreak = `\n`

// trimmed is a piece of a JSON string without the line breaks at its end.
func trimmed(quoted string) string {
	for strings.HasSuffix(quoted, lineBreak) {
		quoted = strings.TrimSuffix(quoted, lineBreak)
	}

	return quoted
}

// sections divides a JSON text at the start of each section: a heading or a tag after a line break. One that stands there by chance, in
// somebody's text, costs only another cut.
func sections(text string) (all []string) {
	from := 0
	for at := from; ; {
		next := strings.Index(text[at:], lineBreak)
		if next < 0 {
			return append(all, text[from:])
		}
		at += next + len(lineBreak)
		if rest := text[at:]; strings.HasPrefix(rest, "## ") || strings.HasPrefix(rest, "<") {
			all, from = append(all, text[from:at]), at
		}
	}
}
