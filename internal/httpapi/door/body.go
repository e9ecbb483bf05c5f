package door

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"alfred/internal/exact"
	"alfred/internal/httpapi/problem"
)

// The roles of messages whose texts are read.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
)

const (
	// maxBody bounds a request: it contains the conversation so far, although only the last message counts.
	maxBody = 8 << 20

	bodyReadTimeout = 10 * time.Second
)

// readBody decodes a JSON body. Unknown fields are part of the protocol, not errors.
func readBody(w http.ResponseWriter, r *http.Request, into any) error {
	data, err := ReadAll(w, r, maxBody)
	if err != nil {
		return err
	}
	err = json.Unmarshal(data, into)
	if err == nil {
		return nil
	}
	why := problem.OneLine(err.Error())
	if other, ok := errors.AsType[*json.UnmarshalTypeError](err); ok { // which names types of ours
		why = cmp.Or(other.Field, "it") + " may be no " + other.Value
	}

	return problem.Invalid("The request is not the JSON that it should be: " + why)
}

// ReadAll reads a body of at most this many bytes, or says what is wrong with it. Nobody may keep it waiting.
func ReadAll(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	control := http.NewResponseController(w)
	if err := control.SetReadDeadline(time.Now().Add(bodyReadTimeout)); err != nil {
		return nil, fmt.Errorf("set read deadline: %w", err)
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, problem.New(http.StatusRequestEntityTooLarge, "message_too_large", fmt.Sprintf("The request is larger than %d MiB.", most>>20))
	}
	if err != nil {
		return nil, problem.Invalid("The request could not be read.")
	}
	// The server detects a disconnecting client by reading; that must not hit the deadline.
	if err := control.SetReadDeadline(time.Time{}); err != nil {
		return nil, fmt.Errorf("clear read deadline: %w", err)
	}

	return data, CheckValues(data)
}

// maxValues is far more than anybody sends, and bounds the memory that a body takes: decoded, values of three bytes take
// ten times as much.
const maxValues = 100_000

// CheckValues refuses JSON of too many values before it is decoded.
func CheckValues(data []byte) error {
	values := 0
	for _, c := range exact.Structure(data) {
		if c == ',' || c == '[' || c == '{' {
			values++
		}
	}
	if values > maxValues {
		return problem.Invalid(fmt.Sprintf("The request has more than %d values.", maxValues))
	}

	return nil
}

// Message is one of the conversation that a client resends.
type Message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// Text reads the content: a text, or a list of text parts.
func (m *Message) Text() (string, error) {
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		return text, nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(m.Content, &parts); err != nil {
		return "", problem.Invalid("A message's content is a text, or a list of parts of type text.")
	}
	texts := make([]string, 0, len(parts))
	for _, part := range parts {
		if part.Type != "text" {
			return "", problem.Invalid("Parts of type " + problem.OneLine(part.Type) + " cannot be read here; send text.")
		}
		texts = append(texts, part.Text)
	}

	return strings.Join(texts, "\n"), nil
}
