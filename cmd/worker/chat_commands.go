package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5"

	"alfred/cmd/internal/program"
	"alfred/db"
	"alfred/internal/crud"
	"alfred/internal/httpapi/problem"
	"alfred/internal/pg"
)

const chatHelp = `/entities      what the session knows, by tier
/why           what the prompts of the last reply held, and for what reason
/save [REF]    save a draft as it stands, without a model's word; the only one if no REF is given
/help          this
/quit          end; Ctrl-D does too. Ctrl-C cancels a running turn
A number chooses the option of that number. Everything else is a message.`

// command runs a slash command.
func (t *talk) command(ctx context.Context, line string) error {
	name, rest, _ := strings.Cut(line, " ")
	switch name {
	case "/entities":
		return t.entities(ctx)
	case "/why":
		return t.why(ctx)
	case "/save":
		return t.save(ctx, strings.TrimSpace(rest))
	case "/help":
		t.screen.note(chatHelp)
	case "/quit":
		return errQuit
	default:
		t.refuse("invalid_request", "there is no such command: "+name+"; /help lists them")
	}

	return nil
}

// refuse shows what the user can correct.
func (t *talk) refuse(code, message string) {
	t.unwell = true
	t.screen.problem(code, message)
}

// showRefusal shows an error that the user can correct, and returns any other.
func (t *talk) showRefusal(err error) error {
	p := problem.Of(err)
	if p.Status >= http.StatusInternalServerError {
		return err
	}
	t.refuse(p.Code, err.Error())

	return nil
}

const maxEntities = 1000

func (t *talk) entities(ctx context.Context) error {
	refs, err := t.refs(ctx)
	if err == nil {
		t.screen.entities(refs)
	}

	return err
}

func (t *talk) refs(ctx context.Context) ([]*db.EntityListRow, error) {
	refs, err := pg.Value(ctx, t.reader.Read, func(tx pgx.Tx) ([]*db.EntityListRow, error) {
		return db.New().EntityList(ctx, tx, &db.EntityListParams{SessionID: t.session, PageSize: maxEntities})
	})
	if err != nil {
		return nil, fmt.Errorf("list entities: %w", err)
	}

	return refs, nil
}

// why explains the last turn of this chat, or of the resumed session.
func (t *talk) why(ctx context.Context) error {
	held, err := pg.Value(ctx, t.reader.Read, func(tx pgx.Tx) ([]*db.ContextItemSumTurnRow, error) {
		last, err := db.New().TurnLast(ctx, tx, t.session)
		if err != nil {
			return nil, err
		}

		return db.New().ContextItemSumTurn(ctx, tx, &last.ID)
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		t.refuse("not_found", "there has been no turn yet")
	case err != nil:
		return fmt.Errorf("read the context: %w", err)
	default:
		t.screen.why(held)
	}

	return nil
}

// save saves a draft at the user's request.
func (t *talk) save(ctx context.Context, ref string) error {
	if ref == "" {
		drafts, err := t.drafts(ctx)
		switch {
		case err != nil:
			return err
		case len(drafts) == 0:
			t.refuse("invalid_request", "there is nothing to save")

			return nil
		case len(drafts) > 1:
			t.refuse("invalid_request", "there are several drafts, say which: /save REF ("+strings.Join(drafts, ", ")+")")

			return nil
		}
		ref = drafts[0]
	}
	tools, err := t.tools(ctx)
	if err != nil {
		return err
	}
	run := func(ctx context.Context, work func(tx pgx.Tx) error) error { return pg.InTx(ctx, t.pool, work) }
	row, err := pg.Value(ctx, run, func(tx pgx.Tx) (crud.Row, error) {
		return tools.SaveDraft(ctx, tx, crud.User{ID: t.reader.UserID, Session: &t.session}, ref, crud.AnyVersion)
	})
	if refused, ok := errors.AsType[*crud.Error](err); ok {
		t.refuse(string(refused.Code), refused.Error())

		return nil
	}
	if err != nil {
		return t.showRefusal(fmt.Errorf("save %s: %w", ref, err))
	}
	t.screen.saved(ref, row)

	return nil
}

func (t *talk) drafts(ctx context.Context) (drafts []string, err error) {
	refs, err := t.refs(ctx)
	for _, r := range refs {
		if r.State == db.RefStatePending {
			drafts = append(drafts, r.Ref)
		}
	}

	return drafts, err
}

func (t *talk) tools(ctx context.Context) (*crud.Tools, error) {
	bound, err := program.OpenDomain(ctx, t.pool, t.settings.Domain)
	if err != nil {
		return nil, err
	}
	searcher, err := program.OpenSearch(t.settings, t.pool, bound)
	if err != nil {
		return nil, err
	}

	return crud.New(bound, searcher), nil
}
