package httpapi

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/httpapi/problem"
	"alfred/internal/pg"
	"alfred/jobs"
)

// session is one conversation. Status is computed from the last activity: active, stale after 30 minutes, expired after
// 24 hours; neither loses anything.
type session struct {
	ID             uuid.UUID `json:"id"`
	Title          string    `json:"title"`
	Mode           string    `json:"mode"`
	Domain         string    `doc:"Name of the declaration it runs on; empty if it was begun in SQL, which does not know it." json:"domain"`
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
	ID pathID `doc:"Session id." path:"id"`
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

func (a *api) sessionCreate(ctx context.Context, in *sessionCreateIn) (session, error) {
	body := newSession{}
	if in.Body != nil {
		body = *in.Body
	}
	body.Mode = cmp.Or(body.Mode, "plan")

	return pg.Value(ctx, a.writeAll, func(tx pgx.Tx) (session, error) {
		made, _, err := a.createOnce(ctx, tx, in.IdempotencyKey, []any{"create-session", body}, func() (string, error) {
			id, err := a.q.SessionMake(ctx, tx, &db.SessionMakeParams{
				UserID: userOf(ctx), Domain: a.Domain.Name, Title: strings.TrimSpace(body.Title), Mode: body.Mode,
			})
			if err != nil {
				return "", fmt.Errorf("create session: %w", err)
			}

			return id.String(), nil
		})
		if err != nil {
			return session{}, err
		}
		row, err := a.q.SessionGet(ctx, tx, uuid.MustParse(made))
		if err != nil {
			return session{}, fmt.Errorf("get session: %w", err)
		}

		return sessionOf(row), nil
	})
}

func (a *api) sessionGet(ctx context.Context, in *SessionPath) (session, error) {
	return inSession(ctx, a, in.ID, func(_ pgx.Tx, row *db.SessionGetRow) (session, error) { return sessionOf(row), nil })
}

func (a *api) sessionPatch(ctx context.Context, in *sessionPatchIn) (session, error) {
	if in.Body.Title != nil {
		*in.Body.Title = strings.TrimSpace(*in.Body.Title)
	}
	row, err := a.q.SessionUpdate(ctx, a.Pool, &db.SessionUpdateParams{
		ID: in.ID.UUID, UserID: userOf(ctx), Title: in.Body.Title, Archived: in.Body.Archived, Pinned: in.Body.Pinned,
	})
	if err != nil {
		return session{}, fmt.Errorf("patch session: %w", err)
	}

	return sessionOf((*db.SessionGetRow)(row)), nil
}

func (a *api) sessionForget(ctx context.Context, in *SessionPath) error {
	forgotten, err := pg.Value(ctx, a.door.Write, func(tx pgx.Tx) (bool, error) { return a.q.SessionForget(ctx, tx, in.ID.UUID) })
	if err == nil && !forgotten {
		err = problem.ErrNotFound
	}

	return err
}

type sessionListIn struct {
	PageQuery

	Q        string `doc:"Part of the title." maxLength:"200" query:"q"`
	Archived string `doc:"Only those that are, or are not; all if left out." enum:"true,false" query:"archived"`
}

// likeEscaper escapes text for a LIKE pattern.
var likeEscaper = strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`)

func (a *api) sessionList(ctx context.Context, in *sessionListIn) (Page[session], error) {
	var (
		archived *bool
		like     *string
	)
	if in.Archived != "" {
		archived = new(in.Archived == "true")
	}
	if in.Q != "" {
		like = new("%" + likeEscaper.Replace(in.Q) + "%")
	}

	return paged(ctx, a.door.Read, in.PageQuery, func(tx pgx.Tx, after sessionPlace, size int32) ([]*db.SessionPageRow, error) {
		return a.q.SessionPage(ctx, tx, &db.SessionPageParams{
			UserID: userOf(ctx), PageSize: size, Archived: archived, TitleLike: like, BeforePinned: after.Pinned, BeforeAt: after.At, BeforeID: after.ID,
		})
	}, func(r *db.SessionPageRow) session { return sessionOf((*db.SessionGetRow)(r)) }, func(r *db.SessionPageRow) sessionPlace {
		return sessionPlace{new(r.PinnedAt != nil), &r.LastActivityAt, &r.ID}
	})
}

// sessionPlace is a place in the list of sessions: where SessionPage continues.
type sessionPlace struct {
	Pinned *bool      `json:"pinned"`
	At     *time.Time `json:"at"`
	ID     *uuid.UUID `json:"id"`
}

type forkIn struct {
	SessionPath
	IdempotencyHeader

	Body struct {
		Turn int `doc:"Number of the turn after which it begins; 0 for the beginning." json:"turn" minimum:"0"`
	}
}

func (a *api) sessionFork(ctx context.Context, in *forkIn) (*jobs.Fork, error) {
	return pg.Value(ctx, a.writeAll, func(tx pgx.Tx) (*jobs.Fork, error) {
		made, _, err := a.createOnce(ctx, tx, in.IdempotencyKey, []any{"fork-session", in.ID, in.Body.Turn}, func() (made string, err error) {
			err = pg.AsTenant(ctx, tx, userOf(ctx), func(tx pgx.Tx) error {
				fork, err := jobs.ForkSession(ctx, tx, in.ID.UUID, in.Body.Turn)
				made = fork.String()

				return err
			})

			return made, err
		})
		if err != nil {
			return nil, err
		}

		return jobs.DescribeFork(ctx, tx, a.Rows, uuid.MustParse(made))
	})
}

// forkGet describes a fork as its creation did, as of now.
func (a *api) forkGet(ctx context.Context, in *SessionPath) (*jobs.Fork, error) {
	if _, err := a.door.Session(ctx, in.ID.UUID); err != nil {
		return nil, err
	}

	return pg.Value(ctx, a.readAll, func(tx pgx.Tx) (*jobs.Fork, error) { return jobs.DescribeFork(ctx, tx, a.Rows, in.ID.UUID) })
}

// branch is one conversation in a tree of forks.
type branch struct {
	ID           uuid.UUID  `json:"id"`
	Title        string     `json:"title"`
	ParentID     *uuid.UUID `doc:"What it began as; none for the first, and where that was deleted." json:"parent_id,omitempty"`
	ForkedAtTurn *int32     `doc:"The last turn that it has of what it began as." json:"forked_at_turn,omitempty"`
	LastTurn     int32      `json:"last_turn"`
	CreatedAt    time.Time  `json:"created_at"`
}

type branchesOutBody struct{ Page[branch] }

// sessionBranches lists the root of a conversation's forks and everything forked from it, oldest first.
func (a *api) sessionBranches(ctx context.Context, in *SessionPath) (branchesOutBody, error) {
	return inSession(ctx, a, in.ID, func(tx pgx.Tx, row *db.SessionGetRow) (branchesOutBody, error) {
		rows, err := a.q.SessionBranches(ctx, tx, row.ID)
		if err != nil {
			return branchesOutBody{}, fmt.Errorf("list branches: %w", err)
		}

		return branchesOutBody{Page[branch]{Items: mapped(rows, func(r *db.SessionBranchesRow) branch { return branch(*r) })}}, nil
	})
}
