package tour

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/client"
	"alfred/db"
	"alfred/internal/auth"
	"alfred/internal/pg"
)

// ErrFact says that the database lacks what a message must leave.
var ErrFact = errors.New("a fact does not hold")

// Tour plays the conversation.
type Tour struct {
	API  string // base URL
	Pool *pgxpool.Pool
	Out  io.Writer

	client  *client.ClientWithResponses
	user    uuid.UUID
	session string
	key     string
}

// Where is the address of the conversation's page, and the key that the page asks for.
func (t *Tour) Where() (address, key string) {
	return t.API + "/#" + t.session, t.key
}

// Play creates a user with the demo's rows, holds the conversation as that user and checks every fact. It continues
// after a fact that does not hold, and returns all of them.
func (t *Tour) Play(ctx context.Context) error {
	if err := t.signUp(ctx); err != nil {
		return err
	}
	title := "The README's conversation"
	session, err := t.client.CreateSessionWithResponse(ctx, nil, client.NewSession{Title: &title})
	if err != nil {
		return fmt.Errorf("start a conversation: %w", err)
	}
	t.session = session.JSON201.ID
	var failures []error
	for i, turn := range Conversation() {
		if err := t.play(ctx, i+1, turn); err != nil {
			failures = append(failures, err)
		}
	}
	t.printf("\nAfterwards\n")
	failures = append(failures, t.check(ctx, FinalFacts()))

	return errors.Join(failures...)
}

// Session is the id of the conversation.
func (t *Tour) Session() string { return t.session }

// signUp creates a new user, so that the tour can be repeated on any database and leaves the user demo alone.
func (t *Tour) signUp(ctx context.Context) error {
	key, hash := auth.NewKey()
	api, err := client.New(t.API, key)
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	t.client, t.key = api, key

	return pg.InTx(ctx, t.Pool, func(tx pgx.Tx) error {
		var err error
		if t.user, err = db.New().UserEnsure(ctx, tx, "tour-"+uuid.NewString()); err != nil {
			return fmt.Errorf("make user: %w", err)
		}
		if _, err = tx.Exec(ctx, "SELECT kitchen.seed_demo($1)", t.user); err != nil {
			return fmt.Errorf("copy the demo's rows: %w", err)
		}
		_, err = db.New().ApiKeyInsert(ctx, tx, &db.ApiKeyInsertParams{UserID: t.user, Name: "tour", KeyHash: hash, Scopes: []string{"chat"}})

		return err
	})
}

func (t *Tour) play(ctx context.Context, number int, turn Turn) error {
	t.printf("\n%d. You: %s\n", number, turn.Say)
	made, err := t.client.EnqueueTurnWithResponse(ctx, t.session, nil, client.NewTurn{Message: turn.Say})
	if err != nil {
		return fmt.Errorf("send message %d: %w", number, err)
	}
	start, wait, until := time.Now(), "60s", client.GetTurnParamsUntilSummarized
	answer, err := t.client.GetTurnWithResponse(ctx, made.JSON202.ID, &client.GetTurnParams{Wait: &wait, Until: &until})
	if err != nil {
		return fmt.Errorf("wait for reply %d: %w", number, err)
	}
	got := answer.JSON200
	if got.Reply == nil {
		return fmt.Errorf("turn %d %s: %w: %+v", number, got.Status, ErrFact, got.Error)
	}
	t.printf("   Alfred: %s\n", strings.ReplaceAll(*got.Reply, "\n", "\n           "))
	t.printf("   (%d ms)\n", time.Since(start).Milliseconds())

	return errors.Join(t.printRows(ctx, got.ID), t.check(ctx, turn.Facts))
}

// printRows prints what the turn left, like psql.
func (t *Tour) printRows(ctx context.Context, turnID string) error {
	lines, err := pg.Collect(ctx, t.Pool, pgx.RowTo[string], "read the timeline", `SELECT seq || '|' || kind || '|' || left(regexp_replace(text, '\s+', ' ', 'g'), 90)
		FROM v_timeline WHERE turn_id = $1 AND kind NOT IN ('message', 'reply') ORDER BY v_timeline.seq`, turnID)
	if err != nil {
		return err
	}
	const shown = 12
	for i, line := range lines {
		if i == shown {
			t.printf("   | ... and %d more\n", len(lines)-shown)

			break
		}
		parts := strings.SplitN(line, "|", 3)
		t.printf("   | %2s %-8s %s\n", parts[0], parts[1], parts[2])
	}

	return nil
}

func (t *Tour) check(ctx context.Context, facts []Fact) error {
	var failures []error
	for _, f := range facts {
		var got *string
		err := t.Pool.QueryRow(ctx, "WITH ids AS (SELECT $1::uuid, $2::uuid) SELECT (fact.x)::text FROM ("+f.SQL+") AS fact(x)", t.session, t.user).Scan(&got)
		switch {
		case err != nil && !errors.Is(err, pgx.ErrNoRows):
			err = fmt.Errorf("%s: %w", f.About, err)
		case got == nil:
			err = fmt.Errorf("%w: %s: nothing, want %q", ErrFact, f.About, f.Want)
		case *got != f.Want:
			err = fmt.Errorf("%w: %s: %q, want %q", ErrFact, f.About, *got, f.Want)
		default:
			t.printf("   ok %s: %s\n", f.About, f.Want)

			continue
		}
		t.printf("   NOT %v\n", err)
		failures = append(failures, err)
	}

	return errors.Join(failures...)
}

func (t *Tour) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(t.Out, format, args...) // a closed terminal needs no tour
}

// replySays is a fact's SQL: whether a turn's reply contains a text.
func replySays(number int, text string) string {
	return `SELECT (reply ILIKE '%` + text + `%')::text FROM turns WHERE session_id = $1 AND number = ` + strconv.Itoa(number)
}
