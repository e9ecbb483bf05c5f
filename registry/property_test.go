package registry

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"alfred/internal/domain"
)

// Properties of the translator's pure half, over schemas, rows and nestings that no kitchen has. More cases: go test
// ./registry -run Property -rapid.checks=100000

// world is a random domain and the keys that its rows have.
type world struct {
	domain *domain.Domain
	keys   map[string][]any // entity type -> keys as the database gives them
	secret []string         // their texts, none of which may be visible
}

var keyKinds = []domain.Kind{domain.KindUUID, domain.KindNumber, domain.KindText}

func drawWorld(t *rapid.T) *world {
	w := &world{keys: map[string][]any{}}
	d := domain.Domain{Name: "random"}

	for i := range rapid.IntRange(1, 4).Draw(t, "types") {
		kind := rapid.SampledFrom(keyKinds).Draw(t, "key kind")
		label, _ := domain.ParseTemplate("{name}")
		e := &domain.Entity{Type: fmt.Sprintf("type%c", 'a'+i), Table: fmt.Sprintf("table%c", 'a'+i), Label: label}
		e.Key = &domain.Column{Name: rapid.SampledFrom([]string{"id", "code"}).Draw(t, "key name"), Kind: kind}
		e.Columns = []*domain.Column{e.Key, {Name: "name", Kind: domain.KindText}, {Name: "owner", Kind: domain.KindUUID, Hidden: true}}
		d.Entities = append(d.Entities, e)

		for n := range rapid.IntRange(1, 4).Draw(t, "keys") {
			w.addKey(t, e, n)
		}
	}

	for i, e := range d.Entities {
		for n := range rapid.IntRange(0, 5).Draw(t, "columns") {
			e.Columns = append(e.Columns, drawColumn(t, d.Entities, fmt.Sprintf("c%d_%d", i, n)))
		}
	}

	w.domain = domain.New(d)

	return w
}

func (w *world) addKey(t *rapid.T, e *domain.Entity, n int) {
	var value any

	switch e.Key.Kind {
	case domain.KindUUID:
		id := drawUUID(t)
		value = rapid.SampledFrom([]any{id.String(), id}).Draw(t, "form")
	case domain.KindNumber:
		number := 7_000_000_000 + int64(len(w.secret))*1_000 + int64(n)
		value = rapid.SampledFrom([]any{number, json.Number(strconv.FormatInt(number, 10)), float64(number)}).Draw(t, "form")
	default:
		value = fmt.Sprintf("secret/%s/%d", e.Type, n)
	}

	w.keys[e.Type] = append(w.keys[e.Type], value)
	w.secret = append(w.secret, keyText(value))
}

func drawUUID(t *rapid.T) uuid.UUID {
	var id uuid.UUID

	copy(id[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "uuid"))

	return id
}

func drawColumn(t *rapid.T, entities []*domain.Entity, name string) *domain.Column {
	c := &domain.Column{Name: name, Kind: rapid.SampledFrom([]domain.Kind{
		domain.KindText, domain.KindJSON, domain.KindArray, domain.KindUUID, domain.KindVector, domain.KindNumber,
	}).Draw(t, "kind")}

	if c.Kind != domain.KindVector && rapid.Bool().Draw(t, "foreign") {
		target := rapid.SampledFrom(entities).Draw(t, "target")
		c.FK = &domain.ForeignKey{Entity: target, Table: target.Table, Column: target.Key.Name}
	}

	c.Hidden = rapid.IntRange(0, 5).Draw(t, "hidden") == 0

	return c
}

// row draws a row of any depth; a key may be in every place that can have one.
func (w *world) row(t *rapid.T, e *domain.Entity, depth int) map[string]any {
	row := map[string]any{"extra": w.free(t, 2)}

	for _, c := range e.Columns {
		switch {
		case rapid.IntRange(0, 5).Draw(t, "absent") == 0:
		case c == e.Key:
			row[c.Name] = rapid.SampledFrom(w.keys[e.Type]).Draw(t, "key")
		case c.Target() != nil:
			row[c.Name] = w.reference(t, c)
		case c.Kind != domain.KindNumber:
			row[c.Name] = w.free(t, 2)
		default:
			row[c.Name] = 12.5
		}
	}

	for n := 0; depth > 0 && n < rapid.IntRange(0, 2).Draw(t, "children"); n++ {
		child := rapid.SampledFrom(w.domain.Entities).Draw(t, "child")

		row[child.Table] = []any{w.row(t, child, depth-1), w.row(t, child, depth-1)}
	}

	return row
}

func (w *world) reference(t *rapid.T, c *domain.Column) any {
	one := func() any { return rapid.SampledFrom(append(w.keys[c.FK.Entity.Type], nil)).Draw(t, "reference") }
	if c.Kind == domain.KindArray {
		return []any{one(), one()}
	}

	return one()
}

// free draws a value without metadata, in which only UUIDs are distinguishable from text.
func (w *world) free(t *rapid.T, depth int) any {
	id := drawUUID(t).String()

	var known []string

	for _, secret := range w.secret {
		if Scrub(secret) != secret {
			known = append(known, secret)
		}
	}

	if len(known) > 0 && rapid.Bool().Draw(t, "known") {
		id = rapid.SampledFrom(known).Draw(t, "known id")
	}

	switch rapid.IntRange(0, 6).Draw(t, "shape") {
	case 0:
		return id
	case 1:
		return strings.ToUpper(id)
	case 2:
		return rapid.SampledFrom([]string{"see ", "(", "x", "é", "recipe_"}).Draw(t, "before") + id + rapid.SampledFrom([]string{"", ".", "-", "z"}).Draw(t, "after")
	case 3:
		return id[:rapid.IntRange(13, 35).Draw(t, "cut")] + "…"
	case 4:
		return strings.ReplaceAll(id, "-", "")
	case 5:
		if depth > 0 {
			return map[string]any{id: w.free(t, depth-1), "in": w.free(t, depth-1)}
		}

		return nil
	default:
		if depth > 0 {
			return []any{w.free(t, depth-1), w.free(t, depth-1)}
		}

		return true
	}
}

// register stands in for the database: it names what was collected, in order.
func (w *world) register(found *collected) *translation {
	t := &translation{domain: w.domain, known: map[key]*Entry{}}
	numbers := map[string]int{}

	for _, s := range found.sightings() {
		if _, known := t.known[s.key]; !known {
			numbers[s.entityType]++
			e := newEntry(s.key, refName(s.entityType, numbers[s.entityType], false), s.Action, 1)
			e.see(s, 1)
			t.known[s.key] = e
		}
	}

	return t
}

// No key is left in any translated result, and a replay yields the same text.
func TestPropertyNoKeyInOutput(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		e := rapid.SampledFrom(w.domain.Entities).Draw(t, "entity")
		result := Result{Entity: e, Action: ActionRead, Rows: []map[string]any{w.row(t, e, 2), w.row(t, e, 2)}}

		var texts [2]string

		for i := range texts {
			found := collect(w.domain, []Result{result})
			text, err := json.Marshal(w.register(found).result(result).Rows)
			require.NoError(t, err)

			texts[i] = string(text)
		}

		require.Equal(t, texts[0], texts[1])
		require.Equal(t, texts[0], Scrub(texts[0]), texts[0])

		for _, secret := range w.secret {
			require.NotContains(t, texts[0], secret)
		}
	})
}

// A model can use what it is shown: every ref of a translated row resolves to the key it replaced.
func TestPropertyRefsLeadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		e := rapid.SampledFrom(w.domain.Entities).Draw(t, "entity")
		row := w.row(t, e, 1)
		tr := w.register(collect(w.domain, []Result{{Entity: e, Action: ActionRead, Rows: []map[string]any{row}}}))
		shown := tr.row(e, row)

		byRef := map[string]string{}
		for _, entry := range tr.known {
			byRef[entry.Ref] = entry.ID
		}

		keys := eachRef(func(ref string, _ Want) any { return byRef[ref] })

		for _, c := range e.Columns {
			if (c == e.Key || c.Target() != nil && !c.Hidden) && row[c.Name] != nil {
				require.Equal(t, texts(row[c.Name]), texts(keys(shown[c.Name], Want{})), c.Name)
			}
		}
	})
}

// texts returns the keys in a value.
func texts(value any) []string {
	list, ok := value.([]any)
	if !ok {
		return []string{keyText(value)}
	}

	var keys []string
	for _, one := range list {
		keys = append(keys, texts(one)...)
	}

	return keys
}

// Whatever a model writes in place of a key is looked up, exactly as written, and nothing else is.
func TestPropertyEveryRefIsAsked(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		e := rapid.SampledFrom(w.domain.Entities).Draw(t, "entity")
		data := map[string]any{"name": "typea_1", "other": "typea_2"}

		var want []string

		for _, c := range e.Columns {
			if c.Target() != nil {
				written := rapid.String().Draw(t, "written")
				data[c.Name] = []any{written, "gen_typea_1"}

				if written != "" {
					want = append(want, written)
				}

				want = append(want, "gen_typea_1")
			}
		}

		var asked []string

		(&Registry{domain: w.domain}).payload(e, data, eachRef(func(ref string, want Want) any {
			asked = append(asked, ref)
			require.True(t, want.Stored)

			return nil
		}))

		require.ElementsMatch(t, want, asked)
	})
}

// Scrubbing is idempotent, and leaves text without ids unchanged.
func TestPropertyScrub(t *testing.T) {
	t.Parallel()

	piece := rapid.OneOf(
		rapid.StringMatching(`[0-9a-fA-F-]{0,40}`), rapid.StringMatching(`[a-z _,.]{0,10}`),
		rapid.StringMatching(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), rapid.StringMatching(`[0-9a-f]{32}`),
	)

	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 5).Draw(t, "pieces"), "")
		clean := Scrub(text)
		require.Equal(t, clean, Scrub(clean), "%q -> %q", text, clean)
	})
}
