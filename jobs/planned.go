package jobs

import (
	"strings"

	"github.com/tidwall/gjson"

	"alfred/internal/view"
	"alfred/internal/vocab"
	"alfred/nodes"
)

// Which rows and columns a planned call is about, as far as its arguments say.

func tableOf(call nodes.Call) string { return gjson.GetBytes(call.Args, "table").Str }

// byRef reports whether the call selects its rows by ref, and returns the refs.
func byRef(call nodes.Call) (refs []string, by bool) {
	ids := gjson.GetBytes(call.Args, `filters.#(field=="id")#.value`)

	return view.Named([]byte(ids.Raw)), len(ids.Array()) > 0
}

// carriable reports whether a planned call that changes rows may be carried out as written. The values that an update
// overwrites must be known, and must not be a list, an object or a longer text: the planner was not shown those, and
// may have meant to add to them. To delete a row, it is enough that nobody has changed it since it was last read.
func carriable(known *view.Scene, call nodes.Call) bool {
	if strings.Contains(gjson.GetBytes(call.Args, "filters.#.value").Raw, "..") {
		return false // Act has to look at a range first
	}
	refs, _ := byRef(call)
	if call.Tool == vocab.ToolDelete {
		return known.Unchanged(refs)
	}
	var columns []string
	for _, column := range gjson.GetBytes(call.Args, "set.#.column").Array() {
		columns = append(columns, column.Str)
	}

	return known.Knows(refs, columns) && !known.Composed(refs, columns)
}
