package httpapi

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/httpapi/problem"
	"alfred/internal/pg"
)

// Huma finds parameters and fields by reflection, which skips unexported embedded types: hence Page, PageQuery,
// SessionPath and the like.

// Page is the common shape of lists; NextCursor is empty on the last page.
type Page[T any] struct {
	Items      []T    `json:"items"`
	NextCursor string `json:"next_cursor"`
}

// PageQuery are the query parameters of every list.
type PageQuery struct {
	Limit  int    `default:"50" doc:"Items per page." maximum:"200" minimum:"1" query:"limit"`
	Cursor string `doc:"next_cursor of the page before." query:"cursor"`
}

// mapped is a list of items, one for each row; never nil, since lists are never null in JSON.
func mapped[R, T any](rows []R, item func(R) T) []T {
	items := make([]T, len(rows))
	for i, row := range rows {
		items[i] = item(row)
	}

	return items
}

type sessionPageIn struct {
	SessionPath
	PageQuery
}

type turnPageIn struct {
	TurnPath
	PageQuery
}

// inSession returns what work reads of one of the caller's sessions.
func inSession[T any](ctx context.Context, a *api, id pathID, work func(tx pgx.Tx, row *db.SessionGetRow) (T, error)) (T, error) {
	return pg.Value(ctx, a.door.Read, func(tx pgx.Tx) (none T, err error) {
		row, err := a.q.SessionGet(ctx, tx, id.UUID)
		if err != nil {
			return none, fmt.Errorf("get session: %w", err)
		}

		return work(tx, row)
	})
}

// ofSession reads of one of the caller's sessions.
func (a *api) ofSession(id pathID) pg.Run {
	return func(ctx context.Context, work func(tx pgx.Tx) error) error {
		_, err := inSession(ctx, a, id, func(tx pgx.Tx, _ *db.SessionGetRow) (struct{}, error) { return struct{}{}, work(tx) })

		return err
	}
}

// ofTurn reads of one of the caller's turns.
func (a *api) ofTurn(id pathID) pg.Run {
	return func(ctx context.Context, work func(tx pgx.Tx) error) error {
		return a.door.Read(ctx, func(tx pgx.Tx) error {
			if _, err := a.q.TurnStatusGet(ctx, tx, id.UUID); err != nil {
				return fmt.Errorf("get turn: %w", err)
			}

			return work(tx)
		})
	}
}

// paged is a page of the rows after the place that its cursor holds, from the beginning if that is the zero place; a full
// page has a cursor with its last row's place.
func paged[P comparable, R, T any](
	ctx context.Context, read pg.Run, in PageQuery, list func(tx pgx.Tx, after P, size int32) ([]R, error), item func(R) T, place func(R) P,
) (Page[T], error) {
	return pg.Value(ctx, read, func(tx pgx.Tx) (page Page[T], err error) {
		after, err := parseCursor[P](in.Cursor)
		if err != nil {
			return page, err
		}
		rows, err := list(tx, after, int32(in.Limit))
		page.Items = mapped(rows, item)
		if n := len(rows); n > 0 && n == in.Limit {
			page.NextCursor = cursorOf(place(rows[n-1]))
		}

		return page, err
	})
}

// errCursor rejects cursors that we did not issue.
var errCursor = problem.Invalid("This cursor is not one of ours; start again without it.")

func cursorOf[P comparable](place P) string {
	raw, err := json.Marshal(place)
	if err != nil {
		panic(err) // strings, numbers, times and ids
	}

	return base64.RawURLEncoding.EncodeToString(raw)
}

func parseCursor[P comparable](cursor string) (place P, err error) {
	if cursor == "" {
		return place, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || json.Unmarshal(raw, &place) != nil || place == *new(P) {
		return place, errCursor
	}

	return place, nil
}
