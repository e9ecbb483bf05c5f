package answer

import (
	"bytes"
	"encoding/json"
	"regexp"
)

// begun matches what can only be the beginning of an object.
var begun = regexp.MustCompile(`^\{\s*["}]`)

// object finds the object that a model wrote within prose or a code fence, also if it wrote it twice. Text that is none, or
// several, begins with the first one as far as it goes, so that whoever parses it says what is wrong there.
func object(text []byte) []byte {
	const maxTries = 50 // a text of only braces would take quadratic time
	var found, from []byte
	rest := text
	for range maxTries {
		open := bytes.IndexByte(rest, '{')
		if open < 0 {
			break
		}
		rest = rest[open:]
		var one json.RawMessage
		switch err := json.NewDecoder(bytes.NewReader(rest)).Decode(&one); {
		case err != nil && found == nil && begun.Match(rest):
			return rest
		case err != nil:
			rest = rest[1:]

			continue
		case found == nil:
			found, from = one, rest
		case !bytes.Equal(found, one):
			return from
		}
		rest = rest[len(one):]
	}
	if found == nil {
		return text
	}

	return found
}

// Object is the JSON object in a text, without the name around it by which a model was asked for it.
func Object(text, name string) string {
	whole := object([]byte(text))
	var around map[string]json.RawMessage
	if json.Unmarshal(whole, &around) == nil && len(around) == 1 && bytes.HasPrefix(around[name], []byte("{")) {
		return string(around[name])
	}

	return string(whole)
}
