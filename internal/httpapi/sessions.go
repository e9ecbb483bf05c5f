package httpapi

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/httpapi/door"
	"alfred/internal/httpapi/problem"
	"alfred/internal/pg"
)

// session is one conversation. Status is computed from the last activity: active, stale after 30 minutes, expired after
// 24 hours; neither loses anything.
type session struct {
	ID             uuid.UUID `json:"id"`
	Title          string    `json:"title"`
	Mode           string    `json:"mode"`
	Domain         string    `json:"domain"`
	LastTurn       int32     `json:"last_turn"`
	Status         string    `enum:"active,stale,expired" json:"status"`
	Archived       bool      `json:"archived"`
	Pinned         bool      `json:"pinned"`
	LastActivityAt time.Time `json:"last_activity_at"`
	CreatedAt      time.Time `json:"created_at"`

	ParentID     *uuid.UUID `doc:"What it is a fork of; none for what is no fork, and where that was deleted." json:"parent_id,omitempty"`
	ForkedAtTurn *int32     `doc:"The last turn that a fork has of what it began as." json:"forked_at_turn,omitempty"`
}

const (
	staleAfter   = 30 * time.Minute
	expiredAfter = 24 * time.Hour
)

func sessionOf(row *db.SessionGetRow) session {
	status := "active"
	switch idle := time.Duration(row.Idle * float64(time.Second)); {
	case idle >= expiredAfter:
		status = "expired"
	case idle >= staleAfter:
		status = "stale"
	}

	return session{
		ID: row.ID, Title: row.Title, Mode: row.Mode, Domain: row.Domain, LastTurn: row.LastTurn, Status: status,
		Archived: row.ArchivedAt != nil, Pinned: row.PinnedAt != nil, LastActivityAt: row.LastActivityAt, CreatedAt: row.CreatedAt,
		ParentID: row.ParentID, ForkedAtTurn: row.ForkedAtTurn,
	}
}

// SessionPath names a session.
type SessionPath struct {
	ID string `doc:"Session id." path:"id"`
}

type sessionOut struct {
	Body session
}

type sessionCreateIn struct {
	IdempotencyHeader

	Body *newSession // a pointer, because it is optional
}

type newSession struct {
	Title string `json:"title,omitempty" maxLength:"200"`
	Mode  string `json:"mode,omitempty"  enum:"quick,plan,create"`
}

// sessionChanges are the fields to change; the rest stays.
type sessionChanges struct {
	Title    *string `json:"title,omitempty"    maxLength:"200"`
	Archived *bool   `json:"archived,omitempty"`
	Pinned   *bool   `doc:"Stands above the others in lists." json:"pinned,omitempty"`
}

type sessionPatchIn struct {
	SessionPath

	Body sessionChanges
}

func (a *api) registerSessions() {
	huma.Register(a.huma, operation(http.MethodPost, "/v1/sessions", "create-session", "Start a conversation", http.StatusCreated, http.StatusRequestEntityTooLarge), a.sessionCreate)
	huma.Register(a.huma, operation(http.MethodGet, "/v1/sessions", "list-sessions", "List conversations, pinned ones first, then the newest", http.StatusOK), a.sessionList)
	huma.Register(a.huma, operation(http.MethodGet, "/v1/sessions/{id}", "get-session", "Get a conversation", http.StatusOK), a.sessionGet)
	huma.Register(a.huma, operation(http.MethodPatch, "/v1/sessions/{id}", "patch-session", "Rename, pin, archive or reopen a conversation", http.StatusOK, http.StatusRequestEntityTooLarge), a.sessionPatch)
	huma.Register(a.huma, operation(http.MethodDelete, "/v1/sessions/{id}", "forget-session", "Delete a conversation and all it left; domain rows stay", http.StatusNoContent), a.sessionForget)
}

func (a *api) sessionCreate(ctx context.Context, in *sessionCreateIn) (*sessionOut, error) {
	body := newSession{}
	if in.Body != nil {
		body = *in.Body
	}
	body.Mode = cmp.Or(body.Mode, "plan")
	var row *db.SessionGetRow
	err := pg.InTx(ctx, a.Pool, func(tx pgx.Tx) error {
		made, again, err := a.once(ctx, tx, in.IdempotencyKey, []any{"create-session", body}, func() (string, error) {
			inserted, err := a.q.SessionInsert(ctx, tx, &db.SessionInsertParams{
				UserID: userOf(ctx), Domain: a.Domain.Name, Title: strings.TrimSpace(body.Title), Mode: body.Mode,
			})
			if err != nil {
				return "", fmt.Errorf("create session: %w", err)
			}
			row = (*db.SessionGetRow)(inserted)

			return row.ID.String(), nil
		})
		if again {
			row, err = a.q.SessionGet(ctx, tx, uuid.MustParse(made))
		}

		return err
	})
	if err != nil {
		return nil, failed(ctx, err)
	}

	return &sessionOut{Body: sessionOf(row)}, nil
}

func (a *api) sessionGet(ctx context.Context, in *SessionPath) (*sessionOut, error) {
	row, err := a.door.Session(ctx, in.ID)
	if err != nil {
		return nil, failed(ctx, err)
	}

	return &sessionOut{Body: sessionOf(row)}, nil
}

func (a *api) sessionPatch(ctx context.Context, in *sessionPatchIn) (*sessionOut, error) {
	id, err := door.ParseID(in.ID)
	if err != nil {
		return nil, failed(ctx, err)
	}
	if in.Body.Title != nil {
		*in.Body.Title = strings.TrimSpace(*in.Body.Title)
	}
	row, err := a.q.SessionUpdate(ctx, a.Pool, &db.SessionUpdateParams{
		ID: id, UserID: userOf(ctx), Title: in.Body.Title, Archived: in.Body.Archived, Pinned: in.Body.Pinned,
	})
	if err != nil {
		return nil, failed(ctx, fmt.Errorf("patch session: %w", err))
	}

	return &sessionOut{Body: sessionOf((*db.SessionGetRow)(row))}, nil
}

func (a *api) sessionForget(ctx context.Context, in *SessionPath) (*struct{}, error) {
	id, err := door.ParseID(in.ID)
	if err != nil {
		return nil, failed(ctx, err)
	}
	err = a.write(ctx, func(tx pgx.Tx) error {
		forgotten, err := a.q.SessionForget(ctx, tx, id)
		if err == nil && !forgotten {
			err = problem.ErrNotFound
		}

		return err
	})

	return &struct{}{}, failed(ctx, err)
}

type sessionListIn struct {
	PageQuery

	Q        string `doc:"Part of the title." maxLength:"200" query:"q"`
	Archived string `doc:"Only those that are, or are not; all if left out." enum:"true,false" query:"archived"`
}

// likeEscaper escapes text for a LIKE pattern.
var likeEscaper = strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`)

// filter sets what SessionPage selects.
func (in *sessionListIn) filter(params *db.SessionPageParams) {
	if in.Archived != "" {
		archived := in.Archived == "true"
		params.Archived = &archived
	}
	if in.Q != "" {
		pattern := "%" + likeEscaper.Replace(in.Q) + "%"
		params.TitleLike = &pattern
	}
}

func (a *api) sessionList(ctx context.Context, in *sessionListIn) (*PageOut[session], error) {
	params, err := in.after()
	if err != nil {
		return nil, failed(ctx, err)
	}
	params.UserID, params.PageSize = userOf(ctx), int32(in.Limit)
	in.filter(params)
	var rows []*db.SessionPageRow
	err = a.read(ctx, func(tx pgx.Tx) error {
		rows, err = a.q.SessionPage(ctx, tx, params)

		return err
	})
	if err != nil {
		return nil, failed(ctx, fmt.Errorf("list sessions: %w", err))
	}

	return &PageOut[session]{Body: pageOf(rows, in.Limit,
		func(r *db.SessionPageRow) session { return sessionOf((*db.SessionGetRow)(r)) },
		sessionCursor)}, nil
}

func sessionCursor(r *db.SessionPageRow) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%t|%s|%s", r.PinnedAt != nil, r.LastActivityAt.Format(time.RFC3339Nano), r.ID))
}

// after is where SessionPage continues.
func (in *sessionListIn) after() (*db.SessionPageParams, error) {
	if in.Cursor == "" {
		return &db.SessionPageParams{}, nil
	}
	data, decodeErr := base64.RawURLEncoding.DecodeString(in.Cursor)
	parts := append(strings.Split(string(data), "|"), "", "", "")
	pinned, pinErr := strconv.ParseBool(parts[0])
	at, timeErr := time.Parse(time.RFC3339Nano, parts[1])
	id, idErr := uuid.Parse(parts[2])
	if errors.Join(decodeErr, pinErr, timeErr, idErr) != nil {
		return nil, errCursor
	}

	return &db.SessionPageParams{BeforePinned: &pinned, BeforeAt: &at, BeforeID: &id}, nil
}
