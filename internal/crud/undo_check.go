package crud

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/domain"
	"alfred/internal/pg"
	"alfred/registry"
)

// moved is the error for a row that is not as the turn left it.
func (u *undoing) moved(e *domain.Entity, key string, row image, what string) error {
	return &unworded{fmt.Errorf("%s %s", e.Type, what), func(ctx context.Context, tx pgx.Tx, _ uuid.UUID) error {
		return u.changedBy(ctx, tx, e, key, labelOf(e, row), what)
	}}
}

// check compares each row with how the decision left it, and locks it. What a later decision of the turn did to a row
// has been compared and undone by now.
func (u *undoing) check(ctx context.Context, tx pgx.Tx, writes []*formerWrite) error {
	keys := map[*domain.Entity][]string{}
	for _, w := range writes {
		keys[w.entity] = append(keys[w.entity], w.EntityID)
	}
	reads := &pg.Batch{}
	rows := u.tools.imagesByKey(reads, keys, true)
	if err := reads.Send(ctx, tx); err != nil {
		return err
	}
	last := map[rowKey]*formerWrite{}
	for _, w := range writes {
		w.now = rows[w.entity][w.EntityID]
		last[w.at()] = w
	}
	for _, w := range writes {
		if u.settled[w.at()] || last[w.at()] != w {
			continue
		}
		if err := u.asLeft(w); err != nil {
			return err
		}
	}

	return nil
}

// asLeft compares one row. If later turns changed it and all of that was undone, it is compared with what the last of
// those left: the database's own counters have advanced.
func (u *undoing) asLeft(w *formerWrite) error {
	later := u.later[w.at()]
	gone, marks := w.after == nil, w.after
	if later != nil && later.Cancelled {
		var newest map[string]string
		if err := unmarshal(later.After, &newest); err != nil {
			return fmt.Errorf("read what was written since: %w", err)
		}
		if !gone && newest != nil {
			marks = newest
		}
	}
	what := ""
	switch {
	case gone && w.now != nil:
		what = "is there again"
	case !gone && w.now == nil:
		what = "is gone"
	case !gone:
		if name := differs(w.entity, w.now, marks); name != "" {
			what = "has changed since (" + name + ")"
		}
	}
	if what == "" {
		return nil
	}

	return u.moved(w.entity, w.EntityID, w.now, what)
}

// differs names a column of a row that does not match its marks, "" for none.
func differs(e *domain.Entity, row image, marks map[string]string) string {
	for _, c := range e.Columns {
		value, ok := row[c.Name]
		if left, counts := marks[c.Name]; counts && ok && !c.Automatic() && mark(c, value) != left {
			return c.Name
		}
	}

	return ""
}

// changedBy says which row is in the way, and who changed it.
func (u *undoing) changedBy(ctx context.Context, tx pgx.Tx, e *domain.Entity, key, label, what string) error {
	if label == "" {
		known, err := registry.New(tx, u.tools.domain, u.scope).LookupKeys(ctx, e.Type, []string{key})
		if err != nil {
			return err
		}
		if entry := known[key]; entry != nil && !entry.LabelIsPlaceholder {
			label = entry.Label
		}
	}
	who, err := db.New().TurnUndoChangedBy(ctx, tx, &db.TurnUndoChangedByParams{
		SessionID: u.scope.SessionID, UserID: u.scope.UserID, EntityType: e.Type, EntityID: key, TurnID: u.Turn,
	})
	if err != nil {
		return fmt.Errorf("look for who changed a row: %w", err)
	}
	by, way := "by another program, or the database itself", ""
	switch {
	case who.Asked != "" && who.SameSession:
		by, way = "by what you asked with "+registry.Scrub(who.Asked), " Take that back first."
	case who.Asked != "":
		by = "by you in another conversation"
	case who.ByUser:
		by = "by you, outside the chat"
	}

	return fail(CodeStale, "The %s %s, %s. Nothing was taken back.%s", called(e, label), what, by, way)
}
