package follow

import "strings"

// Speech turns a turn's events into a text that only grows, for readers who cannot retract what they have shown. Its
// zero value is ready.
type Speech struct {
	said  strings.Builder
	muted bool
}

// Hear returns the piece of the reply that an event brings, often none. After a reply.reset, when the model starts
// over, it returns nothing more until Rest.
func (s *Speech) Hear(e *Event) (string, error) {
	switch e.Type {
	case "reply.reset":
		s.muted = s.said.Len() > 0
	case "reply.delta":
		var delta struct {
			Text string `json:"text"`
		}
		if err := e.Decode(&delta); err != nil {
			return "", err
		}
		if !s.muted {
			s.said.WriteString(delta.Text)

			return delta.Text, nil
		}
	}

	return "", nil
}

// Rest returns the unsent part of the committed text, which overrides the streamed pieces. corrected reports that
// something else was sent before, and that rest is the whole text.
func (s *Speech) Rest(committed string) (rest string, corrected bool) {
	said := s.said.String()
	if rest, ok := strings.CutPrefix(committed, said); ok {
		return rest, false
	}
	if strings.TrimRight(said, " \n") == strings.TrimRight(committed, " \n") {
		return "", false
	}

	return committed, true
}
