package recall

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/db"
	"alfred/internal/domain"
	"alfred/internal/pg"
)

// sweepPage is how many texts a sweep checks at once.
const sweepPage = 500

// soonFor is how long after a user's last message rows written by other programs are embedded within seconds, if a view
// separates users; afterwards the full sweep embeds them.
const soonFor = "12 hours"

// ErrSweeping says that another process sweeps.
var ErrSweeping = errors.New("another process sweeps")

// Sweep embeds what no job covers: rows written by other programs, and rows and turns
// from before the embedder was configured. When nothing is left the model is complete and
// serves. A later sweep, once every process has noticed and [Index.Maintain] has dropped their
// indexes, deletes the embeddings of earlier models.
//
// Errors: [ErrSweeping]; nothing was done then. [ErrVector] says that some texts have no embedding because the embedder's was
// refused; the others have theirs.
func (x *Index) Sweep(ctx context.Context) error {
	alone := false
	err := pg.WithLock(ctx, x.pool, sweepLock, func(conn *pgxpool.Conn) error {
		alone = true
		all := sweep{Index: x}
		if err := all.everything(ctx); err != nil {
			return err
		}
		if err := x.gatherWords(ctx, conn); err != nil {
			return err
		}
		stood, err := x.complete(ctx, conn)
		if err == nil && stood {
			err = x.retire(ctx, conn)
		}

		return errors.Join(all.refused, err)
	})
	if err == nil && !alone {
		return ErrSweeping
	}

	return err
}

// gatherWords lists the words of users whose list is not complete: users from before there were lists, and users who
// had a conversation forgotten. Words of new turns are listed when their vectors are stored.
func (x *Index) gatherWords(ctx context.Context, conn *pgxpool.Conn) error {
	missing := func(after uuid.UUID) ([]uuid.UUID, error) {
		return x.q.UserWordsMissing(ctx, conn, &db.UserWordsMissingParams{After: after, Lim: sweepPage})
	}

	for user, err := range eachUser(missing) {
		if err != nil {
			return err
		}
		if err := x.q.UserWordsGather(ctx, conn, user); err != nil {
			return fmt.Errorf("list the words of a user: %w", err)
		}
	}

	return nil
}

// eachUser yields all users, whom list returns by pages, those after a given one.
func eachUser(list func(after uuid.UUID) ([]uuid.UUID, error)) iter.Seq2[uuid.UUID, error] {
	return func(yield func(uuid.UUID, error) bool) {
		for after := uuid.Nil; ; {
			users, err := list(after)
			if err != nil {
				yield(uuid.Nil, fmt.Errorf("list users: %w", err))

				return
			}
			for _, after = range users {
				if !yield(after, nil) {
					return
				}
			}
			if len(users) < sweepPage {
				return
			}
		}
	}
}

// complete notes that all texts have vectors of the configured model, and reports whether that was known.
func (x *Index) complete(ctx context.Context, conn *pgxpool.Conn) (bool, error) {
	m := modelOf(x.searcher.embedder)
	noted, err := x.q.EmbeddingComplete(ctx, conn, &db.EmbeddingCompleteParams{Model: m.Model, Dimensions: m.Dimensions})
	if err != nil {
		return false, fmt.Errorf("note that %s is complete: %w", m.Model, err)
	}

	return noted == 0, nil
}

// sweep is one under way. A text whose vector is refused does not end it.
type sweep struct {
	*Index

	refused error // [ErrVector], of the last such text
}

func (s *sweep) everything(ctx context.Context) error {
	for _, e := range s.searcher.searched() {
		if err := s.rows(ctx, e, ""); err != nil {
			return err
		}
	}

	return s.turns(ctx)
}

// rows embeds a type's rows or, given a horizon, only those written by transactions since then. If a view separates
// users, it reads them one user after the other: with a horizon only recently active ones, because any user's program
// triggers it. What all share is read once, through the first user who sees any.
func (s *sweep) rows(ctx context.Context, e *domain.Entity, horizon string) error {
	if !e.Viewed {
		_, err := s.rowsOf(ctx, uuid.Nil, e, horizon)

		return err
	}
	var within *string
	if horizon != "" {
		within = new(soonFor)
	}
	active := func(after uuid.UUID) ([]uuid.UUID, error) {
		return s.q.EmbeddingUsers(ctx, s.pool, &db.EmbeddingUsersParams{After: after, Within: within, Lim: sweepPage})
	}

	for user, err := range eachUser(active) {
		if err != nil {
			return err
		}
		found, err := s.rowsOf(ctx, user, e, horizon)
		if err != nil || found && e.Shared {
			return err
		}
	}

	return nil
}

// rowsOf embeds the rows that a user sees, and reports whether there are any.
func (s *sweep) rowsOf(ctx context.Context, userID uuid.UUID, e *domain.Entity, horizon string) (found bool, err error) {
	where := `WHERE ($1 = '' OR ` + e.Qualified(e.Key) + ` > nullif($1, '')::` + e.Key.Type + `)`
	args, embed := []any{""}, s.embedConfigured
	if horizon != "" {
		where, args, embed = where+` AND `+e.WrittenSinceSQL("$2::text"), append(args, horizon), s.embedNew
	}

	err = s.pages(func() ([]text, error) {
		texts, err := s.rowTexts(ctx, userID, e, where+` ORDER BY `+e.Qualified(e.Key)+fmt.Sprintf(` LIMIT %d`, sweepPage), args...)
		if len(texts) > 0 {
			args[0], found = texts[len(texts)-1].id, true
		}

		return texts, err
	}, func(texts []text) error { return embed(ctx, e.Type, texts) })

	return found, err
}

func (s *sweep) turns(ctx context.Context) error {
	m := modelOf(s.searcher.embedder)
	params := &db.EmbeddingTurnsMissingParams{Model: m.Model, Dimensions: m.Dimensions, Lim: sweepPage}

	return s.pages(func() ([]text, error) {
		turns, err := s.q.EmbeddingTurnsMissing(ctx, s.pool, params)
		if err != nil {
			return nil, fmt.Errorf("read turns: %w", err)
		}
		texts := make([]text, len(turns))
		for i, t := range turns {
			texts[i], params.After = turnText(t.ID, t.UserID, t.Message, t.ResponseSummary, t.Reply), t.ID
		}

		return texts, nil
	}, func(texts []text) error { return s.embedConfigured(ctx, KindTurn, texts) })
}

// pages embeds texts page by page.
func (s *sweep) pages(next func() ([]text, error), embed func([]text) error) error {
	for {
		texts, err := next()
		if err != nil {
			return err
		}
		if err = embed(texts); errors.Is(err, ErrVector) {
			s.refused = err
		} else if err != nil {
			return err
		}
		if len(texts) < sweepPage {
			return nil
		}
	}
}
