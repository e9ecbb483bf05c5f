package registry

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"alfred/internal/domain"
	"alfred/internal/vocab"
)

// Touch records that refs were named in this turn (by a mention, a tool call, a node's output) and reverts demotions.
// Refs that do not resolve are left out.
func (r *Registry) Touch(ctx context.Context, refs []string) error {
	if len(refs) == 0 {
		return nil
	}
	if err := r.lock(ctx); err != nil {
		return err
	}
	known, err := r.load(ctx, refs)
	if err != nil {
		return err
	}
	var live []*Entry
	for _, ref := range refs {
		e := known[ref]
		if e != nil && e.resolves(r.scope.Turn) && e.State != StateDeleted {
			live = append(live, e)
			known[ref] = nil // once, however often it is named
		}
	}

	return r.apply(ctx, live, "touched", func(e *Entry) { e.touch(r.scope.Turn) })
}

// RefsIn lists the tokens of a text that are shaped like a ref of one of the domain's types, each once, whether or not
// the ref exists.
func RefsIn(d *domain.Domain, text string) []string {
	var refs []string
	for ref := range vocab.Refs(text) {
		if isRef(d, ref) && !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}

	return refs
}

// isRef reports whether a name is shaped like a ref of one of the domain's types, whether or not the ref exists.
func isRef(d *domain.Domain, ref string) bool {
	name, gen := strings.CutPrefix(ref, genPrefix)
	cut := strings.LastIndexByte(name, '_')
	if cut < 0 || d.ByType(name[:cut]) == nil {
		return false
	}
	n, err := strconv.Atoi(name[cut+1:])

	return err == nil && n >= 1 && refName(name[:cut], n, gen) == ref
}
