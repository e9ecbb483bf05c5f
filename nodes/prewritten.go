package nodes

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"alfred/internal/llm"
	"alfred/internal/vocab"
)

// AnswersAlone reports whether the reply that an answer contains can be given at once: no row is read, written or drafted,
// and nothing is asked. What a row says is never told without reading it.
func (o *UnderstandOutput) AnswersAlone() bool {
	plansNothing := o.Think != nil && len(o.Think.Steps) == 0 && o.Think.implied() == "plan"
	asksOrSearches := o.Disambiguation != nil || o.Clarification != nil || o.Recall != nil

	return o.Say != "" && plansNothing && !asksOrSearches && slices.Contains([]string{"chat", "answer", "explore"}, o.Intent)
}

// Prewritten is the reply that an earlier answer of the turn contains, checked like any reply; nil if it cannot be used, so
// that a model has to be asked. It must not name a ref.
func (in *ReplyInput) Prewritten(text string, refs Refs) *ReplyOutput {
	out, err := in.read(&llm.Response{Text: text})
	if err != nil || in.Ask != "" || in.falseClaim(out.Text) != "" || in.falseWeekday(out.Text) != "" {
		return nil
	}
	for ref := range vocab.Refs(out.Text) {
		if _, ok := refs[ref]; ok {
			return nil
		}
	}
	out.Text = in.Done.alsoUndo(in.withNames(out.Text))

	return out
}

// PrewrittenWithDrafts is the reply that begins with the words that came with this turn's drafts, checked like any reply, and
// then shows the drafts; nil if the words cannot be used. If the words do not offer to save the drafts, the offer
// follows.
func (in *ReplyInput) PrewrittenWithDrafts(words, drafts string, refs Refs) *ReplyOutput {
	asked := *in
	if in.Offer {
		asked.Ask = ""
	}
	out := asked.Prewritten(words, refs)
	if out == nil || drafts == "" {
		return nil
	}
	offered, _ := in.QuestionIn(out.Text)
	out.Text += "\n\n" + drafts
	if in.Ask != "" && offered == "" {
		out.Text += "\n\n" + in.Ask
	}

	return out
}

var sayBegin = regexp.MustCompile(`"say"\s*:\s*"`)

// introducing returns the function that passes on the words that come with drafts while they are being written. The
// words of a repaired answer are not shown before it is whole.
func (in *ActInput) introducing(attempt int) func(string) {
	if !in.Introduces || attempt > 1 {
		return nil
	}

	return cleaning(in.OnDelta)
}

// speaking returns the function that passes on the reply within an answer while it is being written. The reply of a
// repaired answer is not shown before it is whole.
func (in *UnderstandInput) speaking(attempt int) func(string) {
	if in.OnDelta == nil || in.Plan == nil || attempt > 1 {
		return nil
	}

	return (&speech{in: in}).add
}

// speech is the reply within an answer that is being written. It is the answer's last field, so what precedes it
// decides whether it may be shown.
type speech struct {
	in     *UnderstandInput
	text   string
	from   int  // where the reply begins in text; 0 before that is known
	silent bool // something has to be done first
	told   string
}

func (s *speech) add(piece string) {
	s.text += piece
	if s.from == 0 && !s.silent {
		s.begin()
	}
	if s.from == 0 || s.silent {
		return
	}
	told := cleanText(partOf(s.text[s.from:]))
	if more, ok := strings.CutPrefix(told, s.told); ok && more != "" {
		s.told = told
		s.in.OnDelta(more)
	}
}

func (s *speech) begin() {
	at := sayBegin.FindStringIndex(s.text)
	if at == nil {
		return
	}
	out, err := decodeUnderstand(s.text[:at[1]]+`."}`, s.in)
	s.from, s.silent = at[1], err != nil || !out.AnswersAlone()
}

// partOf is the text of a JSON string without its opening quote, as far as it has arrived.
func partOf(raw string) string {
	end := 0
	for end < len(raw) && raw[end] != '"' {
		step := 1
		if raw[end] == '\\' {
			step = 2
			if strings.HasPrefix(raw[end:], `\u`) {
				step = 6
			}
		}
		if end+step > len(raw) {
			break
		}
		end += step
	}
	var text string
	if json.Unmarshal([]byte(`"`+strings.ToValidUTF8(raw[:end], "")+`"`), &text) != nil {
		return ""
	}

	return text
}
