package memory

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"alfred/domain"
	"alfred/pg"
)

// userTexts is what the domain's queries say of the user and of what exists.
type userTexts struct {
	profile, snapshot []string
	guidance          map[string]string // by subdomain
	order             []string          // of guidance
	failed            bool
}

// errRead ends the savepoint in which the domain's queries ran: rolling it back
// is what undoes the time zone that they ran with.
var errRead = errors.New("read")

// loadUser runs the domain's own queries as the user, in one round trip, with
// the user's time zone so that current_date is the user's day. Queries that fail
// leave their sections saying so: a turn need not die of a snapshot.
func (t *turn) loadUser(ctx context.Context, tx pgx.Tx) error {
	texts := userTexts{guidance: map[string]string{}}
	err := pg.AsTenant(ctx, tx, t.userID, func(tx pgx.Tx) error {
		if err := t.readUser(ctx, tx, &texts); err != nil {
			return err
		}

		return errRead
	})
	if ctx.Err() != nil {
		return fmt.Errorf("load profile and snapshot: %w", ctx.Err())
	}
	if !errors.Is(err, errRead) {
		texts = userTexts{failed: true}
	}
	t.profile = texts

	return nil
}

func (t *turn) readUser(ctx context.Context, tx pgx.Tx, texts *userTexts) error {
	d := t.memory.domain
	batch := &pgx.Batch{}
	batch.Queue("SELECT set_config('TimeZone', $1, true)", t.location.String())
	for _, query := range d.Profile {
		batch.Queue(query.SQL)
	}
	for _, query := range d.Snapshot {
		batch.Queue(query.SQL)
	}
	if d.Guidance != "" {
		batch.Queue(d.Guidance)
	}
	results := tx.SendBatch(ctx, batch)
	err := readTexts(results, d, texts)

	return errors.Join(err, results.Close())
}

func readTexts(results pgx.BatchResults, d *domain.Domain, texts *userTexts) error {
	if _, err := results.Exec(); err != nil {
		return fmt.Errorf("set time zone: %w", err)
	}
	var err error
	if texts.profile, err = readLines(results, d.Profile); err != nil {
		return err
	}
	if texts.snapshot, err = readLines(results, d.Snapshot); err != nil {
		return err
	}
	if d.Guidance == "" {
		return nil
	}
	rows, err := results.Query()
	if err != nil {
		return fmt.Errorf("query guidance: %w", err)
	}
	var subdomain, wish string
	_, err = pgx.ForEachRow(rows, []any{&subdomain, &wish}, func() error {
		if _, seen := texts.guidance[subdomain]; !seen {
			texts.order = append(texts.order, subdomain)
		}
		texts.guidance[subdomain] = wish

		return nil
	})

	return err
}

// readLines makes one line of each query: its label and its rows.
func readLines(results pgx.BatchResults, queries []domain.Query) ([]string, error) {
	var lines []string
	for _, query := range queries {
		rows, err := results.Query()
		if err != nil {
			return nil, fmt.Errorf("query %s: %w", query.Label, err)
		}
		values, err := pgx.CollectRows(rows, pgx.RowTo[*string])
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", query.Label, err)
		}
		var words []string
		for _, value := range values {
			if clean := inline(text(value), 0); clean != "" {
				words = append(words, clean)
			}
		}
		if len(words) > 0 {
			lines = append(lines, "**"+query.Label+":** "+strings.Join(words, "; "))
		}
	}

	return lines, nil
}

// unavailable stands in a section whose query failed, so that its absence is not
// taken for emptiness.
const unavailable = "(could not be read just now)"

func (t *turn) userProfile() *section {
	return t.factLines("## User Profile", "profile", "", t.profile.profile, t.memory.config.Budget.Profile)
}

// snapshot counts what exists. A count is no ref.
func (t *turn) snapshot() *section {
	return t.factLines("## Snapshot", "snapshot", "- ", t.profile.snapshot, t.memory.config.Budget.Snapshot)
}

func (t *turn) factLines(heading, reason, bullet string, lines []string, budget int) *section {
	s := newSection(heading)
	if t.profile.failed {
		s.line(unavailable)

		return s
	}
	shown := 0
	for _, line := range lines {
		line = clip(line, budget*runesPerToken)
		budget -= tokens(line)
		if budget < 0 {
			break
		}
		s.line(bullet, line)
		s.because(reason, "", 0, line)
		shown++
	}
	s.shown(shown, len(lines), "")

	return s
}

// preferences is the user's own wishes for each subdomain, or for one alone.
func (t *turn) preferences(only string) *section {
	s := newSection("## User Preferences")
	for _, name := range t.profile.order {
		if only != "" && name != only {
			continue
		}
		line := "**" + inline(name, 0) + ":** " + inline(t.profile.guidance[name], t.memory.config.Budget.Guidance)
		s.line(line)
		s.because("profile", "", 0, line)
	}

	return s
}
