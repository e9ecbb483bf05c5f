package domain

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Describe describes the entity's table to a model: what it is, its columns with type, allowed values and comment, its
// column sets and children. Hidden columns are omitted, and those that another one says. It is generated from the
// catalog, so that no prompt names a column that does not exist.
func (e *Entity) Describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s)", e.Table, e.Type)
	b.WriteString(e.WritesNote())
	if e.Singleton {
		b.WriteString(", one row per user")
	}
	if e.Comment != "" {
		b.WriteString(": " + e.Comment)
	}
	b.WriteString("\n")
	for _, c := range e.Columns {
		if !c.Hidden && !c.Repeats {
			b.WriteString("- " + c.describe(e) + "\n")
		}
	}
	e.describeSets(&b)
	if e.Match != nil {
		fmt.Fprintf(&b, "A look-up by %s finds variants of one family. %s is filled from %s.\n",
			e.Match.Column, e.Match.Link.Name, e.Match.Column)
	}
	if e.Merge != nil {
		fmt.Fprintf(&b, "Creating a row with the same %s adds up %s.\n", strings.Join(e.Merge.By, " and "), e.Merge.Sum)
	}

	return b.String()
}

// WritesNote says what may not be done to the rows, "" if all may.
func (e *Entity) WritesNote() string {
	switch {
	case len(e.Writes) == 0:
		return ", read only"
	case len(e.Writes) == len(Verbs()):
		return ""
	}

	return ", " + strings.Join(verbNames(e.Writes), " and ") + " only"
}

func (e *Entity) describeSets(b *strings.Builder) {
	if text := e.Sets["text"]; text != nil {
		fmt.Fprintf(b, "detail: summary (default), text adds %s", strings.Join(text[len(e.Sets["summary"]):], ", "))
	} else if len(e.Children) > 0 {
		b.WriteString("detail: summary (default)")
	}
	for i, child := range e.Children {
		b.WriteString(map[bool]string{true: ", rows adds ", false: ", "}[i == 0] + child.Entity.Table)
	}
	if len(e.Children) > 0 || e.Sets["text"] != nil {
		b.WriteString("\n")
	}
}

// describe prints one column's line.
func (c *Column) describe(e *Entity) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", c.Name, c.describeType(e))
	fixed := e.neverWritten(c)
	switch {
	case c.Expr != "":
		b.WriteString(", computed")
	case fixed:
		b.WriteString(", never written")
	case !c.Nullable && !c.HasDefault:
		b.WriteString(", required")
	}
	if !e.InSets(c) {
		b.WriteString(", read if asked for")
	}
	if len(c.Enum) > 0 {
		b.WriteString(", one of " + strings.Join(c.Enum, " | "))
	}
	if most := c.mostCharacters(); most > 0 && !fixed && len(c.Enum) == 0 && c.Target() == nil {
		each := map[bool]string{true: "each "}[c.Kind == KindArray]
		fmt.Fprintf(&b, ", %sat most %d characters", each, most)
	}
	if c.Check != "" && !fixed { // a value's rules matter only to those who can write it
		b.WriteString(", " + WithoutCasts(c.Check))
	}
	if c.Comment != "" && c != e.Key {
		b.WriteString(". " + c.Comment)
	}

	return b.String()
}

// InSets reports whether reads have a column without naming it, by summary or text.
func (e *Entity) InSets(c *Column) bool {
	return c == e.Key || slices.Contains(e.Sets["summary"], c.Name) || slices.Contains(e.Sets["text"], c.Name)
}

// neverWritten reports whether a column is never written.
func (e *Entity) neverWritten(c *Column) bool {
	return c == e.Key || c.Generated || !c.Writable && len(e.Writes) > 0
}

var length = regexp.MustCompile(`^character(?: varying)?\((\d+)\)(?:\[\])?$`)

// tightLength is the longest text that somebody could overstep without noticing: 255 is what some programs give every
// column.
const tightLength = 200

// mostCharacters is how many characters a text, or each of a list, may have, 0 where that is no matter.
func (c *Column) mostCharacters() int {
	found := length.FindStringSubmatch(c.FullType)
	if found == nil {
		return 0
	}
	if most, err := strconv.Atoi(found[1]); err == nil && most <= tightLength {
		return most
	}

	return 0
}

var casts = regexp.MustCompile(`::(?:timestamp with(?:out)? time zone|time with(?:out)? time zone|double precision|character varying|(?:(?:"[^"]+"|[a-z_][a-z0-9_]*)\.)?(?:"[^"]+"|[a-z_][a-z0-9_]*))(?:\([0-9, ]+\))?(?:\[\])?`)

// WithoutCasts is a rule's expression without the types that Postgres writes behind its constants.
func WithoutCasts(expression string) string { return casts.ReplaceAllString(expression, "") }

// describeType names the type as a model writes its values.
func (c *Column) describeType(e *Entity) string {
	target := ""
	switch {
	case c == e.Key:
		target = e.Type
	case c.Target() != nil:
		target = c.Target().Type
	}
	if target != "" {
		if c.Kind == KindArray {
			return fmt.Sprintf("list of refs (%s_1)", target)
		}

		return fmt.Sprintf("ref (%s_1)", target)
	}

	if c.Kind == KindArray {
		return cmp.Or(typeWords[c.Type], "list of "+cmp.Or(c.Form, string(c.Elem)))
	}

	return cmp.Or(typeWords[c.Type], kindWords[c.Kind], c.Form, string(c.Kind))
}

// Written is how values are written that are texts in a form of their own, "" for all others.
func (c *Column) Written() string {
	if c.Type == "interval" {
		return lengthOfTime
	}

	return c.Form
}

const lengthOfTime = "length of time (1 day 02:30:00)"

var (
	typeWords = map[string]string{
		"smallint": "whole number", "integer": "whole number", "bigint": "whole number", "interval": lengthOfTime, "interval[]": "list of " + lengthOfTime,
	}
	kindWords = map[Kind]string{
		KindBool: "true or false", KindDate: "date (2026-01-31)", KindTimestamp: "timestamp (2026-01-31T18:00)", KindTime: "time of day (18:30:00)",
	}
)
