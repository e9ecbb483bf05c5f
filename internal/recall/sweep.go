package recall

import (
	"context"
	"errors"
	"fmt"

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
// serves. A later sweep, once every process has noticed and [Index.Tend] has dropped their
// indexes, deletes the embeddings of earlier models.
//
// Errors: [ErrSweeping]; nothing was done then. [ErrVector] says that some texts have no embedding because the embedder's was
// refused; the others have theirs.
func (x *Index) Sweep(ctx context.Context) error {
	alone := false
	err := pg.Alone(ctx, x.pool, sweepLock, func(conn *pgxpool.Conn) error {
		alone = true
		refused, err := x.sweepAll(ctx)
		if err != nil {
			return err
		}
		if err := x.gatherWords(ctx, conn); err != nil {
			return err
		}
		stood, err := x.complete(ctx, conn)
		if err == nil && stood {
			err = x.retire(ctx, conn)
		}

		return errors.Join(refused, err)
	})
	if err == nil && !alone {
		return ErrSweeping
	}

	return err
}

// gatherWords lists the words of users whose list is not complete: users from before there were lists, and users who
// had a conversation forgotten. Words of new turns are listed when their vectors are stored.
func (x *Index) gatherWords(ctx context.Context, conn *pgxpool.Conn) error {
	params := &db.UserWordsMissingParams{Lim: sweepPage}
	for {
		users, err := x.q.UserWordsMissing(ctx, conn, params)
		if err != nil {
			return fmt.Errorf("look for users whose words are not listed: %w", err)
		}
		for _, params.After = range users {
			if err := x.q.UserWordsGather(ctx, conn, params.After); err != nil {
				return fmt.Errorf("list the words of a user: %w", err)
			}
		}
		if len(users) < sweepPage {
			return nil
		}
	}
}

// complete notes that all texts have vectors of the configured model, and reports whether that was known.
func (x *Index) complete(ctx context.Context, conn *pgxpool.Conn) (bool, error) {
	m := modelOf(x.searcher.embedder)
	noted, err := x.q.EmbeddingComplete(ctx, conn, &db.EmbeddingCompleteParams{Model: m.Model, Dimensions: int32(m.Dimensions)})
	if err != nil {
		return false, fmt.Errorf("note that %s is complete: %w", m.Model, err)
	}

	return noted == 0, nil
}

// sweepAll embeds everything. It returns the embedder's failures for single texts separately, in refused.
func (x *Index) sweepAll(ctx context.Context) (refused, err error) {
	for _, e := range x.searcher.domain.Entities {
		if !searched(e) {
			continue
		}
		if refused, err = settle(refused, x.sweepType(ctx, e, "")); err != nil {
			return nil, err
		}
	}

	return settle(refused, x.sweepTurns(ctx))
}

// settle classifies an error: refused vectors let the sweep continue.
func settle(refused, err error) (error, error) {
	if errors.Is(err, ErrVector) {
		return err, nil
	}

	return refused, err
}

// sweepType embeds a type's rows or, given a horizon, only those written by transactions since then. If a view
// separates users, it reads them one user after the other: with a horizon only recently active ones, because any user's
// program triggers it.
func (x *Index) sweepType(ctx context.Context, e *domain.Entity, horizon string) error {
	if !e.Viewed {
		return x.sweepRows(ctx, uuid.Nil, e, horizon)
	}
	params := &db.EmbeddingUsersParams{Lim: sweepPage}
	if horizon != "" {
		within := soonFor
		params.Within = &within
	}
	var refused error
	for {
		users, err := x.q.EmbeddingUsers(ctx, x.pool, params)
		if err != nil {
			return fmt.Errorf("list users: %w", err)
		}
		for _, params.After = range users {
			if refused, err = settle(refused, x.sweepRows(ctx, params.After, e, horizon)); err != nil {
				return err
			}
		}
		if len(users) < sweepPage {
			return refused
		}
	}
}

func (x *Index) sweepRows(ctx context.Context, userID uuid.UUID, e *domain.Entity, horizon string) error {
	where := `WHERE ($1 = '' OR ` + key(e) + ` > nullif($1, '')::` + e.Key.Type + `)`
	args := []any{""}
	embed := func(ctx context.Context, kind string, texts []text) error {
		return x.embed(ctx, x.searcher.embedder, kind, texts)
	}
	if horizon != "" {
		where, args, embed = where+` AND `+e.WrittenSinceSQL("$2::text"), append(args, horizon), x.embedNew
	}
	var refused error
	for {
		texts, err := x.rowTexts(ctx, userID, e, where+` ORDER BY `+key(e)+fmt.Sprintf(` LIMIT %d`, sweepPage), args...)
		if err != nil {
			return err
		}
		if refused, err = settle(refused, embed(ctx, e.Type, texts)); err != nil {
			return err
		}
		if len(texts) < sweepPage {
			return refused
		}
		args[0] = texts[len(texts)-1].id
	}
}

func (x *Index) sweepTurns(ctx context.Context) error {
	var refused error
	embedder := x.searcher.embedder
	for last := uuid.Nil; ; {
		turns, err := x.q.EmbeddingTurnsMissing(ctx, x.pool, &db.EmbeddingTurnsMissingParams{
			After: last, Model: embedder.Model(), Dimensions: int32(embedder.Dimensions()), Lim: sweepPage,
		})
		if err != nil {
			return fmt.Errorf("read turns: %w", err)
		}
		texts := make([]text, len(turns))
		for i, t := range turns {
			texts[i] = turnText(t.ID, t.UserID, t.Message, t.ResponseSummary, t.Reply)
		}
		if refused, err = settle(refused, x.embed(ctx, embedder, KindTurn, texts)); err != nil {
			return err
		}
		if len(turns) < sweepPage {
			return refused
		}
		last = turns[len(turns)-1].ID
	}
}
