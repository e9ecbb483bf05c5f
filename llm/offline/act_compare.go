package offline

import (
	"strings"

	"alfred/domain"
)

// compare says which parts of a thing there are, which are short and which are
// missing. It compares rows, not what somebody might have at home.
func (a *actor) compare() {
	stock, child := a.f.stock(), (*domain.Entity)(nil)
	if stock != nil {
		child = a.f.lex.byTable(a.f.lex.vocab.draft.Child)
	}
	if child == nil {
		a.blocked("plan_invalid", "This domain keeps no amounts to compare with.")
		return
	}
	e := a.whole()
	if e == nil {
		return
	}
	var buy, have, unsure []string
	for _, x := range e.parts {
		part := a.f.readPart(child, firstLine(x.text))
		switch left, held := a.held(child, stock, part); {
		case held == nil:
			buy = append(buy, a.f.partText(child, part))
		case left == nil:
			unsure = append(unsure, a.f.partText(child, part)+": you have "+a.stockText(stock, held))
		case len(left) > 0:
			buy = append(buy, a.f.partText(child, left)+" more (you have "+a.stockText(stock, held)+")")
		default:
			have = append(have, asText(part[labelColumn(child).Name]))
		}
	}
	a.complete("Compared "+e.label+" with the "+plural(stock)+".", comparison(e.label, len(e.parts), buy, have, unsure))
}

func comparison(thing string, parts int, buy, have, unsure []string) string {
	if parts == 0 {
		return thing + " has no parts to compare."
	}
	lines := []string{"You have everything for " + thing + "."}
	if len(buy) > 0 {
		lines = []string{"To buy for " + thing + ":\n- " + strings.Join(buy, "\n- ")}
	} else if len(unsure) > 0 {
		lines = []string{"Nothing is missing for " + thing + ", as far as I can tell."}
	}
	if len(unsure) > 0 {
		lines = append(lines, "Please check the amount:\n- "+strings.Join(unsure, "\n- "))
	}
	if len(have) > 0 && len(buy)+len(unsure) > 0 {
		lines = append(lines, "You have "+joinList(have)+".")
	}
	return strings.Join(lines, "\n\n")
}

// held finds what there is of a part. held is nil when there is none; left is
// what is short of it, empty when there is enough, nil when the amounts cannot be
// compared.
func (a *actor) held(child, stock *domain.Entity, part map[string]any) (left map[string]any, held []*entity) {
	need, unit := amountOf(child, part)
	sum, sameUnit := 0.0, true
	for _, e := range a.f.entities {
		if e.kind != stock.Type || !e.loaded || e.has("deleted") || !sameThing(child, stock, part, e) {
			continue
		}
		held = append(held, e)
		n, ok := convert(e, stock, unit)
		sameUnit = sameUnit && ok
		sum += n
	}
	switch {
	case len(held) == 0:
		return nil, nil
	case need == 0:
		return map[string]any{}, held
	case !sameUnit:
		return nil, held
	case sum >= need:
		return map[string]any{}, held
	}
	left = clone(part)
	left[quantityColumn(child).Name] = round(need - sum)
	if note := noteColumn(child); note != nil {
		delete(left, note.Name)
	}
	return left, held
}

func amountOf(e *domain.Entity, row map[string]any) (n float64, unit string) {
	if q := quantityColumn(e); q != nil {
		n, _ = number(asText(row[q.Name]))
	}
	if u := unitColumn(e); u != nil {
		unit = asText(row[u.Name])
	}
	return n, unit
}

// sameThing compares by the canonical row that both point at, where they do, else
// by name.
func sameThing(child, stock *domain.Entity, part map[string]any, e *entity) bool {
	if child.Match != nil && stock.Match != nil && child.Match.Link != nil && stock.Match.Link != nil {
		a, b := asText(part[child.Match.Link.Name]), asText(e.data[stock.Match.Link.Name])
		if a != "" && b != "" {
			return a == b
		}
	}
	a, b := stems(asText(part[labelColumn(child).Name])), stems(e.label)
	return len(a) > 0 && strings.Join(a, " ") == strings.Join(b, " ")
}

// multiples are units that are a number of others.
var multiples = map[string]struct {
	of string
	n  float64
}{"kg": {"g", 1000}, "l": {"ml", 1000}, "m": {"cm", 100}, "piece": {"count", 1}, "": {"count", 1}}

func base(n float64, unit string) (float64, string) {
	if m, ok := multiples[unit]; ok {
		return n * m.n, m.of
	}
	return n, unit
}

// convert is the amount of a row in another unit; ok is false when it has none or
// the units have nothing in common.
func convert(e *entity, kind *domain.Entity, unit string) (n float64, ok bool) {
	have, from := amountOf(kind, e.data)
	one, to := base(1, unit)
	have, from = base(have, from)
	return have / one, from == to && have > 0
}

func (a *actor) stockText(stock *domain.Entity, held []*entity) string {
	var out []string
	for _, e := range held {
		n, unit := amountOf(stock, e.data)
		if n == 0 {
			out = append(out, "some")
			continue
		}
		out = append(out, amountText(asText(n), unit))
	}
	return joinList(out)
}
