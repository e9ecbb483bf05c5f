package domain

import (
	"fmt"
	"regexp"
	"slices"
)

// What a declaration says of the texts that rows hold.

// describesRow reports whether a column of the label says all about a row that words can say. The name of a tag does not.
func (e *initEntity) describesRow(name string) bool {
	c := e.Table.column(name)

	return c != nil && e.refs[name] == nil && isProse(c) && !slices.Contains(e.Table.primary, name)
}

// isProse reports whether every row has words of its own in the column.
func isProse(c *Column) bool {
	return c.Kind == KindText && !oneOfFew(c) && c.Form == "" && (!c.Nullable || c.Generated) && !letters.MatchString(c.FullType)
}

// letters is the type of texts too short for words.
var letters = regexp.MustCompile(`^character( varying)?\([1-3]\)$`)

var fewNames = regexp.MustCompile(`(^|_)(d?type|discriminator|kind|status|state|stage|priority)$`)

// oneOfFew reports whether a column holds one word of a few, though only programs may know which.
func oneOfFew(c *Column) bool {
	return len(c.Enum) > 0 || c.Kind == KindText && c.Form == "" && fewNames.MatchString(snake(c.Name))
}

// Semantic is the label and the free-text columns, for types that have both.
func (e *initEntity) Semantic() string {
	if len(e.names) != 1 || e.refs[e.names[0]] != nil {
		return ""
	}
	if named := e.Table.column(e.names[0]); named == nil || named.Kind != KindText {
		return ""
	}
	texts := ""
	for _, c := range e.plain {
		if c.Kind == KindText && c.Type == "text" && !oneOfFew(c) && !wordlessNames.MatchString(snake(c.Name)) && c.Name != e.names[0] {
			texts += fmt.Sprintf("{?%s: {%[1]s}.}", quotedName(c.Name))
		}
	}
	if texts == "" {
		return ""
	}

	return "{" + quotedName(e.names[0]) + "}." + texts
}

// LongTexts are the columns that are read only when they are asked for.
func (e *initEntity) LongTexts() []string {
	names := namesOf(e.plain, func(c *Column) bool {
		return slices.Contains(longTextNames, c.Name) && !slices.Contains(e.names, c.Name)
	})

	return each(names, yamlText)
}
