package httpapi

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"
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

// pageOf makes a page of rows; a full page has the last row's cursor.
func pageOf[R, T any](rows []R, limit int, item func(R) T, cursor func(R) string) Page[T] {
	page := Page[T]{Items: mapped(rows, item)}
	if n := len(rows); n > 0 && n == limit {
		page.NextCursor = cursor(rows[n-1])
	}

	return page
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

// errCursor rejects cursors that we did not issue.
var errCursor = problem.Invalid("This cursor is not one of ours; start again without it.")

// parseNumberCursor parses a numeric cursor.
func parseNumberCursor(cursor string) (int32, error) { return parseNumber(cursor, errCursor) }

// parseNumber parses a number that we gave a client; none is 0. Anything else is bad.
func parseNumber(text string, bad error) (int32, error) {
	n, err := strconv.ParseInt(cmp.Or(text, "0"), 10, 32)
	if err != nil || n < 0 {
		return 0, bad
	}

	return int32(n), nil
}

// pair is a position of two numbers: a turn's number and an event's, a step's and a call's.
type pair struct{ first, second int32 }

// parsePair parses two such numbers with a point between them; none is where a list begins.
func parsePair(text string, none pair, bad error) (p pair, err error) {
	if text == "" {
		return none, nil
	}
	before, after, _ := strings.Cut(text, ".")
	if before == "" || after == "" {
		return p, bad
	}
	if p.first, err = parseNumber(before, bad); err == nil {
		p.second, err = parseNumber(after, bad)
	}

	return p, err
}

// opaque encodes a cursor of several values.
func opaque(cursor any) string {
	raw, err := json.Marshal(cursor)
	if err != nil {
		panic(err) // strings, numbers and times
	}

	return base64.RawURLEncoding.EncodeToString(raw)
}

// parseOpaque decodes one into a struct, which stays zero for none.
func parseOpaque(cursor string, into any) error {
	if cursor == "" {
		return nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		return errCursor
	}

	return nil
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

// paged is a page of the rows after a cursor.
func paged[C, R, T any](
	ctx context.Context, read pg.Run, in PageQuery, parse func(cursor string) (C, error),
	list func(tx pgx.Tx, after C, size int32) ([]R, error), item func(R) T, cursor func(R) string,
) (Page[T], error) {
	return pg.Value(ctx, read, func(tx pgx.Tx) (page Page[T], err error) {
		after, err := parse(in.Cursor)
		if err != nil {
			return page, err
		}
		rows, err := list(tx, after, int32(in.Limit))

		return pageOf(rows, in.Limit, item, cursor), err
	})
}
