package registry

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"alfred/db"
	"alfred/internal/domain"
)

// maxSuggestions is how many similar refs an error names.
const maxSuggestions = 3

// Want is what is required of a ref.
type Want struct {
	Type    string // entity type, "" for any
	Stored  bool   // a row is required: drafts are refused unless presumed saved
	Deleted bool   // a row deleted in this turn is accepted
	Draft   bool   // a draft is required, presumed saved or not
}

// ask is a ref that a model wrote, and what is required of it.
type ask struct {
	ref  string
	want Want
}

// Resolve returns the entry of a ref, or RefErrors.
func (r *Registry) Resolve(ctx context.Context, ref string, want Want) (Entry, error) {
	entries, err := r.resolve(ctx, []ask{{ref, want}})
	if err != nil {
		return Entry{}, err
	}

	return entries[0], nil
}

// ResolveAll returns the entries of refs in order, or RefErrors with all that cannot be used.
func (r *Registry) ResolveAll(ctx context.Context, refs []string, want Want) ([]Entry, error) {
	asks := make([]ask, len(refs))
	for i, ref := range refs {
		asks[i] = ask{ref, want}
	}

	return r.resolve(ctx, asks)
}

// ResolveAs makes a draft resolve to the key under which this decision is saving it, until Promote records it. It lets
// the decision's later calls be translated under the tenant's role. Nothing is written.
func (r *Registry) ResolveAs(ref, entityID string) { r.presumed[ref] = entityID }

// resolve answers all asks with one lookup and, if any fails, one for suggestions.
func (r *Registry) resolve(ctx context.Context, asks []ask) ([]Entry, error) {
	refs := make([]string, 0, len(asks))
	for _, a := range asks {
		if isRef(r.domain, a.ref) {
			refs = append(refs, a.ref)
		}
	}
	known, err := r.load(ctx, refs)
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, len(asks))
	var failed RefErrors
	for i, a := range asks {
		e := known[a.ref]
		if id, presumed := r.presumed[a.ref]; presumed && !a.want.Draft && e != nil && e.Pending() {
			e.promote(id, "", r.scope.Turn)
		}
		if reason := reasonAgainst(e, a, r.scope.Turn); reason != "" {
			failed = failed.add(r.refError(e, a, reason))

			continue
		}
		entries[i] = *e
	}

	if len(failed) == 0 {
		return entries, nil
	}
	if err := r.suggest(ctx, failed); err != nil {
		return nil, err
	}

	return nil, failed
}

// reasonAgainst says why an entry does not qualify, "" if it does.
func reasonAgainst(e *Entry, a ask, turn int) Reason {
	switch {
	case e == nil && Scrub(a.ref) != a.ref:
		return ReasonUUID
	case e == nil:
		return ReasonUnknown
	case e.State == StateDropped:
		return ReasonDropped
	case e.State == StateDeleted && (!a.want.Deleted || !e.resolves(turn)):
		return ReasonDeleted
	case a.want.Type != "" && a.want.Type != e.Type:
		return ReasonWrongType
	case a.want.Stored && e.Pending():
		return ReasonPending
	case a.want.Draft && !e.Pending():
		return ReasonSaved
	default:
		return ""
	}
}

func (e RefErrors) add(one *RefError) RefErrors {
	if slices.ContainsFunc(e, func(o *RefError) bool { return o.Ref == one.Ref && o.Reason == one.Reason }) {
		return e
	}

	return append(e, one)
}

// refError puts a reason into words; suggest adds similar refs where that helps.
func (r *Registry) refError(e *Entry, a ask, reason Reason) *RefError {
	name := CleanText(a.ref, MaxLabel)
	err := &RefError{Ref: name, Reason: reason, wanted: a.want}
	switch reason {
	case ReasonUUID:
		err.Sentence = "Database ids are not accepted; use a ref of this conversation."
	case ReasonDropped:
		err.Sentence = name + " was dropped from this conversation; read the entity again if it is needed."
		if e.ID == "" {
			err.Sentence = name + " was discarded; generate it again if it is needed."
		}
	case ReasonDeleted:
		err.Sentence = refAndLabel(e) + " was deleted."
	case ReasonPending:
		err.Sentence = fmt.Sprintf("%s is a draft: save %s first.", name, name)
	case ReasonSaved:
		err.Sentence = refAndLabel(e) + " is saved already: change its row instead."
	case ReasonWrongType:
		err.Sentence = fmt.Sprintf("%s is a %s, but a %s is needed here", refAndLabel(e), r.noun(e.Type), r.noun(a.want.Type))
	case ReasonUnknown:
		err.Sentence = cmp.Or(name, "An empty ref") + " does not exist in this conversation"
	}

	return err
}

func refAndLabel(e *Entry) string {
	if e.LabelIsPlaceholder {
		return e.Ref
	}

	return e.Ref + ": " + e.Label
}

func (r *Registry) noun(entityType string) string {
	if e := r.domain.ByType(entityType); e != nil && e.Name != "" {
		return e.Name
	}

	return entityType
}

// suggest completes the sentences of refs that are unknown or of another type.
func (r *Registry) suggest(ctx context.Context, failed RefErrors) error {
	types := map[*RefError][]string{} // that each may have meant
	for _, err := range failed {
		if err.Reason == ReasonUnknown || err.Reason == ReasonWrongType {
			types[err] = r.nearTypes(err)
		}
	}
	if len(types) == 0 {
		return nil
	}
	all := slices.Compact(slices.Sorted(slices.Values(slices.Concat(slices.Collect(maps.Values(types))...))))
	near, err := r.q.EntityRefSuggest(ctx, r.tx, &db.EntityRefSuggestParams{SessionID: r.scope.SessionID, EntityTypes: all})
	if err != nil {
		return fmt.Errorf("look up near refs: %w", err)
	}
	for err, types := range types {
		err.complete(err.rank(near, types))
	}

	return nil
}

// nearTypes are the types that may have been meant: the required one, else the one that the word names, else all.
func (r *Registry) nearTypes(err *RefError) []string {
	if err.wanted.Type != "" {
		return []string{err.wanted.Type}
	}
	word := strings.TrimPrefix(strings.TrimRight(strings.ToLower(err.Ref), "0123456789_"), genPrefix) // of recipes_3, Gen_Recipe_1
	if e := r.domain.Entity(word); e != nil {
		return []string{e.Type}
	}
	all := make([]string, len(r.domain.Entities))
	for i, e := range r.domain.Entities {
		all[i] = e.Type
	}

	return all
}

// rank orders what may have been meant: same label, same number, a label with the word in it, then most recently
// touched.
func (e *RefError) rank(near []*db.EntityRefSuggestRow, types []string) []*db.EntityRefSuggestRow {
	word := domain.Fold(e.Ref)
	number := e.Ref[len(strings.TrimRight(e.Ref, "0123456789")):]
	score := func(row *db.EntityRefSuggestRow) int {
		label := domain.Fold(row.Label)
		switch {
		case word != "" && label == word:
			return 0
		case number != "" && strings.HasSuffix(row.Ref, "_"+number):
			return 1
		case len(word) > 2 && strings.Contains(label, word):
			return 2
		default:
			return 3
		}
	}
	fit := slices.DeleteFunc(slices.Clone(near), func(row *db.EntityRefSuggestRow) bool {
		return !slices.Contains(types, row.EntityType) || e.wanted.Stored && row.State == StatePending
	})
	slices.SortStableFunc(fit, func(a, b *db.EntityRefSuggestRow) int { return cmp.Compare(score(a), score(b)) })

	return fit[:min(len(fit), maxSuggestions)]
}

// complete ends an unfinished sentence.
func (e *RefError) complete(near []*db.EntityRefSuggestRow) {
	if len(near) == 0 {
		e.Sentence += "; read the entity first to get its ref."

		return
	}
	names := make([]string, len(near))
	for i, row := range near {
		names[i] = row.Ref
		if !row.LabelIsPlaceholder {
			names[i] += ": " + row.Label
		}
	}
	list := names[0]
	if last := len(names) - 1; last > 0 {
		list = strings.Join(names[:last], ", ") + " or " + names[last]
	}
	e.Sentence += "; did you mean " + list + "?"
}
