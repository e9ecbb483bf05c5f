package httpapi

import (
	"context"
	"fmt"
	"strconv"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/httpapi/door"
	"alfred/internal/httpapi/problem"
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

// pageOf makes a page of rows; a full page has the last row's cursor.
func pageOf[R, T any](rows []R, limit int, item func(R) T, cursor func(R) string) Page[T] {
	page := Page[T]{Items: make([]T, len(rows))}
	for i, row := range rows {
		page.Items[i] = item(row)
	}
	if n := len(rows); n > 0 && n == limit {
		page.NextCursor = cursor(rows[n-1])
	}

	return page
}

// PageOut is the answer of a list.
type PageOut[T any] struct{ Body Page[T] }

type sessionPageIn struct {
	SessionPath
	PageQuery
}

type turnPageIn struct {
	TurnPath
	PageQuery
}

// list is an endpoint that pages through what belongs to one session or turn.
type list[Cursor, Row, Item any] struct {
	parse  func(cursor string) (Cursor, error)
	rows   func(ctx context.Context, tx pgx.Tx, of uuid.UUID, after Cursor, size int32) ([]Row, error)
	item   func(Row) Item
	cursor func(Row) string
}

// ofSession answers from one of the caller's sessions.
func (l list[Cursor, Row, Item]) ofSession(a *api) func(context.Context, *sessionPageIn) (*PageOut[Item], error) {
	return func(ctx context.Context, in *sessionPageIn) (*PageOut[Item], error) {
		return l.page(ctx, in.PageQuery, func(work func(tx pgx.Tx, id uuid.UUID) error) error {
			return a.readSession(ctx, in.ID, func(tx pgx.Tx, row *db.SessionGetRow) error { return work(tx, row.ID) })
		})
	}
}

// ofTurn answers from one of the caller's turns.
func (l list[Cursor, Row, Item]) ofTurn(a *api) func(context.Context, *turnPageIn) (*PageOut[Item], error) {
	return func(ctx context.Context, in *turnPageIn) (*PageOut[Item], error) {
		return l.page(ctx, in.PageQuery, func(work func(tx pgx.Tx, id uuid.UUID) error) error { return a.readTurn(ctx, in.ID, work) })
	}
}

func (l list[Cursor, Row, Item]) page(ctx context.Context, in PageQuery, read func(work func(tx pgx.Tx, id uuid.UUID) error) error) (*PageOut[Item], error) {
	after, err := l.parse(in.Cursor)
	if err != nil {
		return nil, failed(ctx, err)
	}
	var rows []Row
	err = read(func(tx pgx.Tx, id uuid.UUID) error {
		rows, err = l.rows(ctx, tx, id, after, int32(in.Limit))

		return err
	})
	if err != nil {
		return nil, failed(ctx, err)
	}

	return &PageOut[Item]{Body: pageOf(rows, in.Limit, l.item, l.cursor)}, nil
}

// errCursor rejects cursors that we did not issue.
var errCursor = problem.Invalid("This cursor is not one of ours; start again without it.")

// parseNumberCursor parses a numeric cursor; none is 0.
func parseNumberCursor(cursor string) (int32, error) {
	if cursor == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(cursor, 10, 32)
	if err != nil || n < 0 {
		return 0, errCursor
	}

	return int32(n), nil
}

// parseIDCursor parses a cursor that is an id; none is nil.
func parseIDCursor(cursor string) (*uuid.UUID, error) {
	if cursor == "" {
		return nil, nil
	}
	id, err := uuid.Parse(cursor)
	if err != nil {
		return nil, errCursor
	}

	return &id, nil
}

// readSession reads from one of the caller's sessions.
func (a *api) readSession(ctx context.Context, pathID string, work func(tx pgx.Tx, row *db.SessionGetRow) error) error {
	id, err := door.ParseID(pathID)
	if err != nil {
		return err
	}

	return a.read(ctx, func(tx pgx.Tx) error {
		row, err := a.q.SessionGet(ctx, tx, id)
		if err != nil {
			return fmt.Errorf("get session: %w", err)
		}

		return work(tx, row)
	})
}

// readTurn reads from one of the caller's turns.
func (a *api) readTurn(ctx context.Context, pathID string, work func(tx pgx.Tx, id uuid.UUID) error) error {
	id, err := door.ParseID(pathID)
	if err != nil {
		return err
	}

	return a.read(ctx, func(tx pgx.Tx) error {
		if _, err := a.q.TurnStatusGet(ctx, tx, id); err != nil {
			return fmt.Errorf("get turn: %w", err)
		}

		return work(tx, id)
	})
}
