package eval

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred/internal/domain"
	"alfred/internal/pg"
	"alfred/jobs"
)

// ErrNoTurns says that a session does not exist or contains no turns to make a case of.
var ErrNoTurns = errors.New("there is no such session, or nothing was said in it")

// originalTurn is a turn of a real conversation.
type originalTurn struct {
	ID        uuid.UUID
	Number    int
	Message   string
	Mode      string
	Status    string
	CreatedAt time.Time
	Changes   []byte // made in the page
	Mentions  []byte
	Asks      string
	Types     []string // types of the rows it wrote
	Called    bool     // it ran one of the owner's operations
	StartedAt time.Time
	Undoes    *uuid.UUID // the turn that its undo button undid
}

// conversation is a real conversation as a case.
type conversation struct {
	suite *Suite // of one case
	turns []originalTurn
	notes []string // what could not be restored
}

// turnsSQL finds a session's turns. A fork only has copies of its parent's last turns, so its parent's own come first.
const turnsSQL = `
WITH RECURSIVE line AS (
    SELECT s.id, s.parent_id, s.forked_at_turn, NULL::integer AS last FROM sessions AS s WHERE s.id = $1
    UNION ALL
    SELECT p.id, p.parent_id, p.forked_at_turn, least(l.last, l.forked_at_turn) FROM line AS l JOIN sessions AS p ON p.id = l.parent_id
)
SELECT t.id, t.number, t.message, t.mode, t.status::text, t.created_at, t.ui_changes, t.mentioned_entities,
       coalesce((SELECT q.kind FROM questions AS q WHERE q.turn_id = t.id ORDER BY q.id DESC LIMIT 1), ''),
       ARRAY(SELECT DISTINCT c.entity_type FROM row_changes AS c WHERE c.turn_id = t.id AND c.action <> 'called' ORDER BY 1),
       EXISTS (SELECT FROM row_changes AS c WHERE c.turn_id = t.id AND c.action = 'called'), coalesce(t.started_at, t.created_at),
       CASE WHEN NOT EXISTS (SELECT FROM llm_calls AS c WHERE c.turn_id = t.id) THEN t.undoes END
FROM line AS l JOIN turns AS t ON t.session_id = l.id
WHERE t.number <= coalesce(l.last, t.number) AND (l.parent_id IS NULL OR t.number > l.forked_at_turn) ORDER BY t.number`

// Source is the database of a conversation to turn into a case, or to replay.
type Source struct {
	Pool   *pgxpool.Pool
	Bound  *domain.Domain
	Domain string // name or path
	Viewed bool   // the tables are accessed through views
	// Schema returns the SQL that creates the domain's tables as a snapshot has them, for a replay; nil for a built-in domain.
	Schema func(ctx context.Context, snapshot string) (string, error)
}

// FromSession makes a suite of one case from a conversation: the user's rows as they were before its first message, the
// messages, and what happened as expectations, for somebody to correct. The rows are real user data: treat the case
// accordingly.
func FromSession(ctx context.Context, src *Source, session uuid.UUID) (*Suite, []string, error) {
	made, err := src.read(ctx, session, false)
	if err != nil {
		return nil, nil, err
	}

	return made.suite, made.notes, nil
}

// read collects a conversation. It includes all shared rows if whole, else those that the user's rows reference.
func (src *Source) read(ctx context.Context, session uuid.UUID, whole bool) (made *conversation, err error) {
	err = pg.InReadTx(ctx, src.Pool, func(tx pgx.Tx) (err error) {
		made, err = src.readIn(ctx, tx, session, whole)

		return err
	})

	return made, err
}

func (src *Source) readIn(ctx context.Context, tx pgx.Tx, session uuid.UUID, whole bool) (*conversation, error) {
	turns, err := pg.Collect(ctx, tx, pgx.RowToStructByPos[originalTurn], "read the conversation", turnsSQL, session)
	if err != nil {
		return nil, err
	}
	if len(turns) == 0 {
		return nil, ErrNoTurns
	}
	var (
		user  uuid.UUID
		title string
	)
	if err := tx.QueryRow(ctx, `SELECT user_id, title FROM sessions WHERE id = $1`, session).Scan(&user, &title); err != nil {
		return nil, fmt.Errorf("read the conversation: %w", err)
	}
	suite := &Suite{Suite: src.Bound.Name, Domain: filepath.Base(src.Domain)}
	if suite.schema, err = src.dump(ctx, tx, whole); err != nil {
		return nil, err
	}
	c := Case{Case: slug(cmp.Or(title, turns[0].Message)), About: "Made from a conversation. What is expected is what happened: correct what went wrong."}
	p := &past{tx: tx, bound: src.Bound, viewed: src.Viewed, user: user, whole: whole}
	if first := turns[0].Number; first > 1 {
		p.notes = append(p.notes, fmt.Sprintf("it begins with turn %d: the conversation that it was forked from is forgotten", first))
	}
	if c.Seed, err = p.seed(ctx, turns[0].CreatedAt); err != nil {
		return nil, err
	}
	if c.Turns, err = messagesOf(turns, src.Bound); err != nil {
		return nil, err
	}
	suite.Cases = []Case{c}

	return &conversation{suite, turns, p.notes}, nil
}

// dump returns the SQL of the tables, for a replay, as the transaction that reads the rows sees them.
func (src *Source) dump(ctx context.Context, tx pgx.Tx, whole bool) (sql string, err error) {
	if !whole || src.Schema == nil {
		return "", nil
	}
	// The transaction sits idle while pg_dump runs.
	if _, err := tx.Exec(ctx, `SET LOCAL idle_in_transaction_session_timeout = 0`); err != nil {
		return "", fmt.Errorf("take a snapshot: %w", err)
	}
	var snapshot string
	if err := tx.QueryRow(ctx, `SELECT pg_export_snapshot()`).Scan(&snapshot); err != nil {
		return "", fmt.Errorf("take a snapshot: %w", err)
	}

	return src.Schema(ctx, snapshot)
}

// seed is SQL that recreates the rows, with the shared ones they reference.
func (p *past) seed(ctx context.Context, moment time.Time) (string, error) {
	tables, err := p.tablesAt(ctx, moment)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if p.viewed {
		if err := p.writeAccount(ctx, &b); err != nil {
			return "", err
		}
	} else if p.bound.Name == kitchen {
		b.WriteString("DELETE FROM alfred.users WHERE name = 'demo';\n")
	}
	for _, t := range slices.Backward(tables) { // referenced rows first
		if t.entity.Reference && !p.whole {
			t.keepReferenced(tables)
		}
	}
	for _, t := range tables {
		sql, err := t.insertSQL()
		if err != nil {
			return "", err
		}
		b.WriteString(sql)
	}

	return b.String(), nil
}

// kitchen is a domain with rows of a demo user, whose names for shared rows would conflict.
const kitchen = "kitchen"

// writeAccount maps the user in alfred.user_id to the account that is the conversation's user's, however the views know it. Where
// they know no accounts, or none of this user, there is nothing to map.
func (p *past) writeAccount(ctx context.Context, b *strings.Builder) error {
	name := pgx.Identifier{p.bound.Schema, "alfred_accounts"}.Sanitize()
	var mapped bool
	var account *string
	err := pg.AsTenant(ctx, p.tx, p.user, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL`, name).Scan(&mapped)
		if mapped && err == nil {
			err = tx.QueryRow(ctx, "SELECT "+pgx.Identifier{p.bound.Schema, "account"}.Sanitize()+"()::text").Scan(&account)
		}

		return err
	})
	if err != nil {
		return fmt.Errorf("find the user's account: %w", err)
	}
	if account != nil {
		fmt.Fprintf(b, "INSERT INTO %s (alfred_user, account) VALUES (current_setting('alfred.user_id')::uuid, %s);\n", name, pg.Literal(*account))
	}

	return nil
}

// messagesOf are the messages of a conversation.
func messagesOf(turns []originalTurn, bound *domain.Domain) ([]Turn, error) {
	all := make([]Turn, len(turns))
	for i := range turns {
		var err error
		if all[i], err = turns[i].turn(bound); err != nil {
			return nil, err
		}
		if undone := turns[i].Undoes; undone != nil {
			all[i].Undo = slices.IndexFunc(turns[:i], func(h originalTurn) bool { return h.ID == *undone }) + 1
		}
	}

	return all, nil
}

// turn returns what was said, with what happened as expectations.
func (h *originalTurn) turn(bound *domain.Domain) (Turn, error) {
	turn := Turn{Say: h.Message, Mode: h.Mode, At: h.StartedAt.UTC()}
	var (
		changes  []Change
		mentions []jobs.MentionedEntity
	)
	if err := errors.Join(json.Unmarshal(h.Changes, &changes), json.Unmarshal(h.Mentions, &mentions)); err != nil {
		return turn, fmt.Errorf("turn %d: read what came with the message: %w", h.Number, err)
	}
	turn.UIChanges = changes
	for _, m := range mentions {
		turn.Mentions = append(turn.Mentions, Mention{EntityType: m.RefType, EntityID: m.UUID, Label: m.Label})
	}
	if h.Status == "queued" || h.Status == "running" {
		return turn, nil // what is to be expected of it is not known
	}
	asks := cmp.Or(h.Asks, "none")
	turn.Expect.Asks = &asks
	if h.Status != "succeeded" {
		turn.Expect.Status = h.Status
	}
	if !h.Called {
		names := []string{}
		for _, kind := range h.Types {
			if e := bound.ByType(kind); e != nil {
				names = append(names, e.Stored[len(e.Stored)-1]) // as the check names it, also where a view has another name
			}
		}
		slices.Sort(names)
		turn.Expect.Writes = new(slices.Compact(names))
	}

	return turn, nil
}

var notInSlugs = regexp.MustCompile(`[^\pL\pN]+`)

// slug is a case's name, of the letters and digits of a text in any script.
func slug(text string) string {
	return cmp.Or(strings.Trim(notInSlugs.ReplaceAllString(strings.ToLower(text), "-"), "-"), "conversation")
}

// YAML writes a suite in the form that [Parse] reads.
func (s *Suite) YAML(out io.Writer) error {
	if err := yaml.NewEncoder(out, yaml.UseLiteralStyleIfMultiline(true), yaml.IndentSequence(true)).Encode(s); err != nil {
		return fmt.Errorf("write the suite: %w", err)
	}

	return nil
}
