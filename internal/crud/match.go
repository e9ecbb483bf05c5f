package crud

import (
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

const (
	// linkSimilarity is how similar a name and a canonical one must be to be linked on write; searchSimilarity applies
	// to reads: a wrong link stays, a wrong hit is visible.
	linkSimilarity   = 0.85
	searchSimilarity = 0.45
)

// meaning is what a name may mean: rows of the canonical table.
type meaning struct {
	keys     []string
	names    []string // canonical names, lower case
	families []string // families, meaning every member
}

// candidate is a canonical row that a text may name.
type candidate struct {
	key, name, family string
	exact             bool    // a form of the text is its name or one of its aliases
	similarity        float64 // of its name to the text's most similar form
	copied            map[string]any
}

// candidates finds, for each text, the canonical rows it may name.
func candidates(ctx context.Context, tx pgx.Tx, m *domain.Match, texts []string) ([][]candidate, error) {
	found := make([][]candidate, len(texts))
	if len(texts) == 0 {
		return found, nil
	}
	s := candidateSQL(m, texts)
	var (
		n   int
		one candidate
	)
	err := s.each(ctx, tx, []any{&n, &one.key, &one.name, &one.family, &one.exact, &one.similarity, &one.copied}, func() error {
		found[n] = addCandidate(found[n], one)
		one.copied = nil

		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("match names: %w", err)
	}

	return found, nil
}

// addCandidate adds a candidate to a list in which those of one row follow each other.
func addCandidate(list []candidate, one candidate) []candidate {
	if len(list) == 0 || list[len(list)-1].key != one.key {
		return append(list, one)
	}
	last := &list[len(list)-1]
	last.exact, last.similarity = last.exact || one.exact, max(last.similarity, one.similarity)

	return list
}

// candidateSQL finds rows whose name is like one of a text's forms, is one or the end of one, or that have one as an
// alias. Each of these is a query of its own: a trigram index serves the first, and the others read the table once for
// all texts.
func candidateSQL(m *domain.Match, texts []string) *statement {
	numbers, forms, wholes := []int32{}, []string{}, []bool{}
	for i, text := range texts {
		full := wordForms(text)
		for at, form := range slices.Concat(full, nameEnds(full)) {
			numbers, forms, wholes = append(numbers, int32(i)), append(forms, form), append(wholes, at < len(full))
		}
	}
	name, family := m.Target.Qualified(m.Target.Column(m.Name))+"::text", "''"
	if m.Family != "" {
		family = "coalesce(" + m.Target.Qualified(m.Target.Column(m.Family)) + "::text, '')"
	}
	n, form, whole := givenRow+".n", givenRow+".form", givenRow+".whole"
	s := &statement{}
	part := func(exact, from, on string) {
		s.add(" SELECT ", n, ", ", m.Target.Qualified(m.Target.Key), "::text, lower(", name, "), ", family, ", ", exact,
			", CASE WHEN ", whole, " THEN similarity(", name, ", ", form, ") ELSE 0 END::float8, ", copiedColumnsSQL(m),
			" FROM ", givenRow, " JOIN ", m.Target.SQL(), from, " ON ", m.Target.Owned(), " AND ", on)
	}
	s.add("WITH ", givenRow, " AS (SELECT * FROM unnest(", s.value(numbers), "::int[], ", s.value(forms), "::text[], ", s.value(wholes), "::bool[]) AS f (n, form, whole))")
	part("false", "", whole+" AND "+name+" % "+form)
	s.add(" UNION ALL")
	part(whole, "", "lower("+name+") = "+form)
	if m.Aliases != "" {
		s.add(" UNION ALL")
		part("true", " CROSS JOIN unnest("+m.Target.Qualified(m.Target.Column(m.Aliases))+`) AS " alias" (name)`, whole+` AND lower(" alias".name) = `+form)
	}
	s.add(" ORDER BY 1, 3, 2")

	return s
}

// copiedColumnsSQL is a JSON object of the canonical row's columns that a linked row copies.
func copiedColumnsSQL(m *domain.Match) string {
	copied := func(target string) string { return "'" + target + "', " + m.Target.Qualified(m.Target.Column(target)) }

	return "jsonb_build_object(" + joinEach(slices.Sorted(maps.Values(m.Copy)), ", ", copied) + ")"
}

// bestCandidate returns the fitting candidate with the highest score, nil for none. Of equal scores, the shorter name
// wins.
func bestCandidate(list []candidate, fits func(*candidate) bool, score func(*candidate) float64) *candidate {
	var top *candidate
	for i := range list {
		c := &list[i]
		if fits(c) && (top == nil || score(c) > score(top) || score(c) == score(top) && len(c.name) < len(top.name)) {
			top = c
		}
	}

	return top
}

func similarity(c *candidate) float64 { return c.similarity }

// canonicalFor returns the canonical row to which a written name is linked, or nil.
func canonicalFor(text string, list []candidate) *candidate {
	if top := bestCandidate(list, func(c *candidate) bool { return c.exact }, similarity); top != nil {
		return top
	}
	if top := bestCandidate(list, func(c *candidate) bool { return c.similarity >= linkSimilarity }, similarity); top != nil {
		return top
	}
	words := nameWords(coreName(strings.ToLower(text)))

	return bestCandidate(list, func(c *candidate) bool { return isKindOf(words, nameWords(c.name)) },
		func(c *candidate) float64 { return float64(len(nameWords(c.name))) })
}

// meaningOf returns what a searched name may mean: exact names and aliases; else the row that it would be linked to; else
// the most similar.
func meaningOf(text string, list []candidate) meaning {
	picked := only(list, func(c candidate) bool { return c.exact })
	if len(picked) == 0 {
		top := canonicalFor(text, list)
		if top == nil {
			top = bestCandidate(list, func(c *candidate) bool { return c.similarity >= searchSimilarity }, similarity)
		}
		if top == nil {
			return meaning{}
		}
		picked = []candidate{*top}
	}
	forms := wordForms(text)
	var result meaning
	for _, c := range picked {
		result.keys = append(result.keys, c.key)
		result.names = append(result.names, c.name)
		// "chicken" means all its cuts; "chicken thighs" means only these.
		if family := strings.ToLower(c.family); family != "" && (family == c.name || slices.Contains(forms, family)) {
			result.families = append(result.families, c.family)
		}
	}

	return result
}

// resolveNames fills in what the names in lookups may mean, in one statement.
func resolveNames(ctx context.Context, tx pgx.Tx, e *domain.Entity, lists ...[]condition) error {
	var lookups []*condition
	var texts []string
	for _, list := range lists {
		for i := range list {
			c := &list[i]
			if c.pointing != nil {
				if err := resolveNames(ctx, tx, c.pointing.entity, c.pointing.where); err != nil {
					return err
				}
			} else if e.Match != nil && c.isLookup(e) {
				lookups, texts = append(lookups, c), append(texts, c.texts...)
			}
		}
	}
	found, err := candidates(ctx, tx, e.Match, texts)
	if err != nil {
		return err
	}
	for _, c := range lookups {
		for _, text := range c.texts {
			c.found = append(c.found, meaningOf(text, found[0]))
			found = found[1:]
		}
	}

	return nil
}

// blank reports whether a name says nothing, as a lone accent. Every name contains it, so it means the rows without a name.
func blank(name string) bool { return strings.TrimSpace(domain.Unmarked(name)) == "" }

// lookupCondition finds rows by name: those linked to what the name means, and always those that contain it literally,
// because a row may not be linked. Names of things match whole words; titles also match in part, and with their words in
// any order.
func lookupCondition(s *statement, e *domain.Entity, c *condition) string {
	sql := plainLetters(c.column.SQL())
	var ways []string
	for i, text := range c.texts {
		switch {
		case blank(text):
			ways = append(ways, sql+" = ''")

			continue
		case e.Match != nil:
			ways = append(ways, sql+" ~* "+s.value(sqlWords(text)))
		case c.op == opSimilar:
			ways = append(ways, holds(s, sql, text))
		default:
			ways = append(ways, inAnyOrder(s, sql, text)...)
		}
		if c.op == opSimilar && (e.Match == nil || i < len(c.found) && len(c.found[i].names) == 0) {
			ways = append(ways, "word_similarity("+s.value(domain.Unmarked(text))+", "+sql+") >= "+s.value(searchSimilarity)+"::float8")
		}
		if i < len(c.found) {
			ways = append(ways, linkedConditions(s, e.Match, sql, &c.found[i])...)
		}
	}

	return "(" + strings.Join(ways, " OR ") + ")"
}

// similarNotice says which names are similar to one that no row has: zero rows is an answer, but not to a slip. "" if none is.
func similarNotice(ctx context.Context, tx pgx.Tx, e *domain.Entity, q *query) (string, error) {
	slip := slices.IndexFunc(q.filters, func(c condition) bool { return c.isLookup(e) && c.op == opEqual })
	if slip < 0 || blank(q.filters[slip].texts[0]) {
		return "", nil
	}
	similar := *q
	similar.filters, similar.limit = slices.Clone(q.filters), namedInQuestion
	similar.filters[slip].op = opSimilar
	found, err := load(ctx, tx, e, &similar)
	if err != nil || len(found.Rows) == 0 {
		return "", err
	}
	names := slices.Compact(textsIn(found.Rows, similar.filters[slip].column))

	return vocab.SimilarNames + registry.CleanText(strings.Join(names, ", "), longestValue), nil
}

func linkedConditions(s *statement, m *domain.Match, sql string, found *meaning) (ways []string) {
	for _, name := range found.names {
		ways = append(ways, sql+" ~* "+s.value(sqlWords(name)))
	}
	if len(found.keys) > 0 {
		ways = append(ways, s.in(m.Link.SQL(), found.keys, m.Target.Key.Type))
	}
	if len(found.families) > 0 {
		ways = append(ways, m.Link.SQL()+" IN (SELECT "+m.Target.Qualified(m.Target.Key)+" FROM "+m.Target.SQL()+
			" WHERE "+m.Target.Owned()+" AND "+m.Target.Qualified(m.Target.Column(m.Family))+"::text = ANY("+s.value(found.families)+"::text[]))")
	}

	return ways
}
