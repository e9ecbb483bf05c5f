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

// written are rows into which calls of one kind would write the same.
type written struct {
	becomes string // what that is
	calls   []*step
	rows    []map[string]any
	labels  []string // of the first rows
}

// questionText names the first of the rows that a call and those like it would change, and what would be written into all of them; "" if
// there are none. Rows that get something each are one list, with what they get: thirteen sentences of a price read like no question.
func (d *decision) questionText(ctx context.Context, tx pgx.Tx, s *step) (string, error) {
	groups, own, err := d.writtenAlike(ctx, tx, s)
	if err != nil || len(own.rows) == 0 {
		return "", err
	}
	if err := nameWritten(ctx, tx, s.entity, groups); err != nil {
		return "", err
	}
	verb := map[string]string{vocab.ToolCreate: "add", vocab.ToolDelete: "delete", vocab.ToolUpdate: "change"}[s.call.Tool]
	n, noun, names := len(own.rows), s.entity.Plural, own.becomes+": "+andMore(own.labels, len(own.rows))
	single := only(groups, func(one *written) bool { return len(one.rows) == 1 })
	switch {
	case n == 1 && len(single) > 1:
		n, names = len(single), ": "+joinEach(single, "; ", func(one *written) string { return one.labels[0] + one.becomes })
	case n == 1 && strings.EqualFold(own.labels[0], s.entity.Name): // there is no other: the user's preferences
		return fmt.Sprintf("This would %s the %s%s", verb, s.entity.Name, own.becomes), nil
	case n == 1:
		noun = s.entity.Name
	}

	return fmt.Sprintf("This would %s %d %s%s", verb, n, noun, names), nil
}

// writtenAlike are the rows of a call and those like it by what would be written into them, and those of the call itself.
func (d *decision) writtenAlike(ctx context.Context, tx pgx.Tx, s *step) (groups []*written, own *written, err error) {
	own = &written{}
	for _, one := range d.callsLike(s) {
		becomes, err := one.newValues(ctx, tx)
		if err != nil {
			return nil, nil, err
		}
		at := slices.IndexFunc(groups, func(group *written) bool { return group.becomes == becomes })
		if at < 0 {
			at, groups = len(groups), append(groups, &written{becomes: becomes})
		}
		groups[at].calls = append(groups[at].calls, one)
		if one == s {
			own = groups[at]
		}
	}
	for _, group := range groups {
		group.rows = targetsOf(group.calls)
	}

	return groups, own, nil
}

// nameWritten names the first rows of each group, apart from those of all: whose each is tells them apart.
func nameWritten(ctx context.Context, tx pgx.Tx, e *domain.Entity, groups []*written) error {
	var rows []map[string]any
	for _, one := range groups {
		rows = append(rows, each(one.rows[:min(len(one.rows), namedInQuestion)], maps.Clone[map[string]any])...)
	}
	if err := addLinkLabels(ctx, tx, e, rows, furthestName, linksOf(e.Label)...); err != nil {
		return err
	}
	if alike(labelsOf(e, rows)) {
		if err := addLinkLabels(ctx, tx, e, rows, furthestName, pointsTo(e)...); err != nil {
			return err
		}
	}
	labels := distinctLabels(e, rows)
	for i, label := range labels {
		labels[i] = cmp.Or(label, firstValues(e, rows[i]), "one that says nothing")
	}
	for _, one := range groups {
		n := min(len(one.rows), namedInQuestion)
		one.labels, labels = labels[:n], labels[n:]
	}

	return nil
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
	text := joinEach(asList(value), ", ", func(one any) string { return c.Padded(argumentText(c.Kind, one)) })

	return registry.CleanText(text, longestValue)
}
