package jobs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// unstorable finds escapes that JSON allows and jsonb does not: NUL, and halves of surrogate pairs.
var unstorable = regexp.MustCompile(`\\u(0000|[dD][89a-fA-F])`)

// storable is the JSON of a value as jsonb takes it: models write NUL characters
// and broken Unicode now and then, and Postgres refuses both.
func storable(value any) (json.RawMessage, error) {
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
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.UseNumber()
	var decoded any
	if err := decoder.Decode(&decoded); err != nil {
		return nil, fmt.Errorf("clean JSON: %w", err)
	}

	return json.Marshal(withoutNUL(decoded))
}

func withoutNUL(value any) any {
	switch v := value.(type) {
	case string:
		return strings.ReplaceAll(v, "\x00", "")
	case []any:
		for i := range v {
			v[i] = withoutNUL(v[i])
		}
	case map[string]any:
		for key, inner := range v {
			delete(v, key)
			v[strings.ReplaceAll(key, "\x00", "")] = withoutNUL(inner)
		}
	}

	return value
}
