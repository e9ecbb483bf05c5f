package nodes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"alfred/internal/llm"
	"alfred/internal/vocab"
)

// Reply words the answer and streams it. If the model refuses or answers nothing, the reply made from facts replaces
// it; only retryable errors, a prompt that is too long and a script's end are returned.
func Reply(ctx context.Context, model llm.Model, in ReplyInput) (*ReplyOutput, error) {
	out, err := ask(ctx, model, question[ReplyOutput]{
		node: vocab.NodeReply, frame: in.Frame, input: in, onDelta: func(int) func(string) { return cleaning(in.OnDelta) },
		read: in.read,
		doubt: func(out *ReplyOutput) error {
			if claim := in.falseClaim(out.Text); claim != "" {
				return fmt.Errorf("it says %q, but %s; say what is so", claim, in.Done.words())
			}
			if wrong := in.falseWeekday(out.Text); wrong != "" {
				return errors.New(wrong)
			}

			return nil
		},
	})
	switch kind := llm.KindOf(err); {
	case err == nil && in.falseClaim(out.Text) != "":
		if in.Before != "" {
			return &ReplyOutput{Text: in.withQuestion("Nothing was saved, changed or deleted just now. Before that, " + in.Before), Fallback: true}, nil
		}

		return in.WithoutModel(), nil
	case err == nil:
		out.Text = in.withQuestion(in.Done.alsoUndo(in.withNames(out.Text)))
		return out, nil
	case ctx.Err() != nil, kind == "", kind == llm.KindOverloaded, kind == llm.KindRateLimit, kind == llm.KindContextOverflow,
		kind == llm.KindScriptExhausted:
		return nil, err
	default:
		return in.WithoutModel(), nil
	}
}

// WithoutModel is the reply that needs no model.
func (in *ReplyInput) WithoutModel() *ReplyOutput {
	return &ReplyOutput{Text: in.withQuestion(in.Done.withUndo(in.facts())), Fallback: true}
}

// facts is the reply made from facts, without the false claims of a model that they quote: an analysis may conclude
// that all was saved.
func (in *ReplyInput) facts() string {
	text := in.Fallback
	for claim := in.falseClaim(text); claim != ""; claim = in.falseClaim(text) {
		text = strings.Replace(text, claim, "", 1)
	}
	if text = strings.TrimSpace(text); text == "" {
		return "Nothing was saved, changed or deleted."
	}

	return text
}

// manyRows are more than a text has to name that says how many they are: those that it names are the exceptions.
const manyRows = 5

// withNames appends which rows were written, if the text of a model names others of their types instead, or does not name what
// is gone.
func (in *ReplyInput) withNames(text string) string {
	told, names := text, ""
	for _, w := range in.Written {
		names += " " + w.Names
	}
	namesOther := slices.ContainsFunc(in.Others, func(label string) bool {
		return len(namesIn(label)) > 0 && namesEach(text, label) && !namesEach(names, label) // "milk" may be the oat milk
	})
	for _, w := range in.Written {
		counted := !w.Gone && w.Rows > manyRows && slices.Contains(strings.FieldsFunc(text, notInWord), strconv.Itoa(w.Rows))
		if (w.Gone || namesOther && !counted) && !namesEach(text, undated(w.Names)) {
			told += "\n\n" + w.Verb + ": " + w.Names + "."
		}
	}
	if in.NotWritten != "" && isEnglish(text) && !admits.MatchString(text) {
		told += "\n\n" + in.NotWritten
	}

	return told
}

// dateInName matches dates and times as the names of rows have them, of which people say "Tuesday" or "at noon".
var dateInName = regexp.MustCompile(`\b(?:(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{1,2}, \d{4}|\d{1,4}[./-]\d{1,2}[./-]\d{2,4}|\d\d:\d\d)\b(?: to\b)?`)

// undated is the names without dates, or as they are if these have nothing else.
func undated(names string) string {
	if left := dateInName.ReplaceAllString(names, ""); len(namesIn(left)) > 0 {
		return left
	}

	return names
}

// admits matches a text that says of something that it is not done.
var admits = regexp.MustCompile(`(?i)\b(?:not|no|none|nothing|cannot|unable|fail\w*|refus\w*|only|but|except|however|unfortunately|sorry|left|skip\w*|miss\w*|part\w*)\b|n['’]t\b`)

// withUndo appends what must be said of rows that were deleted with others, and about undoing the turn unless the text already
// says it.
func (d *Done) withUndo(text string) string {
	if d.Company != "" {
		text = strings.TrimSpace(text + "\n\n" + d.Company)
	}
	if d.Undo == "" || strings.Contains(strings.ToLower(text), strings.ToLower(strings.TrimSuffix(d.Undo, "."))) {
		return text
	}

	return strings.TrimSpace(text + "\n\n" + d.Undo)
}

// alsoUndo does the same for a text of a model. One in another language may say it in its own words, and that all can be undone
// is no warning, and not worth an English sentence below it.
func (d *Done) alsoUndo(text string) string {
	left := *d
	if holdsSameNames(text, d.Company) {
		left.Company = ""
	}
	goes := d.Undo == vocab.CanBeUndone && !saved.MatchString(text) || d.Undo != vocab.CanBeUndone && deniesUndo.MatchString(text)
	if goes && !isEnglish(text) {
		left.Undo = ""
	}

	return left.withUndo(text)
}

func (in *ReplyInput) read(resp *llm.Response) (*ReplyOutput, error) {
	text := strings.TrimSpace(resp.Text)
	switch {
	case text == "":
		return nil, errors.New("the answer is empty; write the reply")
	case isJSON(text):
		return nil, errors.New("it is JSON; write the reply as a person would say it")
	}

	return &ReplyOutput{Text: text}, nil
}

// isJSON reports whether a text is data rather than prose, also inside a code fence.
func isJSON(text string) bool {
	text = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(text, "```"), "json"), "```"))
	return strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}") ||
		strings.HasPrefix(text, "[") && json.Valid([]byte(text))
}
