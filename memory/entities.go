package memory

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"alfred/db"
	"alfred/nodes"
)

// entity is a ref with what prompts say of it.
type entity struct {
	*db.EntityRefListInViewRow
	label  string // one line, fit for a prompt
	loaded bool   // its row stands in the data of the window
	full   bool   // with all columns of its text set
	stale  string // "changed" or "gone": behind the conversation's back
}

func (e *entity) pending() bool { return e.State == db.RefStatePending }

// number and stem are a ref's parts: inv_7 is 7 and inv.
func (e *entity) number() int {
	n, _ := strconv.Atoi(e.Ref[strings.LastIndexByte(e.Ref, '_')+1:])

	return n
}

func (e *entity) stem() string { return e.Ref[:max(0, strings.LastIndexByte(e.Ref, '_'))] }

// loadEntities reads the refs in view and those that the layers loaded before it
// name, and merges the rows of the window. It is the last of a node's layers.
func loadEntities(ctx context.Context, q *db.Queries, conn db.DBTX, t *turn) error {
	return t.loadRefs(ctx, q, conn, t.inView())
}

// loadKnown is loadEntities for the one who curates them: with what the message
// names by its label, and the newest of what has left the window.
func loadKnown(ctx context.Context, q *db.Queries, conn db.DBTX, t *turn) error {
	params := t.inView()
	params.Labels, params.MaxOlder = labelsIn(t.row.Message), older

	return t.loadRefs(ctx, q, conn, params)
}

// countOlder counts by type what has left the window.
func countOlder(ctx context.Context, q *db.Queries, conn db.DBTX, t *turn) error {
	counts, err := q.EntityRefCountOlder(ctx, conn, &db.EntityRefCountOlderParams{
		SessionID: t.row.SessionID, OldestTurn: t.inView().OldestTurn, MaxRefs: maxCounted,
	})
	if err != nil {
		return fmt.Errorf("count entities: %w", err)
	}
	t.olderCounts = map[string]int{}
	for _, row := range counts {
		t.olderCounts[row.EntityType] = int(row.Entities)
	}

	return nil
}

// maxCounted bounds how many refs are counted; the prompt says when there are more.
const maxCounted = 1000

func (t *turn) loadRefs(ctx context.Context, q *db.Queries, conn db.DBTX, params *db.EntityRefListInViewParams) error {
	rows, err := q.EntityRefListInView(ctx, conn, params)
	if err != nil {
		return fmt.Errorf("load entities: %w", err)
	}
	t.byRef = make(map[string]*entity, len(rows))
	for _, row := range rows {
		if row.TurnCreated > t.row.Number {
			continue // of the next turn, which runs already: a summary may come late
		}
		e := &entity{EntityRefListInViewRow: row, label: inline(row.Label, maxLabel)}
		if row.State == db.RefStateDropped {
			t.dropped = append(t.dropped, e)

			continue
		}
		t.entities = append(t.entities, e)
		t.byRef[row.Ref] = e
	}
	t.mergeRows()

	return nil
}

// maxLabel bounds a label in a prompt, in characters.
const maxLabel = 120

// refs are those a node may name: what its prompt may show, deleted ones only in
// the turn that deleted them. No other ref can have been seen by a model.
func (t *turn) refs() nodes.Refs {
	refs := make(nodes.Refs, len(t.entities))
	for _, e := range t.entities {
		deleted := e.State == db.RefStateDeleted
		if deleted && (e.DeletedAtTurn == nil || *e.DeletedAtTurn != t.row.Number) {
			continue
		}
		refs[e.Ref] = nodes.Ref{Type: e.EntityType, Label: e.label, Pending: e.pending(), Loaded: e.loaded, Deleted: deleted}
	}

	return refs
}

func (t *turn) tier(name string) []*entity {
	var in []*entity
	for _, e := range t.entities {
		if e.Tier == name {
			in = append(in, e)
		}
	}

	return in
}

// tags are the brackets behind an entity: what last happened to it, how much of
// it is loaded, whether it is saved.
func (t *turn) tags(e *entity) string {
	tag := "[" + e.Action + "]"
	switch {
	case e.pending():
		tag = "[needs save]"
	case e.Action == "read" && t.hasText(e.EntityType) && e.full:
		tag = "[read:full]"
	case e.Action == "read" && t.hasText(e.EntityType):
		tag = "[read:summary]"
	}
	if e.stale != "" {
		tag += " [" + e.stale + "]"
	}

	return tag
}

func (t *turn) hasText(entityType string) bool {
	def := t.memory.domain.ByType(entityType)

	return def != nil && len(def.Sets["text"]) > 0
}

// line is an entity's line: "- recipe_1: Butter Chicken (recipe) [read:full]".
func (t *turn) line(e *entity, note, reason string) string {
	line := "- " + e.Ref + ": " + e.label + " (" + e.EntityType + note + ") " + t.tags(e)
	if reason = inline(reason, maxReason); reason != "" {
		line += " — *" + strings.ReplaceAll(reason, "*", "") + "*"
	}

	return line
}

const maxReason = 200

// recent lists what was touched in the window, loaded rows first. Refs that are
// listed elsewhere in the same prompt are left out.
func (t *turn) recent(except func(*entity) bool) *section {
	s := newSection("## Recent Context (last " + itoa(t.memory.config.RetentionWindow) + " turns)")
	var loaded, unloaded []*entity
	for _, e := range t.tier("recent") {
		switch {
		case except != nil && except(e):
		case e.loaded:
			loaded = append(loaded, e)
		default:
			unloaded = append(unloaded, e)
		}
	}
	budget := t.memory.config.Budget.Entities
	if len(loaded) > 0 {
		s.line("Already loaded. Do NOT re-read them.")
		t.list(s, loaded, "recent", &budget)
	}
	if len(unloaded) > 0 {
		s.line("Not loaded: read before analyzing.")
		t.list(s, unloaded, "recent", &budget)
	}

	return s
}

// list prints entities within a budget, many alike as one line; over budget
// those touched longest ago give way.
func (t *turn) list(s *section, entities []*entity, reason string, budget *int) {
	groups := t.collapse(entities)
	keep := newestFirst(groups)
	used := map[*group]bool{}
	shown := 0
	for _, g := range keep {
		cost := tokens(g.line)
		if cost > *budget {
			continue
		}
		*budget -= cost
		used[g] = true
		shown += len(g.members)
	}
	for _, g := range groups {
		if !used[g] {
			continue
		}
		s.line(g.line)
		for _, e := range g.members {
			s.items = append(s.items, nodes.Item{Ref: e.Ref, Turn: int(e.TurnLastRef), Reason: itemReason(e, reason), Tokens: max(1, tokens(g.line)/len(g.members))})
		}
	}
	s.shown(shown, len(entities), "")
}

func itemReason(e *entity, reason string) string {
	switch {
	case e.Action == "mentioned:user" && reason == "recent":
		return "mentioned"
	case e.Pinned && reason == "retained":
		return "pinned"
	default:
		return reason
	}
}

// group is one printed line and the entities that it stands for.
type group struct {
	line    string
	members []*entity
}

func newestFirst(groups []*group) []*group {
	sorted := slices.Clone(groups)
	slices.SortStableFunc(sorted, func(a, b *group) int { return int(b.members[0].TurnLastRef - a.members[0].TurnLastRef) })

	return sorted
}

// collapseOver is how many refs in a row still get a line each.
const collapseOver = 10

// collapse makes one line of more than ten refs of one type and action with
// consecutive numbers.
func (t *turn) collapse(entities []*entity) []*group {
	var groups []*group
	for i := 0; i < len(entities); {
		run := i + 1
		for run < len(entities) && t.follows(entities[run-1], entities[run]) {
			run++
		}
		if run-i > collapseOver {
			first, last := entities[i], entities[run-1]
			line := fmt.Sprintf("- %s..%s: [%d %s] %s", first.Ref, last.Ref, run-i, t.plural(first.EntityType), t.tags(first))
			groups = append(groups, &group{line: line, members: entities[i:run]})
		} else {
			for _, e := range entities[i:run] {
				groups = append(groups, &group{line: t.line(e, "", e.draftReason()), members: []*entity{e}})
			}
		}
		i = run
	}

	return groups
}

// draftReason is why a draft is kept. A stored row's reason stands only where it
// is what keeps the row in view.
func (e *entity) draftReason() string {
	if e.pending() {
		return text(e.ActiveReason)
	}

	return ""
}

func (t *turn) follows(a, b *entity) bool {
	return a.stem() == b.stem() && b.number() == a.number()+1 && t.tags(a) == t.tags(b)
}

func (t *turn) plural(entityType string) string {
	if def := t.memory.domain.ByType(entityType); def != nil {
		return def.Plural
	}

	return entityType
}

// retained lists what Understand keeps in view; over budget the lowest
// confidence gives way first.
func (t *turn) retained() *section {
	s := newSection("## Long Term Memory (retained from earlier)")
	kept := t.tier("retained")
	byConfidence := slices.Clone(kept)
	slices.SortStableFunc(byConfidence, func(a, b *entity) int { return compareConfidence(b, a) })
	budget := t.memory.config.Budget.Entities
	shown := map[*entity]string{}
	for _, e := range byConfidence {
		line := t.line(e, ", turn "+itoa(int(e.TurnCreated)), text(e.ActiveReason))
		if tokens(line) > budget {
			break
		}
		budget -= tokens(line)
		shown[e] = line
	}
	for _, e := range kept {
		if line, ok := shown[e]; ok {
			s.line(line)
			s.because(itemReason(e, "retained"), e.Ref, int(e.TurnCreated), line)
		}
	}
	s.shown(len(shown), len(kept), "")

	return s
}

// compareConfidence ranks pinned entities over all, and no confidence as full.
func compareConfidence(a, b *entity) int {
	of := func(e *entity) float32 {
		switch {
		case e.Pinned:
			return 2
		case e.RetainConfidence == nil:
			return 1
		default:
			return *e.RetainConfidence
		}
	}
	switch x, y := of(a), of(b); {
	case x < y:
		return -1
	case x > y:
		return 1
	default:
		return 0
	}
}

// excluded lists what the user rejected.
func (t *turn) excluded() *section {
	s := newSection("## Excluded (user rejected)")
	budget := t.memory.config.Budget.Entities
	out := t.tier("excluded")
	shown := 0
	for _, e := range out {
		line := t.line(e, "", text(e.ExcludedReason))
		if tokens(line) > budget {
			break
		}
		budget -= tokens(line)
		s.line(line)
		s.because("excluded", e.Ref, int(e.TurnLastRef), line)
		shown++
	}
	s.shown(shown, len(out), "")

	return s
}

// viable names what is left of the types of which something is excluded.
func (t *turn) viable() *section {
	s := newSection("## Viable for planning")
	types := map[string]bool{}
	for _, e := range t.tier("excluded") {
		types[e.EntityType] = true
	}
	var refs []string
	for _, e := range t.entities {
		if types[e.EntityType] && (e.Tier == "generated" || e.Tier == "recent" || e.Tier == "retained") {
			refs = append(refs, e.Ref)
		}
	}
	if len(refs) > 0 {
		s.line(strings.Join(refs[:min(len(refs), maxRefsNamed)], ", "))
		s.shown(min(len(refs), maxRefsNamed), len(refs), "")
	}

	return s
}

// legend stands above the entities in every prompt that has them, and alone
// when there are none.
func (t *turn) legend() *section {
	s := newSection("")
	if len(t.tier("generated"))+len(t.tier("recent"))+len(t.tier("retained"))+len(t.tier("excluded")) == 0 {
		s.line("Nothing has a ref yet. What exists is found by name.")

		return s
	}
	s.line("A ref is a handle. In brackets: what last happened to it, `:user` if the user did it; `read:full` has its long texts, `read:summary` not; `needs save` is a draft; `changed` or `gone` since it was read: read it again.")

	return s
}

// byNumber is the registry by type and number, whatever tier a ref is in now.
func (t *turn) byNumber() []*entity {
	sorted := slices.Clone(t.entities)
	slices.SortFunc(sorted, func(a, b *entity) int { return cmpOr(strings.Compare(a.stem(), b.stem()), a.number()-b.number()) })

	return sorted
}
