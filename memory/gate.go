package memory

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
)

// ErrLeak says that a text had an identifier in it. The text returned beside it
// is clean.
var ErrLeak = errors.New("identifier in a text for a model or a user")

// Gate finds identifiers in texts of one session: whatever is shaped like a
// UUID, and the session's own text keys. Keys that are numbers cannot be told
// from other numbers in a text; they are kept out column by column.
type Gate struct {
	// Strict makes a leak an error. Tests are strict; a running program rather
	// answers with the identifier taken out.
	Strict bool

	keys   *strings.Replacer
	known  []string
	labels map[string]string
	plural func(string) string
}

// minKey is from how many characters on a text key is taken for an identifier
// and not for a word.
const minKey = 8

// Gate returns the gate of a session as it stands.
func (m *Memory) Gate(ctx context.Context, tx pgx.Tx, sessionID uuid.UUID) (*Gate, error) {
	refs, err := db.New().EntityRefListInView(ctx, tx, &db.EntityRefListInViewParams{SessionID: sessionID})
	if err != nil {
		return nil, fmt.Errorf("load entities: %w", err)
	}
	t := &turn{memory: m}
	g := &Gate{labels: map[string]string{}, plural: t.plural}
	var pairs []string
	for _, r := range refs {
		g.labels[r.Ref] = inline(r.Label, maxLabel)
		if r.EntityID != nil && isTextKey(*r.EntityID) {
			g.known = append(g.known, *r.EntityID)
			pairs = append(pairs, *r.EntityID, redacted)
		}
	}
	g.keys = strings.NewReplacer(pairs...)

	return g, nil
}

func isTextKey(key string) bool {
	return len(key) >= minKey && strings.ContainsAny(key, "0123456789") && strings.ContainsAny(key, "-_:/.") && !idPattern.MatchString(key)
}

// Check takes identifiers out of a text and says how many there were. In strict
// mode finding one is ErrLeak.
func (g *Gate) Check(text string) (string, int, error) {
	clean, found := Redact(text)
	for _, key := range g.known {
		found += strings.Count(clean, key)
	}
	clean = g.keys.Replace(clean)
	if found > 0 && g.Strict {
		return clean, found, fmt.Errorf("%w: %d", ErrLeak, found)
	}

	return clean, found, nil
}

// Reply makes a text fit for the user: no identifiers, and labels in place of
// refs. It returns how many identifiers it took out.
func (g *Gate) Reply(text string) (string, int, error) {
	clean, found, err := g.Check(text)

	return unref(clean, g.labels, g.plural), found, err
}
