package jobs

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"

	"alfred/internal/exact"
	"alfred/internal/llm"
)

// How long a piece of a request must be, in bytes, to be stored apart: a row of its own and its index entry cost some 250
// bytes. Postgres compresses only rows of 2 kB and more, so a shorter piece of a conversation takes less room within its
// request, even if another one repeats it. What the program says is repeated by every one.
const (
	minOwn    = 2000
	minShared = 1000
)

// cutRequest is a request as llm_calls stores it: its JSON text without the pieces that other requests are likely to
// repeat, which are stored once by their hash. It restores to the same bytes wherever it was cut.
type cutRequest struct {
	outline string      // with a line break for each part; JSON on one line has none of its own
	parts   []uuid.UUID // hashes, in order
	own     pieces      // the conversation's
	shared  pieces      // of the program and the declaration
}

// pieces are texts with their hashes. A text that occurs twice stands here twice.
type pieces struct {
	least  int // bytes
	hashes []uuid.UUID
	texts  []string
}

func (p *pieces) add(text string) uuid.UUID {
	sum := sha256.Sum256([]byte(text))
	hash := uuid.UUID(sum[:16])
	p.hashes, p.texts = append(p.hashes, hash), append(p.texts, text)

	return hash
}

// cut takes a request's parts out. It is as long as the prompt, so it is not held while the model works.
func cut(req *llm.Request) (*cutRequest, error) {
	encoded, err := exact.Storable(req)
	if err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	text, done := string(encoded), 0
	c := &cutRequest{parts: []uuid.UUID{}, own: pieces{least: minOwn}, shared: pieces{least: minShared}}
	declared, err := exact.Storable(strings.Join(req.Declared, "\n"))
	if err != nil {
		return nil, fmt.Errorf("encode what is declared: %w", err)
	}
	var outline strings.Builder
	take := func(from, to int, of *pieces) {
		if to-from < of.least {
			return
		}
		outline.WriteString(text[done:from])
		outline.WriteByte('\n')
		c.parts = append(c.parts, of.add(text[from:to]))
		done = to
	}
	gjson.Parse(text).ForEach(func(name, value gjson.Result) bool {
		switch name.Str {
		case "system", "tools", "schema": // see [llm.Request]
			take(value.Index, value.Index+len(value.Raw), &c.shared)
		case "messages":
			value.ForEach(func(_, message gjson.Result) bool {
				content := message.Get("content")
				for _, s := range sections(content.Raw) {
					of := &c.own
					if strings.Contains(string(declared), trimmed(content.Raw[s.from:s.to])) {
						of = &c.shared
					}
					take(content.Index+s.from, content.Index+s.to, of)
				}
				for _, name := range []string{"tool_calls", "reasoning"} { // every later call of the step repeats them
					said := message.Get(name)
					take(said.Index, said.Index+len(said.Raw), &c.own)
				}

				return true
			})
		}

		return true
	})
	outline.WriteString(text[done:])
	c.outline = outline.String()

	return c, nil
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

type span struct{ from, to int }

// sections divides a JSON string, without its quotes, where a section begins: at a heading or a tag behind a line break.
// Where one stands by chance, in somebody's text, one more cut does no harm.
func sections(quoted string) []span {
	if len(quoted) < 2 {
		return nil // an empty content is left out
	}
	var all []span
	from := 1
	for at := from; ; {
		next := strings.Index(quoted[at:], lineBreak)
		if next < 0 {
			return append(all, span{from, len(quoted) - 1})
		}
		at += next + len(lineBreak)
		if rest := quoted[at:]; strings.HasPrefix(rest, "## ") || strings.HasPrefix(rest, "<") {
			all, from = append(all, span{from, at}), at
		}
	}
}
