package domain

import (
	"fmt"
	"slices"
	"strings"
)

// whyLeftOut says why a table gets no type, "" if it gets one.
func (w *initWriter) whyLeftOut(t *catalogTable) string {
	switch {
	case bookkeeping.MatchString(t.Relation) || t.column("whodunnit") != nil || strings.HasPrefix(t.Name, "_") && len(t.foreignKeys) < 2: // with two, it says which rows belong together
		return "bookkeeping of another tool"
	case opensDoors(t):
		return "by its name or columns, its rows let people or programs in"
	case w.source != nil:
		return w.whyNotViewed(t)
	case w.references(t, w.byOwner) > 0:
		return "it holds the tenants themselves"
	case len(t.primary) != 1:
		return "it has no single-column primary key"
	case !keyKind(t.column(t.primary[0])):
		return "its key is neither uuid nor an integer nor text"
	case !t.TenantSelect && slices.ContainsFunc(w.cat.tables, func(t *catalogTable) bool { return t.TenantSelect }): // on purpose, where grants exist already
		return "alfred_tenant may not read it, though it may read others"
	default:
		return ""
	}
}

// whyNotViewed says why a table gets no view, "" if it gets one: above all, why its rows may not be shown to everybody.
func (w *initWriter) whyNotViewed(t *catalogTable) string {
	owned := w.source.hasOwner(t)
	kind, id := t.loosePair()
	switch whole, members, no := w.partOf(t, map[*catalogTable]bool{}), w.memberTable(t), w.source.whyNoView(t); {
	case !owned && id != nil:
		return fmt.Sprintf("its rows are those of the rows that %s with %s names, and no foreign key says whose these are; declare polymorphic, with their types, or a view of yours", kind.Name, id.Name)
	case no != "":
		return no
	case whole != "":
		return fmt.Sprintf("each of its rows is that of one row of %s, and shared, everybody would see all of them; if they may, declare it reference: true", whole)
	case !owned && members != "":
		return fmt.Sprintf("its rows are those of some of the people whom %s names; members: [{table: %[1]s, where: \"...\"}] says of which", members)
	case !owned && !w.isUsed(t, map[*catalogTable]bool{}):
		return "no foreign key connects it to its rows' owners; if all users may see all of it, declare it reference: true"
	default:
		return ""
	}
}

// opensDoors reports whether a table holds tokens, keys or the like, as its name says, or columns for what another program let somebody
// in with.
func opensDoors(t *catalogTable) bool {
	visit := visitNames.MatchString(snake(t.Name)) && slices.ContainsFunc(t.columns, func(c *Column) bool { return isSecret(c) || snake(c.Name) == "user_agent" })

	granted := namesOf(t.columns, func(c *Column) bool { return grantNames.MatchString(snake(c.Name)) })

	return visit || len(granted) > 1 || doorNames.MatchString(snake(t.Name))
}
