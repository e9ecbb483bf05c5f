package crud

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/internal/domain"
	"alfred/internal/exact"
	"alfred/internal/pg"
	"alfred/registry"
)

// What rows are called: by their labels, of which those of rows that they point to are a part.

// furthestName bounds the rows by which a row is called: a rental by the copy, that by its film and its store, and that by
// its address. Rows may be called by each other in a circle.
const furthestName = 3

// loadForTemplates reads what templates of rows are made of, with names of rows that are at most so far away; without a template,
// what their own columns say of their names.
func loadForTemplates(ctx context.Context, tenant pgx.Tx, e *domain.Entity, q *query, far int, templates ...domain.Template) (*loaded, error) {
	names := slices.Concat(each(append(templates, e.Label), domain.Template.Columns)...)
	q.sel.columns = only(e.Columns, func(c *domain.Column) bool { return c == e.Key || slices.Contains(names, c.Name) })
	found, err := load(ctx, tenant, e, q)
	if err != nil {
		return nil, err
	}

	return found, addLinkLabels(ctx, tenant, e, found.Rows, far, linksOf(templates...)...)
}

// linksOf are the columns by whose rows templates call a row: a planned meal is called by its dish.
func linksOf(templates ...domain.Template) []string {
	return slices.Concat(each(templates, domain.Template.Links)...)
}

// addLabels has rows say what they are called, as _label, and what they point to, as _<column>_label.
func addLabels(ctx context.Context, tenant pgx.Tx, e *domain.Entity, rows []map[string]any) error {
	err := addLinkLabels(ctx, tenant, e, rows, furthestName, append(linksOf(e.Label), pointsTo(e)...)...)
	for _, row := range rows {
		row["_label"] = e.Label.RenderComplete(row)
	}

	return err
}

// pointsTo are the columns that point to another row.
func pointsTo(e *domain.Entity) (links []string) {
	for _, c := range e.Columns {
		if c.Target() != nil && c.Kind != domain.KindArray && !c.Hidden {
			links = append(links, c.Name)
		}
	}

	return links
}

// addLinkLabels adds the labels of the rows that these columns point to.
func addLinkLabels(ctx context.Context, tenant pgx.Tx, e *domain.Entity, rows []map[string]any, far int, links ...string) error {
	if far == 0 {
		return nil
	}
	slices.Sort(links)
	for _, name := range slices.Compact(links) {
		c := e.Column(name)
		keys := textsIn(rows, c)
		if c.Target() == nil || len(keys) == 0 {
			continue
		}
		label := c.Target().Label
		found, err := loadForTemplates(ctx, tenant, c.Target(), queryByKeys(c.Target(), keys), far-1, label)
		if err != nil {
			return err
		}
		targets := found.byKey()
		for _, row := range rows {
			if to := targets[fmt.Sprint(row[name])]; to != nil && label.Render(to) != "" {
				row["_"+name+"_label"] = label.Render(to)
			}
		}
	}

	return nil
}

// namesByKey reads what rows are called.
type namesByKey func(ctx context.Context, tenant pgx.Tx, e *domain.Entity, keys []string) (map[string]string, error)

// labels are what rows are called by their labels, by key.
func labels(ctx context.Context, tenant pgx.Tx, e *domain.Entity, keys []string) (map[string]string, error) {
	found, err := loadForTemplates(ctx, tenant, e, queryByKeys(e, keys), furthestName, e.Label)
	if err != nil {
		return nil, err
	}
	called := make(map[string]string, len(keys))
	for key, row := range found.byKey() {
		called[key] = e.Label.RenderComplete(row)
	}

	return called, nil
}

// asTenant has what reads names do so as the tenant.
func (names namesByKey) asTenant(tx pgx.Tx, user uuid.UUID) registry.LabelReader {
	return func(ctx context.Context, e *domain.Entity, ids []string) (called map[string]string, err error) {
		err = pg.AsTenant(ctx, tx, user, func(tenant pgx.Tx) error {
			called, err = names(ctx, tenant, e, ids)

			return err
		})

		return called, err
	}
}

// Lines are rows as people read them, by ref, which tells those apart that are called alike. What is not stored has
// none.
func (t *Tools) Lines(ctx context.Context, tx pgx.Tx, scope registry.Scope, refs []string) (map[string]string, error) {
	entries, err := registry.New(tx, t.domain, scope).Lookup(ctx, refs)
	if err != nil {
		return nil, fmt.Errorf("look up rows: %w", err)
	}
	keys, named := map[*domain.Entity][]string{}, map[rowKey]string{}
	for ref, entry := range entries {
		if e := t.domain.ByType(entry.Type); e != nil && !entry.Pending() {
			keys[e] = append(keys[e], entry.ID)
			named[rowKey{e.Type, entry.ID}] = ref
		}
	}
	found, err := readAs(ctx, tx, scope.UserID, keys, func(tenant pgx.Tx, e *domain.Entity) (*loaded, error) {
		return loadDistinguishing(ctx, tenant, e, keys[e])
	})
	lines := map[string]string{}
	for e, rows := range found {
		spoken := each(rows.Rows, func(row map[string]any) string { return spokenLine(e, row) })
		for i, line := range apart(e, rows.Rows, spoken) {
			if len(found) > 1 {
				line += " (" + e.Name + ")"
			}
			lines[named[rowKey{e.Type, keyText(rows.Rows[i], e)}]] = line
		}
	}

	return lines, err
}

// loadDistinguishing reads what rows say of themselves, and what those are called by which they are called.
func loadDistinguishing(ctx context.Context, tenant pgx.Tx, e *domain.Entity, keys []string) (*loaded, error) {
	q := queryByKeys(e, keys)
	q.sel = ownColumns(e)
	found, err := load(ctx, tenant, e, q)
	if err != nil {
		return nil, err
	}

	return found, addLabels(ctx, tenant, e, found.Rows)
}

// distinctNames are labels by key; those of rows that are called alike say what tells them apart.
func distinctNames(ctx context.Context, tenant pgx.Tx, e *domain.Entity, keys []string) (map[string]string, error) {
	called, err := labels(ctx, tenant, e, keys)
	if err != nil || !alike(slices.Collect(maps.Values(called))) {
		return called, err
	}
	found, err := loadDistinguishing(ctx, tenant, e, keys)
	if err != nil {
		return nil, err
	}
	for i, name := range distinctLabels(e, found.Rows) {
		called[keyText(found.Rows[i], e)] = name
	}

	return called, nil
}

// spokenLine is a row as people read it.
func spokenLine(e *domain.Entity, row map[string]any) string {
	return registry.Scrub(e.Spoken.RenderWithout(row, func(name string) bool {
		c := e.Column(name)

		return c != nil && (c == e.Key || c.FK != nil || c.Hidden)
	}))
}

// labelsOf are the labels of rows.
func labelsOf(e *domain.Entity, rows []map[string]any) []string {
	return each(rows, func(row map[string]any) string { return registry.CleanText(e.Label.Render(row), registry.MaxLabel) })
}

// alike reports whether some rows have the same label.
func alike(labels []string) bool {
	return len(slices.Compact(slices.Sorted(slices.Values(labels)))) < len(labels)
}

// distinctLabels are the labels of rows; those of rows that are called alike say what tells them apart.
func distinctLabels(e *domain.Entity, rows []map[string]any) []string {
	return apart(e, rows, labelsOf(e, rows))
}

// linkEnding is how names of references end, besides in id, or begin.
var linkEnding = regexp.MustCompile(`^id | (key|uuid|guid)$`)

// columnInWords is what people call a column: of a reference, what it points to.
func columnInWords(c *domain.Column) string {
	said := strings.TrimSuffix(domain.Spoken(c.Name), " id")
	if c.FK != nil {
		said = linkEnding.ReplaceAllString(said, "")
	}

	return said
}

// inWords is what a row has in a column as people read it, "" for nothing, and for JSON: of a reference, what the other row is called.
func inWords(c *domain.Column, row map[string]any) string {
	switch label, called := row["_"+c.Name+"_label"].(string); {
	case row[c.Name] == nil:
		return ""
	case called:
		return registry.Scrub(label)
	case c.FK != nil || c.Kind == domain.KindJSON:
		return ""
	default:
		return registry.Scrub(domain.Moment(argumentWords(c, row[c.Name])))
	}
}

// apart adds to lines that are alike what tells them apart, whose they are before all else: of two tasks, each in a project of its own, the
// project; of four comments with the same words, when each was made.
func apart(e *domain.Entity, rows []map[string]any, lines []string) []string {
	times := map[string]int{}
	for _, line := range lines {
		times[line]++
	}
	points := func(c *domain.Column) bool { return c.FK != nil }
	values := func(c *domain.Column) bool { return c.FK == nil && c != e.Key }
	for _, c := range slices.Concat(only(visible(e), points), only(visible(e), values)) {
		if len(times) == len(lines) {
			break
		}
		told, fuller := map[string]int{}, slices.Clone(lines)
		for i, row := range rows {
			if said := inWords(c, row); times[lines[i]] > 1 && said != "" && c.Kind != domain.KindArray {
				fuller[i] = strings.TrimPrefix(lines[i]+", "+columnInWords(c)+" "+said, ", ")
			}
			told[fuller[i]]++
		}
		if len(told) > len(times) { // some may still be alike
			lines, times = fuller, told
		}
	}

	return lines
}

// labelOf is what people call a row, "" if its own columns do not say.
func labelOf(e *domain.Entity, row image) string {
	plain := make(map[string]any, len(row))
	for name, raw := range row {
		var value any
		if exact.Decode(raw, &value) == nil {
			plain[name] = value
		}
	}

	return registry.Scrub(e.Label.RenderComplete(plain))
}

// nounAndLabel is a row in words: what it is, and its name if it has one.
func nounAndLabel(e *domain.Entity, label string) string {
	return strings.TrimSpace(e.Name + " " + label)
}

// firstValues describes a row without a name by the first of its values.
func firstValues(e *domain.Entity, row map[string]any) string {
	var said []string
	for _, c := range visible(e) {
		if text := inWords(c, row); text != "" && c != e.Key && c.FK == nil && c.Kind != domain.KindArray && len(said) < namedInQuestion {
			said = append(said, domain.Spoken(c.Name)+" "+text)
		}
	}
	if len(said) == 0 {
		return ""
	}

	return "one with " + strings.Join(said, ", ")
}

// nameGroup replaces a group's key by its ref, if the session has one, and its label.
func (d *decision) nameGroup(ctx context.Context, tx pgx.Tx, c *domain.Column, rows []map[string]any) error {
	target, ids := c.Target(), textsIn(rows, c)
	if target == nil || len(ids) == 0 {
		return nil
	}
	entries, err := d.registry.LookupKeys(ctx, target.Type, ids)
	if err != nil {
		return err
	}
	labels, err := namesByKey(distinctNames).asTenant(tx, d.scope.UserID)(ctx, target, ids)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if row[c.Name] == nil {
			continue
		}
		id := fmt.Sprint(row[c.Name])
		delete(row, c.Name)
		entry, known := entries[id]
		if known {
			row[c.Name] = entry.Ref
		}
		switch label, shown := labels[id]; {
		case label != "":
			row["_"+c.Name+"_label"] = label
		case !known && !shown: // without a word of whose it is, a figure reads like a total
			row["_"+c.Name+"_label"] = "one that is not shown"
		}
	}

	return nil
}
