package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"alfred/cmd/internal/program"
	"alfred/db"
	"alfred/internal/crud"
	"alfred/internal/pg"
	"alfred/registry"
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
		return t.screen.note(chatHelp)
	case "/quit":
		return errQuit
	default:
		return t.mend("invalid_request", fmt.Errorf("%w: %s; /help lists them", errNoCommand, name))
	}
}

var (
	errNoCommand = errors.New("there is no such command")
	errNoReply   = errors.New("there has been no turn yet")
	errNoDraft   = errors.New("there is nothing to save")
	errWhich     = errors.New("there are several drafts, say which: /save REF")
)

// mend shows an error that the user can correct.
func (t *talk) mend(code string, err error) error {
	t.unwell = true

	return t.screen.problem(code, err)
}

const maxEntities = 1000

func (t *talk) entities(ctx context.Context) error {
	refs, err := t.refs(ctx)
	if err != nil {
		return err
	}

	return t.screen.entities(refs)
}

func (t *talk) refs(ctx context.Context) (refs []*db.EntityListRow, err error) {
	err = t.read(ctx, func(tx pgx.Tx) error {
		refs, err = db.New().EntityList(ctx, tx, &db.EntityListParams{SessionID: t.session, PageSize: maxEntities})

		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list entities: %w", err)
	}

	return refs, nil
}

// why explains the last turn of this chat, or of the resumed session.
func (t *talk) why(ctx context.Context) error {
	var held []*db.ContextItemSumTurnRow
	err := t.read(ctx, func(tx pgx.Tx) error {
		last, err := db.New().TurnLast(ctx, tx, t.session)
		if err == nil {
			held, err = db.New().ContextItemSumTurn(ctx, tx, &last.ID)
		}

		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return t.mend("not_found", errNoReply)
	}
	if err != nil {
		return fmt.Errorf("read the context: %w", err)
	}

	return t.screen.why(held)
}

// save saves a draft at the user's request.
func (t *talk) save(ctx context.Context, ref string) error {
	if ref == "" {
		only, err := t.onlyDraft(ctx)
		if errors.Is(err, errNoDraft) || errors.Is(err, errWhich) {
			return t.mend("invalid_request", err)
		}
		if err != nil {
			return err
		}
		ref = only
	}
	tools, err := t.tools(ctx)
	if err != nil {
		return err
	}
	var row crud.Row
	err = pg.InTx(ctx, t.pool, func(tx pgx.Tx) error {
		row, err = tools.SaveDraft(ctx, tx, crud.User{ID: t.reader.UserID, Session: &t.session}, ref, crud.AnyVersion)

		return err
	})
	if refused, ok := errors.AsType[*crud.Error](err); ok {
		return t.mend(string(refused.Code), refused)
	}
	if unknown, ok := errors.AsType[*registry.RefError](err); ok {
		return t.mend("not_found", unknown)
	}
	if err != nil {
		return fmt.Errorf("save %s: %w", ref, err)
	}

	return t.screen.saved(ref, row)
}

func (t *talk) onlyDraft(ctx context.Context) (string, error) {
	refs, err := t.refs(ctx)
	if err != nil {
		return "", err
	}
	var drafts []string
	for _, r := range refs {
		if r.State == db.RefStatePending {
			drafts = append(drafts, r.Ref)
		}
	}
	switch len(drafts) {
	case 0:
		return "", errNoDraft
	case 1:
		return drafts[0], nil
	default:
		return "", fmt.Errorf("%w (%s)", errWhich, strings.Join(drafts, ", "))
	}
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
