package exact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// ErrMore is returned for text that goes on after its value.
var ErrMore = errors.New("more than one value")

// Decode reads the one JSON value that data holds into out. Numbers that out
// leaves open become json.Number.
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

// unstorable finds escapes that JSON allows and jsonb does not: NUL, and halves of surrogate pairs.
var unstorable = regexp.MustCompile(`\\u(0000|[dD][89a-fA-F])`)

// Storable is the JSON of a value as jsonb takes it: models write NUL characters
// and broken Unicode now and then, and Postgres refuses both.
func Storable(value any) (json.RawMessage, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	if !unstorable.Match(encoded) {
		if utf8.Valid(encoded) { // all but always: the other way copies
			return encoded, nil
		}

		return bytes.ToValidUTF8(encoded, []byte("?")), nil
	}
	var decoded any
	if err := Decode(encoded, &decoded); err != nil {
		return nil, fmt.Errorf("clean JSON: %w", err)
	}

	return json.Marshal(WithoutNUL(decoded))
}

// WithoutNUL is a decoded value without NUL characters. It changes lists and objects in place.
func WithoutNUL(value any) any {
	switch v := value.(type) {
	case string:
		return strings.ReplaceAll(v, "\x00", "")
	case []any:
		for i := range v {
			v[i] = WithoutNUL(v[i])
		}
	case map[string]any:
		for _, name := range slices.Collect(maps.Keys(v)) {
			inner := WithoutNUL(v[name])
			delete(v, name)
			v[strings.ReplaceAll(name, "\x00", "")] = inner
		}
	}

	return value
}
