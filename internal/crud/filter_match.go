package crud

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"alfred/internal/domain"
)

// matches evaluates conditions on a row that is not in the database: a draft, whose foreign keys are refs. The result
// is the same as in SQL.
func matches(e *domain.Entity, row map[string]any, filters, or []condition) bool {
	for i := range filters {
		if !filters[i].matches(e, row) {
			return false
		}
	}

	return len(or) == 0 || slices.ContainsFunc(or, func(c condition) bool { return c.matches(e, row) })
}

func (c *condition) matches(e *domain.Entity, row map[string]any) bool {
	if c.distance != "" {
		return true
	}
	value := row[c.column.Name]
	if value == nil {
		return c.op == opIsNull
	}
	if c.isLookup(e) {
		holds := containsFold
		if e.Match != nil {
			holds = holdsWords
		}

		return slices.ContainsFunc(c.texts, func(text string) bool { return holds(fmt.Sprint(value), strings.TrimSpace(text)) })
	}
	switch c.op {
	case opIsNull:
		return false
	case opIsNotNull:
		return true
	case opContains:
		return c.contains(value)
	case opILike:
		return likeMatches(c.texts[0], fmt.Sprint(value))
	case opIn:
		return c.anyEqual(value)
	case opNotIn:
		return !c.anyEqual(value)
	default:
		return c.compares(value)
	}
}

func (c *condition) anyEqual(value any) bool {
	return slices.ContainsFunc(c.texts, func(text string) bool { return compare(c.column, c.column.Kind, value, text) == 0 })
}

func (c *condition) compares(value any) bool {
	var order int
	switch c.column.Kind {
	case domain.KindArray:
		list, _ := value.([]any)
		order = slices.CompareFunc(list, c.texts, func(item any, text string) int { return compare(c.column, c.column.Elem, item, text) })
	case domain.KindJSON:
		order = compare(c.column, domain.KindJSON, value, c.value)
	default:
		order = compare(c.column, c.column.Kind, value, c.texts[0])
	}
	switch c.op {
	case opEqual:
		return order == 0
	case opNotEqual:
		return order != 0
	case opGreater:
		return order > 0
	case opGreaterEq:
		return order >= 0
	case opLess:
		return order < 0
	default:
		return order <= 0
	}
}

func (c *condition) contains(value any) bool {
	switch c.column.Kind {
	case domain.KindArray:
		list, _ := value.([]any)

		return !slices.ContainsFunc(c.texts, func(text string) bool {
			return !slices.ContainsFunc(list, func(item any) bool { return compare(c.column, c.column.Elem, item, text) == 0 })
		})
	case domain.KindJSON:
		return jsonContains(value, c.value)
	default:
		return containsFold(fmt.Sprint(value), c.texts[0])
	}
}

// jsonContains is Postgres's @>: objects by key, lists as sets, and a top-level list contains a scalar equal to one of
// its elements.
func jsonContains(whole, part any) bool {
	list, isList := whole.([]any)
	switch part.(type) {
	case map[string]any, []any:
	default:
		if isList {
			return slices.ContainsFunc(list, func(item any) bool { return sameJSON(item, part) })
		}
	}

	return nestedContains(whole, part)
}

func nestedContains(whole, part any) bool {
	switch part := part.(type) {
	case map[string]any:
		object, ok := whole.(map[string]any)
		if !ok {
			return false
		}
		for key, value := range part {
			if other, has := object[key]; !has || !nestedContains(other, value) {
				return false
			}
		}

		return true
	case []any:
		list, ok := whole.([]any)

		return ok && !slices.ContainsFunc(part, func(value any) bool {
			return !slices.ContainsFunc(list, func(item any) bool { return nestedContains(item, value) })
		})
	default:
		return sameJSON(whole, part)
	}
}

func containsFold(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// likeParts are what a pattern of ILIKE consists of: % for anything, _ for one character, what a \ takes literally, texts.
var likeParts = regexp.MustCompile(`(?s)%|_|\\.|[^%_\\]+`)

// likeMatches is ILIKE.
func likeMatches(pattern, text string) bool {
	form := likeParts.ReplaceAllStringFunc(pattern, func(part string) string {
		switch part {
		case "%":
			return ".*"
		case "_":
			return "."
		default:
			return regexp.QuoteMeta(strings.TrimPrefix(part, `\`))
		}
	})
	compiled, err := regexp.Compile(`(?is)\A` + form + `\z`)

	return err == nil && compiled.MatchString(text)
}
