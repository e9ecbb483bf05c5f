package domain

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// keyForm is a form of keys that programs make up, and SQL that makes another of it.
type keyForm struct {
	form *regexp.Regexp
	sql  string
}

// keyForms are uuids and the keys of cuid, WatermelonDB, Firebase and nanoid. How other keys are made only their program knows.
var keyForms = []keyForm{
	{regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`), "gen_random_uuid()"},
	{regexp.MustCompile(`^[a-z][0-9a-z]{23,24}$`), "'c' || left(replace(gen_random_uuid()::text, '-', ''), 24)"},
	{regexp.MustCompile(`^[0-9A-Za-z]{16}$`), "left(replace(gen_random_uuid()::text, '-', ''), 16)"},
	{regexp.MustCompile(`^[\w-]{20}$`), "left(replace(gen_random_uuid()::text, '-', ''), 20)"},
	{regexp.MustCompile(`^[\w-]{21}$`), "left(replace(gen_random_uuid()::text, '-', ''), 21)"},
}

// Fills are the fields of a declaration's fills that names, types and keys suggest.
func (e *initEntity) Fills() []string {
	if e.source == nil || e.Reference || e.Table.View {
		return nil
	}
	filled := map[Verb][]string{}
	for _, c := range e.Table.columns {
		create, update := e.filledSQL(c)
		for verb, sql := range map[Verb]string{Create: create, Update: update} {
			if sql != "" {
				filled[verb] = append(filled[verb], yamlName(c.Name)+": "+yamlText(sql))
			}
		}
	}

	return each(slices.Sorted(maps.Keys(filled)), func(verb Verb) string {
		return fmt.Sprintf("%s: {%s}", verb, strings.Join(filled[verb], ", "))
	})
}

// filledSQL is SQL for a column of a new row, and at every change, "" for what nobody fills.
func (e *initEntity) filledSQL(c *Column) (create, update string) {
	made, stamp := e.madeKeySQL(c), e.isStamp(c)
	switch {
	case isMark(c):
		return "", keyForms[0].sql + map[Kind]string{KindText: "::text"}[c.Kind]
	case e.countsChanges(c):
		if !c.HasDefault {
			create = "0"
		}

		return create, sqlName(c.Name) + " + 1"
	case made != "":
		return made, ""
	case e.setAtChange(c):
		return "", "now()"
	case stamp && !c.HasDefault:
		return "now()", ""
	case c.Kind == KindBool && !c.Nullable && !c.HasDefault && goneNames.MatchString(snake(c.Name)):
		return "false", ""
	case e.isBlank(c):
		return "''", ""
	default:
		return "", ""
	}
}

// setAtChange reports whether programs set a column at every change: a declaration that has fills for it hides it.
func (e *initEntity) setAtChange(c *Column) bool {
	return isMark(c) || e.countsChanges(c) || e.isStamp(c) && keptNames.MatchString(snake(c.Name))
}

// lockNames are of columns by whose number programs notice that a row has changed since they read it.
var lockNames = regexp.MustCompile(`^(lock_?version|(row_?)?version|opt_?lock)$`)

// countsChanges reports whether a column counts its row's changes, so that a program does not overwrite a row that has
// changed since it read it. A number that is part of a key, such as a document's version, is none.
func (e *initEntity) countsChanges(c *Column) bool {
	tells := slices.ContainsFunc(e.Table.keys(), func(set []string) bool { return slices.Contains(set, c.Name) })

	return c.whole() && !c.Generated && !tells && lockNames.MatchString(snake(c.Name))
}

// markNames are of columns into which programs of .NET write something new at every change, for the same purpose.
var markNames = regexp.MustCompile(`^concurrency_(stamp|token)$`)

func isMark(c *Column) bool {
	return (c.Kind == KindText || c.Kind == KindUUID) && markNames.MatchString(snake(c.Name))
}

// sqlName quotes a name only if SQL would take it for another.
func sqlName(name string) string {
	if isName(name) {
		return name
	}

	return quote(name)
}

// isStamp reports whether a column says when its row was written.
func (e *initEntity) isStamp(c *Column) bool {
	return (c.Kind == KindTimestamp || c.Kind == KindDate) && !c.Generated && stampName.MatchString(snake(c.Name))
}

// Made is the column that says when people's rows were made, where it would be hidden. Nobody asks it of a link between two rows.
func (e *initEntity) Made() []string {
	if e.Reference || e.isLink() {
		return nil
	}

	return namesOf(e.Table.columns, func(c *Column) bool { return isBookkeeping(c.Name) && e.isStamp(c) && !e.setAtChange(c) })
}

// madeKeySQL is SQL for a key that the programs make up, "" for a column that is none. One that people choose, as a country's
// code, is no such key, nor is one that is another row's.
func (e *initEntity) madeKeySQL(c *Column) string {
	if !slices.Equal(e.Key(), []string{c.Name}) || c.HasDefault || c.Generated || e.Table.references(c) {
		return ""
	}
	if c.Kind == KindUUID {
		return keyForms[0].sql
	}
	if c.whole() {
		return e.nextNumberSQL(c)
	}
	if c.Kind != KindText || !idNames.MatchString(snake(c.Name)) {
		return ""
	}

	return e.keyLikeSQL(c)
}

// nextNumberSQL is SQL for the next number of the sequence named after the table, else of the one that all tables of
// the schema share; "" for neither. A program that takes numbers in blocks keeps each block to itself, so that the
// number is nobody else's.
func (e *initEntity) nextNumberSQL(c *Column) string {
	table := e.Table.Relation
	for _, name := range []string{table + "_seq", table + "_" + c.Name + "_seq", "seq_" + table, "hibernate_sequence"} {
		if one := (sequence{e.Table.Schema, name}); slices.Contains(e.sequences, one) {
			return "nextval(" + literalSQL(quote(one.Schema, one.Name)) + ")"
		}
	}

	return ""
}

// sequence is one of a schema.
type sequence struct{ Schema, Name string }

// keyLikeSQL is SQL for keys like those of a table's rows, or like the others' of the schema if it has none, "" for keys of a
// form that is not known.
func (w *initWriter) keyLikeSQL(key *Column) string {
	sample, read := w.samples[key]
	if !read {
		return ""
	}
	samples := sample.values
	if len(samples) == 0 {
		for _, other := range w.cat.tables {
			if len(other.primary) == 1 && idNames.MatchString(snake(other.primary[0])) {
				samples = append(samples, w.samples[other.column(other.primary[0])].values...)
			}
		}
	}
	for _, one := range keyForms {
		if !slices.ContainsFunc(samples, func(key string) bool { return !one.form.MatchString(key) }) {
			return one.sql
		}
	}

	return ""
}
