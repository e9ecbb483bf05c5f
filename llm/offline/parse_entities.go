package offline

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	entityLine = regexp.MustCompile("^[-*] `?((?:gen_)?[a-z][a-z0-9_]*_\\d+)`?: (.+?) \\(([a-z][a-z0-9_]*)(?:,[^)]*)?\\)((?: .*)?)$")
	rangeLine  = regexp.MustCompile(`^[-*] ((?:gen_)?[a-z][a-z0-9_]*)_(\d+)\.\.(?:(?:gen_)?[a-z][a-z0-9_]*_)?(\d+): \[(.*?)\](.*)$`)
	entityTag  = regexp.MustCompile(`\[([^\]]+)\]`)
	anyRef     = regexp.MustCompile(`\b(?:gen_)?[a-z][a-z0-9_]*_\d+\b`)
)

// entitySections maps the beginning of a heading to the tier its lines are in.
var entitySections = []struct{ prefix, tier string }{
	{"Generated", "generated"},
	{"This Turn", "recent"},
	{"Just Saved", "recent"},
	{"Recent Context", "recent"},
	{"Long Term Memory", "retained"},
	{"Excluded", "excluded"},
	{"All Known Entities", "known"},
	{"Viable for planning", "recent"},
}

func (f *facts) readEntities() {
	for _, known := range entitySections {
		for _, s := range f.sections {
			if strings.HasPrefix(s.heading, known.prefix) {
				f.readEntityLines(s.body, known.tier)
			}
		}
	}
}

func (f *facts) readEntityLines(body, tier string) {
	loaded := false
	group := tier
	for line := range strings.SplitSeq(body, "\n") {
		switch {
		case strings.Contains(line, "Already loaded"):
			loaded = true
		case strings.Contains(line, "Not loaded"):
			loaded = false
		case strings.HasPrefix(line, "### "), strings.HasPrefix(line, "**"):
			group = groupTier(line, tier)
		default:
			f.readEntityLine(strings.TrimSpace(line), group, loaded)
		}
	}
}

// groupTier reads a sub-heading of the list of all known entities.
func groupTier(line, tier string) string {
	line = strings.ToLower(line)
	for _, t := range []string{"excluded", "retained", "recent"} {
		if strings.Contains(line, t) {
			return t
		}
	}
	if strings.Contains(line, "not yet saved") || strings.Contains(line, "pending") || strings.Contains(line, "generated") {
		return "generated"
	}
	return tier
}

func (f *facts) readEntityLine(line, tier string, loaded bool) {
	if m := rangeLine.FindStringSubmatch(line); m != nil {
		f.readRange(m, tier, loaded)
		return
	}
	m := entityLine.FindStringSubmatch(line)
	if m == nil {
		return
	}
	e := f.entity(m[1])
	if e.label == "" {
		e.label, e.kind, e.tier = m[2], m[3], tier
	}
	e.loaded = e.loaded || loaded
	e.atRisk = e.atRisk || strings.Contains(m[4], "at risk")
	e.addTags(m[4])
}

func (e *entity) addTags(rest string) {
	for _, t := range entityTag.FindAllStringSubmatch(rest, -1) {
		e.tags = append(e.tags, t[1])
	}
	switch {
	case e.has("excluded"):
		e.tier = "excluded"
	case e.has("needs save"):
		e.tier = "generated"
	}
}

// maxRange bounds what one line of a prompt can make us hold.
const maxRange = 2000

func (f *facts) readRange(m []string, tier string, loaded bool) {
	for _, ref := range rangeRefs(m) {
		e := f.entity(ref)
		if e.tier == "" {
			e.kind, e.tier = strings.TrimPrefix(m[1], "gen_"), tier
			e.addTags(m[5])
		}
		e.loaded = e.loaded || loaded
	}
}

// rangeRefs are the refs of "inv_1..inv_59".
func rangeRefs(m []string) []string {
	from, errFrom := strconv.Atoi(m[2])
	to, errTo := strconv.Atoi(m[3])
	if errFrom != nil || errTo != nil || to-from > maxRange {
		return nil
	}
	var out []string
	for n := from; n <= to; n++ {
		out = append(out, m[1]+"_"+strconv.Itoa(n))
	}
	return out
}

// entity is the entry of a ref, made at first sight.
func (f *facts) entity(ref string) *entity {
	if e := f.find(ref); e != nil {
		return e
	}
	e := &entity{ref: ref, kind: kindOf(ref)}
	f.entities = append(f.entities, e)
	return e
}

func (f *facts) find(ref string) *entity {
	for _, e := range f.entities {
		if e.ref == ref {
			return e
		}
	}
	return nil
}

// kindOf is the entity type in a ref's name.
func kindOf(ref string) string {
	ref = strings.TrimPrefix(ref, "gen_")
	if i := strings.LastIndexByte(ref, '_'); i > 0 {
		return ref[:i]
	}
	return ref
}
