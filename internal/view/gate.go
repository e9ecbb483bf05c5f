package view

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"

	"alfred/db"
	"alfred/internal/clean"
	"alfred/internal/domain"
)

// ErrLeak says that a text contained an identifier. The text returned with it is clean.
var ErrLeak = errors.New("identifier in a text for a model or a user")

// Gate finds identifiers in one session's texts: anything shaped like a UUID, and the session's own text keys. Numeric
// keys cannot be told from other numbers in a text; they are kept out column by column.
type Gate struct {
	// Strict makes a leak an error. Tests are strict; in production the identifier is removed and the answer goes out.
	Strict bool
	// Own are texts shaped like refs that occur in the user's rows, in lower case: a reply may quote them.
	Own map[string]bool

	domain  *domain.Domain
	conn    db.DBTX
	session uuid.UUID
	keyed   []string // entity types whose keys are texts
}

// NewGate returns the gate of a session. It queries conn for words that may be keys or refs; a text without such words
// costs nothing.
func NewGate(d *domain.Domain, conn db.DBTX, sessionID uuid.UUID) *Gate {
	g := &Gate{domain: d, conn: conn, session: sessionID}
	for _, e := range d.Entities {
		if e.Key != nil && !e.Speakable && !slices.Contains([]string{"uuid", "bigint", "integer", "smallint"}, e.Key.Type) {
			g.keyed = append(g.keyed, e.Type)
		}
	}

	return g
}

// minKey is how many bytes a text key needs to be taken for an identifier and not for a word.
const minKey = 8

var keyPattern = regexp.MustCompile(`[\pL\pN][\pL\pN\-_:/.]{6,}[\pL\pN]`)

func isTextKey(key string) bool {
	return len(key) >= minKey && strings.ContainsAny(key, "0123456789") && strings.ContainsAny(key, "-_:/.")
}

// Check removes identifiers from a text and returns how many there were. In strict mode, finding one is ErrLeak.
func (g *Gate) Check(ctx context.Context, text string) (string, int, error) {
	text, found := clean.Redact(text)
	keys, err := g.keys(ctx, text)
	if err != nil {
		return "", found, err
	}
	if len(keys) > 0 {
		text = keyPattern.ReplaceAllStringFunc(text, func(word string) string {
			if !keys[word] {
				return word
			}
			found++

			return clean.Redacted
		})
	}
	if found > 0 && g.Strict {
		return text, found, fmt.Errorf("%w: %d", ErrLeak, found)
	}

	return text, found, nil
}

// keys returns the words of a text that are keys of the session's rows.
func (g *Gate) keys(ctx context.Context, text string) (map[string]bool, error) {
	keys := map[string]bool{}
	if len(g.keyed) == 0 {
		return keys, nil
	}
	words := slices.DeleteFunc(keyPattern.FindAllString(text, -1), func(word string) bool { return !isTextKey(word) })
	if len(words) == 0 {
		return keys, nil
	}
	rows, err := db.New().EntityRefListWords(ctx, g.conn, &db.EntityRefListWordsParams{SessionID: g.session, EntityTypes: g.keyed, EntityIds: words})
	if err != nil {
		return nil, fmt.Errorf("look for keys in a text: %w", err)
	}
	for _, row := range rows {
		keys[*row.EntityID] = true
	}

	return keys, nil
}

// Reply makes a text fit for the user: it removes identifiers and replaces refs by labels. It returns how many
// identifiers it removed.
func (g *Gate) Reply(ctx context.Context, text string) (string, int, error) {
	text, found, err := g.Check(ctx, text)
	if err != nil && !errors.Is(err, ErrLeak) {
		return "", found, err
	}
	v, names := &View{Domain: g.domain}, map[string]bool{}
	v.collectNames(strings.ToLower(text), names)
	if len(names) == 0 {
		return text, found, err
	}
	rows, lookUpErr := db.New().EntityRefListWords(ctx, g.conn, &db.EntityRefListWordsParams{SessionID: g.session, Refs: slices.Sorted(maps.Keys(names))})
	if lookUpErr != nil {
		return "", found, fmt.Errorf("look for refs in a text: %w", lookUpErr)
	}
	labels := map[string]string{}
	for _, row := range rows {
		labels[row.Ref] = clean.Inline(row.Label, MaxLabel)
		if row.LabelIsPlaceholder {
			labels[row.Ref] = v.Singular(row.EntityType)
		}
	}

	return v.Names(labels, g.Own).Unref(text), found, err
}
