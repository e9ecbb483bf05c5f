package recall

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/db"
	"alfred/domain"
	"alfred/pg"
)

// sweepPage is how many texts a sweep looks at at once.
const sweepPage = 500

// soonFor is how long after a user's last message what other programs write of hers gets its vectors within seconds,
// where a view keeps users apart; afterwards the sweep comes by.
const soonFor = 12 * time.Hour

// Sweep embeds what no job has: rows written by other programs, rows and turns
// from before the embedder was chosen. When nothing is left it makes the model's
// index, and with that the model serves. The next sweep, when every process has seen
// that, deletes the vectors of earlier models. While another process sweeps it does
// nothing.
//
// [ErrVector] says that some texts have no vector because the embedder's was refused;
// the others have theirs.
func (x *Index) Sweep(ctx context.Context) error {
	return pg.Alone(ctx, x.pool, sweepLock, func(conn *pgxpool.Conn) error {
		refused, err := x.sweepAll(ctx)
		if err != nil {
			return err
		}
		stood, err := ensureIndex(ctx, conn, modelOf(x.searcher.embedder))
		if err == nil && stood {
			err = x.retire(ctx, conn)
		}

		return errors.Join(refused, err)
	})
}

// sweepAll returns apart what the embedder did wrong for single texts.
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

// settle sorts an error: refused vectors let the sweep go on.
func settle(refused, err error) (error, error) {
	if errors.Is(err, ErrVector) {
		return err, nil
	}

	return refused, err
}

// sweepType embeds a type's rows; those alone that a transaction from the horizon on wrote, if one is given. Where a
// view keeps users apart they are read for one user after the other: with a horizon for those of the last hours, because
// every row that any user's program writes leads here.
func (x *Index) sweepType(ctx context.Context, e *domain.Entity, horizon string) error {
	if !e.Viewed {
		return x.sweepRows(ctx, uuid.Nil, e, horizon)
	}
	params := &db.EmbeddingUsersParams{Lim: sweepPage}
	if horizon != "" {
		since := time.Now().Add(-soonFor)
		params.Since = &since
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
			texts[i] = turnText((*db.EmbeddingTurnRow)(t))
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
