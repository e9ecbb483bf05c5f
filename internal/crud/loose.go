package crud

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"alfred/internal/domain"
)

const (
	// looseTimeout bounds looking through a table's texts letter by letter, which takes up to twenty times as long as comparing them.
	looseTimeout = "1s"

	foundLoosely  = "No row fits to the letter; these have other capitals, accents or endings, or say more."
	notLookedInto = "Whether rows fit with other capitals or accents was not looked into: it takes too long here."
)

// whyNone says why a search found nothing, or looks again with conditions to which capitals and accents do not matter, nor what stands
// around a pattern, and says so: who looks for berlin means Berlin, who looks for Malaga means Málaga, and who looks for ilike Sanne
// means Sanne de Boer too. "" if there is nothing to say.
func whyNone(ctx context.Context, tx pgx.Tx, e *domain.Entity, filters, or []condition, again func(tx pgx.Tx, filters, or []condition) (found bool, err error)) (notice string, err error) {
	if notice, err = strangerNotice(ctx, tx, e); err != nil || notice != "" {
		return notice, err
	}
	wide, some := loosened(e, filters)
	other, others := loosened(e, or)
	if !some && !others {
		return "", nil
	}
	found := false
	err = pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
		return withTimeout(ctx, tx, looseTimeout, func() (err error) {
			found, err = again(tx, wide, other)

			return err
		})
	})
	if pgErr, ok := errors.AsType[*pgconn.PgError](err); ok && pgErr.Code == pgerrcode.QueryCanceled && ctx.Err() == nil {
		return notLookedInto, nil
	}
	if found {
		notice = foundLoosely
	}

	return notice, err
}

// loosened are conditions that more rows meet, and whether they differ from the given ones.
func loosened(e *domain.Entity, list []condition) (wide []condition, differ bool) {
	wide = slices.Clone(list)
	for i := range wide {
		differ = wide[i].loosen(e) || differ
	}

	return wide, differ
}

func (c *condition) loosen(e *domain.Entity) bool {
	switch {
	case c.pointing != nil:
		if c.op != opExists {
			return false
		}
		of := *c.pointing
		where, differ := loosened(of.entity, of.where)
		of.where, c.pointing = where, &of

		return differ
	case !c.isLoosened(e):
		return false
	}
	for _, text := range c.texts {
		pattern := domain.Unmarked(text)
		switch {
		case c.op == opEqual || c.op == opIn || c.column.Kind == domain.KindArray:
			pattern = likeEscaper.Replace(pattern)
		case c.op == opContains || !strings.ContainsAny(pattern, `%_\`):
			pattern = literal(pattern)
		}
		c.loose = append(c.loose, pattern)
	}

	return true
}

// isLoosened reports whether a condition compares letters that may have been written otherwise.
func (c *condition) isLoosened(e *domain.Entity) bool {
	of := c.column
	if of == nil || c.other != nil || of.Stored() != nil || of.Pair != nil ||
		!slices.ContainsFunc(c.texts, func(text string) bool { return strings.ToUpper(text) != strings.ToLower(text) }) {
		return false
	}
	if of.Kind == domain.KindArray {
		return c.op == opContains && of.Elem == domain.KindText && len(of.Enum) == 0 && !of.Fold
	}

	return of.Kind == domain.KindText && of.Holds == "" &&
		(c.op == opILike || c.op == opContains || (c.op == opEqual || c.op == opIn) && isCaseSensitive(e, of))
}

// isCaseSensitive reports whether small letters and capitals differ when a column is compared.
func isCaseSensitive(e *domain.Entity, c *domain.Column) bool {
	return c != nil && c.FreeText() && !c.Fold && !holdsRefs(e, c) && !slices.Contains(nameColumns(e), c)
}

// whyTooMany says that not_exists compares to the letter: a row with other capitals counts as none.
func whyTooMany(list ...condition) string {
	for _, c := range list {
		if c.op != opNotExists {
			continue
		}
		for _, one := range c.pointing.where {
			if one.isLoosened(c.pointing.entity) && (one.op == opEqual || one.op == opIn) {
				return fmt.Sprintf("%s on %s tells capitals and accents apart.", one.op, one.column.Name)
			}
		}
	}

	return ""
}
