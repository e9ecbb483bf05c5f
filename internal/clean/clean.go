package clean

import (
	"regexp"
	"strings"
	"unicode"

	"alfred/internal/exact"
	"alfred/internal/llm"
	"alfred/internal/vocab"
)

var (
	// An identifier may be part of a word, as in img_01900000-0000-7000-8000-000000000101.png.
	idPattern      = regexp.MustCompile(`(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32,}`)
	cutIDPattern   = regexp.MustCompile(`(?i)(^|[^0-9a-f])[0-9a-f]{8}-[0-9a-f]{4}(?:-[0-9a-f]{0,12}){0,3}(\s*…|\s*$)`)
	tagPattern     = regexp.MustCompile(`<[\w.+-]+@[\w-]+(?:\.[\w-]+)+>|<(?:/?\s*[A-Za-z_!?|｜]|/)`) // or an address
	markerPattern  = regexp.MustCompile(`\[(/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|CALL_ID|ARGS|IMG|gMASK|sMASK))\]`)
	headingPattern = regexp.MustCompile(`(?m)^(\s*)(#+(?:\s|$)|<)`)
	speakerPattern = regexp.MustCompile(`(?im)^(\s*)([*_>\s]*(?:(?:\[?turn \d+\]?[^:\n]*?\s+)?(?:user|alfred|assistant|you|reply|system|human|tool)(?: \([^)\n]*\))?[*_]*\s*:|entities this turn))`)
	refLinePattern = regexp.MustCompile(`(?m)^(\s*)([-|]\s*` + vocab.Ref + `(?:\.\.[a-z0-9_]+)?\s*[:|])`)

	// MentionPattern matches a mention: its label, type and key.
	MentionPattern = regexp.MustCompile(vocab.Mention)
)

// Redacted replaces identifiers.
const Redacted = "[id]"

// Redact replaces every UUID-shaped text and returns how many there were. A text that was truncated within one is also
// redacted: a model would complete it.
func Redact(text string) (string, int) {
	if !hexRun(text) {
		return text, 0
	}
	found := 0
	clean := idPattern.ReplaceAllStringFunc(text, func(id string) string {
		const plain = 32 // digits without hyphens; more are a hash
		if len(id) > plain && id[8] != '-' {
			return id
		}
		found++

		return Redacted
	})

	clean = cutIDPattern.ReplaceAllStringFunc(clean, func(cut string) string {
		if strings.Count(cut, "-") == 1 && !strings.ContainsAny(cut, "abcdefABCDEF") {
			return cut // a date and a time
		}
		found++
		around := cutIDPattern.FindStringSubmatch(cut)

		return around[1] + Redacted + around[2]
	})

	return clean, found
}

// hexRun reports whether a text has eight consecutive hexadecimal digits, as every UUID does. It looks at the last of
// eight bytes first, which rules out most texts with a look at every fifth byte; the pattern takes hundreds of times as long.
func hexRun(text string) bool {
	const least = 8
	for end := least - 1; end < len(text); {
		at := end
		for at > end-least && hexDigit(text[at]) {
			at--
		}
		if at == end-least {
			return true
		}
		end = at + least
	}

	return false
}

func hexDigit(c byte) bool {
	letter := c | 0x20

	return '0' <= c && c <= '9' || 'a' <= letter && letter <= 'f'
}

// Inline turns a text into a single line of at most so many characters (0: unlimited).
func Inline(text string, most int) string {
	text, _ = Redact(Line(text))

	return Clip(defused(text), most)
}

// Line puts a text on a single line, and changes nothing else that can be seen.
func Line(text string) string {
	if inline(text) {
		return text
	}

	return strings.Join(strings.FieldsFunc(strings.Map(seen, text), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// seen leaves out what nobody sees: characters after which a line reads in another order than it is written, and those that
// spell letters to models alone.
func seen(r rune) rune {
	if '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069' || 0xe0000 <= r && r <= 0xe007f {
		return -1
	}

	return r
}

// inline reports whether a text is plain ASCII on one line, with single spaces between its words. Most are, and finding
// out takes a tenth of the time of taking a text apart.
func inline(text string) bool {
	before := byte(' ')
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == ' ' && before == ' ' {
			return false
		}
		before = text[i]
	}

	return before != ' ' || text == ""
}

// defused neutralizes tags and the markers of models' chat templates: some servers' tokenizers interpret them anywhere
// in a prompt.
func defused(text string) string {
	if strings.IndexByte(text, '<') >= 0 {
		text = untagged(text)
	}

	return unmarked(text, "($1)")
}

// unmarked replaces the markers. Few texts have a bracket, and the pattern takes a hundred times as long as looking for one.
func unmarked(text, by string) string {
	if strings.IndexByte(text, '[') < 0 {
		return text
	}

	return markerPattern.ReplaceAllString(text, by)
}

// untagged neutralizes tags, but not addresses: "Mei <mei@example.org>" stays unchanged.
func untagged(text string) string {
	return tagPattern.ReplaceAllStringFunc(text, func(found string) string {
		if strings.HasSuffix(found, ">") {
			return found
		}

		return "‹" + found[1:]
	})
}

// Block keeps a text's lines and neutralizes those that look like prompt structure.
func Block(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return -1
		case r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.IsSpace(r)): // Unicode has its own line separators
			return ' '
		default:
			return seen(r)
		}
	}, text)
	text = defused(text)
	if strings.ContainsAny(text, "#<") {
		text = headingPattern.ReplaceAllString(text, `$1\$2`)
	}
	if strings.IndexByte(text, ':') >= 0 || strings.Contains(strings.ToLower(text), "this turn") {
		text = speakerPattern.ReplaceAllString(text, `$1\$2`)
	}
	if MayNameRefs(text) {
		text = refLinePattern.ReplaceAllString(text, `$1\$2`)
	}
	text, _ = Redact(text)

	return strings.TrimSpace(text)
}

// Clip truncates a text to so many characters (0: not at all) and marks the cut.
func Clip(text string, most int) string {
	if most <= 0 || len(text) <= most {
		return text
	}
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}

	return strings.TrimSpace(string(runes[:most])) + "…"
}

// Tokens estimates a text's tokens.
func Tokens(text string) int { return llm.EstimateTokens(text) }

// RunesPerToken converts a token budget to characters.
const RunesPerToken = 4

var unbracketed = strings.NewReplacer("<", `\u003c`, "|", `\u007c`)

// JSON prints a value on one line. None of its brackets can be taken for a tag or template marker, and no bar for a
// table column.
func JSON(value any) string {
	encoded, err := exact.Encode(value)
	if err != nil {
		return "null"
	}
	text, _ := Redact(strings.Map(seen, string(encoded)))

	return unmarked(unbracketed.Replace(text), `\u005b$1]`)
}

// Cell makes a text fit for a table cell.
func Cell(text string) string { return Inline(strings.ReplaceAll(text, "|", "/"), 0) }
