package crud

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"alfred/internal/domain"
	"alfred/internal/vocab"
	"alfred/registry"
)

// questionText names the first of the rows that a call and those like it would change, and what would be written into all of them; "" if
// there are none.
func (d *decision) questionText(ctx context.Context, tx pgx.Tx, s *step) (string, error) {
	becomes, err := s.newValues(ctx, tx)
	if err != nil {
		return "", err
	}
	var calls []*step
	for _, one := range d.callsLike(s) {
		other, err := one.newValues(ctx, tx)
		if err != nil {
			return "", err
		}
		if other == becomes {
			calls = append(calls, one)
		}
	}
	all := targetsOf(calls)
	rows := each(all[:min(len(all), namedInQuestion)], maps.Clone[map[string]any])
	if err := addLinkLabels(ctx, tx, s.entity, rows, furthestName, linksOf(s.entity.Label)...); err != nil {
		return "", err
	}
	if alike(labelsOf(s.entity, rows)) { // whose each is tells them apart
		if err := addLinkLabels(ctx, tx, s.entity, rows, furthestName, pointsTo(s.entity)...); err != nil {
			return "", err
		}
	}
	verb := map[string]string{vocab.ToolCreate: "add", vocab.ToolDelete: "delete", vocab.ToolUpdate: "change"}[s.call.Tool]
	noun := s.entity.Name
	if len(all) > 1 {
		noun = s.entity.Plural
	}
	labels := distinctLabels(s.entity, rows)
	for i, label := range labels {
		labels[i] = cmp.Or(label, firstValues(s.entity, rows[i]), "one that says nothing")
	}
	switch {
	case len(all) == 0:
		return "", nil
	case len(all) == 1 && strings.EqualFold(labels[0], noun): // there is no other: the user's preferences
		return fmt.Sprintf("This would %s the %s%s", verb, noun, becomes), nil
	default:
		return fmt.Sprintf("This would %s %d %s%s: %s", verb, len(all), noun, becomes, andMore(labels, len(all))), nil
	}
}

// newValues is what a call would write into its rows, " (status: present)"; "" for any but an update. Whoever agrees has to know the values
// too, which are the model's.
func (s *step) newValues(ctx context.Context, tx pgx.Tx) (string, error) {
	op, updates := s.op.(*updateOp)
	if !updates {
		return "", nil
	}
	if op.becomes == "" {
		values, err := valuesInWords(ctx, tx, s.entity, op.written)
		if err != nil {
			return "", err
		}
		op.becomes = inBrackets(strings.Join(values, ", "))
	}

	return op.becomes, nil
}

func inBrackets(text string) string {
	if text == "" {
		return ""
	}

	return " (" + text + ")"
}

// valuesInWords are values as a question names them, in the order of their columns; references by the rows' labels.
func valuesInWords(ctx context.Context, tx pgx.Tx, e *domain.Entity, values map[string]any) ([]string, error) {
	var words []string
	for _, c := range e.Columns {
		name, text := c.Name, "nothing"
		if _, given := values[name]; !given {
			continue
		}
		switch {
		case e.Match != nil && e.Match.Link == c: // goes without saying: it follows the name
			continue
		case values[name] == nil:
		case c.Target() != nil:
			found, err := loadForTemplates(ctx, tx, c.Target(), queryByKeys(c.Target(), textsIn([]map[string]any{values}, c)), furthestName, c.Target().Label)
			if err != nil {
				return nil, err
			}
			text = joinEach(found.Rows, ", ", c.Target().Label.Render)
		case c.Kind == domain.KindTimestamp, c.Kind == domain.KindDate:
			var err error
			if text, err = onTheUsersClock(ctx, tx, c, values[name]); err != nil {
				return nil, err
			}
		default:
			text = argumentWords(c, values[name])
		}
		if text = registry.Scrub(text); text != "" {
			words = append(words, domain.Spoken(name)+": "+text)
		}
	}

	return words, nil
}

// previewText says what would be done: in the owner's sentences, if there is a function for that, after the row's name where they do
// not say it. Of "the lease of unit 1D", nobody knows whose it is.
func (op *operateOp) previewText(ctx context.Context, tx pgx.Tx) (string, error) {
	if op.declared.Preview == "" {
		return op.callInWords(ctx, tx)
	}
	said, err := op.call(ctx, tx, op.declared.Preview)
	if err != nil {
		return "", err
	}
	text := sentences(said...)
	label, err := op.label(ctx, tx)
	if err == nil && !holdsWords(text, label) {
		text = strings.TrimSpace(op.words(label) + " " + text)
	}

	return text, err
}

// callInWords is what a call says in words.
func (op *operateOp) callInWords(ctx context.Context, tx pgx.Tx) (string, error) {
	label, err := op.label(ctx, tx)
	if err != nil {
		return "", err
	}
	given := map[string]any{}
	for _, c := range op.declared.Args.Columns[1:] {
		if value := op.keys[c.Name]; value != nil {
			given[c.Name] = value
		}
	}
	with, err := valuesInWords(ctx, tx, op.declared.Args, given)

	return op.words(label, with...), err
}

// words say on which row the operation would be carried out, and with what. One that is named after the type, as cancel_order, is
// not told with both names.
func (op *operateOp) words(label string, with ...string) string {
	does, row := domain.Spoken(op.declared.Name), nounAndLabel(op.declared.On, label)
	if verb, named := strings.CutSuffix(does, " "+op.declared.On.Name); named {
		does = verb + " the"
	} else {
		does += ":"
	}

	return sentences(fmt.Sprintf("This would %s %s", does, strings.Join(append([]string{row}, with...), ", ")))
}

// label is what the row is called, "" if that is not known.
func (op *operateOp) label(ctx context.Context, tx pgx.Tx) (string, error) {
	called, err := labels(ctx, tx, op.declared.On, []string{op.this})

	return strings.Join(slices.Collect(maps.Values(called)), ""), err
}

// onTheUsersClock words a day or time as people read them: the model may have written a time as one of another zone.
func onTheUsersClock(ctx context.Context, tx pgx.Tx, c *domain.Column, value any) (string, error) {
	s, layout := &statement{}, "Dy Mon FMDD, YYYY"
	if c.Kind == domain.KindTimestamp {
		layout += " HH24:MI"
	}
	s.add("SELECT to_char(", s.cast(fmt.Sprint(value), c.Type), ", '"+layout+"')")
	texts, err := s.texts(ctx, tx)
	if err != nil {
		return "", fmt.Errorf("word a time: %w", err)
	}

	return strings.Join(texts, ""), nil
}

// longestValue is how many characters of a value a question shows.
const longestValue = 80

func argumentWords(c *domain.Column, value any) string {
	text := joinEach(asList(value), ", ", func(one any) string { return argumentText(c.Kind, one) })

	return registry.CleanText(text, longestValue)
}
