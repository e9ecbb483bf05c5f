package exact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// ErrMore says that text follows the value.
var ErrMore = errors.New("more than one value")

// Decode decodes a single JSON value into out. Numbers without a Go type become
// json.Number.
func Decode(data []byte, out any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(out); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return ErrMore
	}

	return nil
}

// unstorable matches escapes that JSON allows and jsonb does not: NUL and halves of surrogate pairs.
var unstorable = regexp.MustCompile(`\\u(0000|[dD][89a-fA-F])`)

// vast matches numbers that Postgres writes out in hundreds of digits, or in a hundred thousand.
var vast = regexp.MustCompile(`[eE][-+]?[0-9]{3}`)

// holdsVast reports whether JSON has such a number, outside its texts.
func holdsVast(encoded []byte) bool {
	for i, c := range Structure(encoded) {
		if (c == 'e' || c == 'E') && '0' <= encoded[i-1] && encoded[i-1] <= '9' && vast.Match(encoded[i:min(i+5, len(encoded))]) {
			return true
		}
	}

	return false
}

// Structure yields the bytes of JSON that belong to none of its texts, each with its place. It jumps over texts, of which long JSON
// mostly consists.
func Structure(encoded []byte) iter.Seq2[int, byte] {
	return func(yield func(int, byte) bool) {
		for i := 0; i < len(encoded); i++ {
			if encoded[i] == '"' {
				i = textEnd(encoded, i+1)
			} else if !yield(i, encoded[i]) {
				return
			}
		}
	}
}

// textEnd is the place of the quotation mark that ends the text which begins at from; the end if none does.
func textEnd(encoded []byte, from int) int {
	for end := from; ; end++ {
		next := bytes.IndexByte(encoded[end:], '"')
		if next < 0 {
			return len(encoded)
		}
		end += next
		escapes := len(encoded[from:end]) - len(bytes.TrimRight(encoded[from:end], `\`))
		if escapes%2 == 0 {
			return end
		}
	}
}

// Storable encodes a value as JSON that jsonb accepts and does not inflate: models occasionally write NUL characters,
// broken Unicode and numbers of a hundred thousand digits.
func Storable(value any) (json.RawMessage, error) {
	encoded, err := Encode(value)
	if err != nil {
		return nil, err
	}
	escapes := bytes.Contains(encoded, []byte(`\u`)) && unstorable.Match(encoded) // few texts have any such escape
	if !escapes && !holdsVast(encoded) {
		if utf8.Valid(encoded) { // the common case: the alternative copies
			return encoded, nil
		}

		return bytes.ToValidUTF8(encoded, []byte("?")), nil
	}
	var decoded any
	if err := Decode(encoded, &decoded); err != nil {
		return nil, fmt.Errorf("clean JSON: %w", err)
	}

	return Encode(Tame(decoded))
}

// Encode encodes on one line and leaves <, > and & as they are: escaped for HTML they would take six bytes each.
func Encode(value any) (json.RawMessage, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)

	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// Tame removes NUL characters from a decoded value, and makes texts of vast numbers. It changes lists and objects in place.
func Tame(value any) any {
	switch v := value.(type) {
	case json.Number:
		if vast.MatchString(v.String()) {
			return v.String()
		}
	case string:
		return strings.ReplaceAll(v, "\x00", "")
	case []any:
		for i := range v {
			v[i] = Tame(v[i])
		}
	case map[string]any:
		for _, name := range slices.Collect(maps.Keys(v)) {
			inner := Tame(v[name])
			delete(v, name)
			v[strings.ReplaceAll(name, "\x00", "")] = inner
		}
	}

	return value
}
