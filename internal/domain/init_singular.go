package domain

import "strings"

// singular is what a row of a table is called: in other languages than English as columns that point at it are, whose names differ from the
// table's only in their endings. The rows of sucursales, at which id_sucursal_recogida points, are called sucursal.
func (w *initWriter) singular(t *catalogTable) string {
	name := strings.Trim(strings.ReplaceAll(snake(w.shorts[t]), " ", "_"), "_")
	english, found := Fold(name), ""
	for _, from := range w.cat.tables {
		for _, fk := range from.foreignKeys {
			if !fk.leadsTo(t) || len(fk.Columns) > 1 {
				continue
			}
			of, is := keyOf(fk.Columns[0])
			if !is {
				continue
			}
			words := strings.Split(of, "_")
			n := min(len(words), strings.Count(name, "_")+1)
			for _, said := range []string{strings.Join(words[:n], "_"), strings.Join(words[len(words)-n:], "_")} {
				switch {
				case Plain(Fold(said)) == Plain(english):
					return english
				case found == "" && differInEndings(said, name):
					found = said
				}
			}
		}
	}
	if found != "" {
		return found
	}

	return english
}

// differInEndings reports whether two words are forms of one: cheval and chevaux, buch and bücher.
func differInEndings(a, b string) bool {
	one, other := []rune(Plain(a)), []rune(Plain(b))
	same := 0
	for same < min(len(one), len(other)) && one[same] == other[same] {
		same++
	}

	return same > 2 && len(one)-same < 3 && len(other)-same < 4
}
