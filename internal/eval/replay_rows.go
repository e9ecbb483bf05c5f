package eval

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"alfred/internal/domain"
)

// Rows counts the written rows that are equal on both sides, written on both with different values, and written only
// originally or only in the replay.
type Rows struct {
	Equal     int `json:"equal"`
	Different int `json:"different"`
	Missing   int `json:"missing"`
	Extra     int `json:"extra"`
}

// wrote is a written row.
type wrote struct {
	Kind, ID, Action string
	After            map[string]string // a hash of each column, without those that the database sets
}

// names stand in for the keys of the rows created in a conversation, on one side: the keys differ in every run.
type names struct {
	of    map[string]string // by type and key, and by the key's hash, which columns that refer to the row contain
	count map[string]int    // by type
}

func (n *names) add(w *wrote, hash string) {
	if n.of == nil {
		n.of, n.count = map[string]string{}, map[string]int{}
	}
	n.count[w.Kind]++
	name := fmt.Sprintf("%s %d", w.Kind, n.count[w.Kind])
	n.of[w.Kind+" "+w.ID] = name
	if hash != "" {
		n.of[hash] = name
	}
}

// plain replaces the keys of created rows with names, and leaves out the owner. Rows must come in the order in which they were
// written, earlier turns first.
func (n *names) plain(bound *domain.Domain, rows []wrote) {
	for i := range rows {
		if entity := bound.ByType(rows[i].Kind); entity != nil { // else it is no longer declared
			n.plainRow(entity, &rows[i])
		}
	}
}

func (n *names) plainRow(entity *domain.Entity, w *wrote) {
	if w.Action == "created" && n.of[w.Kind+" "+w.ID] == "" {
		n.add(w, w.After[entity.Key.Name])
	}
	w.ID = cmp.Or(n.of[w.Kind+" "+w.ID], w.ID)
	delete(w.After, entity.Key.Name)
	if entity.Owner != nil {
		delete(w.After, entity.Owner.Name)
	}
	for column, hash := range w.After {
		if c := entity.Column(column); c != nil && c.FK != nil {
			w.After[column] = cmp.Or(n.of[hash], hash)
		}
	}
}

// differs lists the columns that two writes left with different values.
func (w *wrote) differs(other *wrote) (columns []string) {
	for _, name := range slices.Sorted(maps.Keys(w.After)) {
		if w.After[name] != other.After[name] {
			columns = append(columns, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(other.After)) {
		if _, both := w.After[name]; !both {
			columns = append(columns, name)
		}
	}

	return columns
}

// sameWrite reports whether two writes did the same to the same row, or created one of the same type.
func (w *wrote) sameWrite(other *wrote) bool {
	return w.Kind == other.Kind && w.Action == other.Action && (w.ID == other.ID || w.Action == "created")
}

// compare pairs equal rows first, then those with the same key or type, and describes the rest.
func compare(was, is []wrote) (r Rows, other []string) {
	missing, extra := slices.Clone(was), []wrote{}
	take := func(now *wrote, fits func(then *wrote) bool) *wrote {
		at := slices.IndexFunc(missing, func(then wrote) bool { return now.sameWrite(&then) && fits(&then) })
		if at < 0 {
			return nil
		}
		then := missing[at]
		missing = slices.Delete(missing, at, at+1)

		return &then
	}
	for i := range is {
		if take(&is[i], func(then *wrote) bool { return maps.Equal(is[i].After, then.After) }) != nil {
			r.Equal++
		} else {
			extra = append(extra, is[i])
		}
	}
	say := func(w *wrote, what string) { other = append(other, fmt.Sprintf("%s %s: %s", w.Kind, w.Action, what)) }
	for i := range extra {
		now := &extra[i]
		if then := take(now, func(*wrote) bool { return true }); then != nil {
			r.Different++
			say(now, "with another "+strings.Join(now.differs(then), ", "))
		} else {
			r.Extra++
			say(now, "only now")
		}
	}
	for i := range missing {
		r.Missing++
		say(&missing[i], "only then")
	}

	return r, other
}
