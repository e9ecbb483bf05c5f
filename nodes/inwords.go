package nodes

import (
	"strings"

	"github.com/tidwall/gjson"

	"alfred/internal/vocab"
)

// InWords says what a call does with rows that are called so.
func InWords(call vocab.Call, rows string) string {
	return inWords(call.Tool, gjson.ParseBytes(call.Args), rows, "")
}

func inWords(tool string, args gjson.Result, rows, how string) string {
	var filters, set []string
	for _, f := range args.Get("filters").Array() {
		filters = append(filters, strings.TrimSpace(f.Get("field").String()+" "+f.Get("op").String()+" "+strings.Join(texts(f.Get("value")), ", ")))
	}
	for _, v := range append(args.Get("set").Array(), args.Get("rows.#.set|@flatten").Array()...) {
		set = append(set, v.Get("column").String()+" "+strings.Join(texts(v.Get("value")), ", "))
	}
	if !isNothing(how) {
		set = []string{how}
	}
	what := verbs[tool] + rows
	if operates(tool) {
		var given []string
		args.ForEach(func(name, value gjson.Result) bool {
			given = append(given, name.String()+" "+strings.Join(texts(value), ", "))

			return true
		})
		what = "Carry out " + strings.ReplaceAll(tool, "_", " ") + ": " + strings.Join(given, ", ")
	}
	if draft := args.Get("from_ref").Str; draft != "" {
		what = "Save " + draft + " to the " + rows
	}
	if len(filters) > 0 {
		what += " with " + strings.Join(filters, " and ")
	}
	if len(set) > 0 {
		what += ": " + strings.Join(set, ", ")
	}

	return what
}

var verbs = map[string]string{
	vocab.ToolAnalyze: "Figures of the ", vocab.ToolRead: "Read the ", vocab.ToolCreate: "Add to the ", vocab.ToolUpdate: "Change the ", vocab.ToolDelete: "Delete the ",
}

// texts words a value, or each of a list; nothing is none.
func texts(value gjson.Result) []string {
	var list []string
	for _, one := range value.Array() {
		list = append(list, one.String())
	}

	return list
}
