package domain

import "cmp"

// form is how the values of a type are written that are texts which Postgres checks.
type form struct {
	words string
	holds string // of a range: the type of what it holds
}

var forms = map[string]form{
	`"bit"`: {words: "bits (0101)"}, "bit varying": {words: "bits (0101)"}, "money": {words: "amount of money (12.50)"},
	"inet": {words: "network address (192.168.1.10)"}, "cidr": {words: "network (192.168.1.0/24)"},
	"macaddr": {words: "hardware address (08:00:2b:01:02:03)"}, "macaddr8": {words: "hardware address (08:00:2b:ff:fe:01:02:03)"},
	"int4range": {numbers, "integer"}, "int8range": {numbers, "bigint"}, "numrange": {numbers, "numeric"},
	"daterange": {dates, "date"}, "tsrange": {times, withoutZone}, "tstzrange": {times, "timestamp with time zone"},
	"int4multirange": {several + numbers, "integer"}, "int8multirange": {several + numbers, "bigint"}, "nummultirange": {several + numbers, "numeric"},
	"datemultirange": {several + dates, "date"}, "tsmultirange": {several + times, withoutZone},
	"tstzmultirange": {several + times, "timestamp with time zone"},
}

const (
	numbers = "range of numbers ([1,5): from 1 to before 5)"
	dates   = "range of dates ([2026-01-01,2026-02-01): its end excluded)"
	times   = "range of times ([2026-01-31 18:00,2026-01-31 20:00): its end excluded)"
	several = "several in braces, each a "
)

// takeForm sets how a column's values, or the elements of its lists, are written.
func (c *Column) takeForm(base, elem string) {
	f := forms[cmp.Or(elem, base)]
	c.Form, c.Holds = f.words, f.holds
}
