package directory

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

const (
	// lifetime is how long an answer is used without asking again. A key that the directory has forgotten finds its database for as
	// long, and is refused there.
	lifetime = 30 * time.Second
	// patience is how long to wait for the directory. When it is away, it is away for everybody: it is asked again only after a pause.
	patience   = 2 * time.Second
	retryPause = 2 * time.Second
	// room bounds what is remembered; what has not been asked for longest goes first.
	room = 200_000
)

// Who is asked for: the owner of a key, or a user by name.
type Who struct {
	KeyHash []byte
	Name    string
}

func (w Who) topic() string { return string(w.KeyHash) + "\x00" + w.Name }

// Map caches the directory's answers, and keeps using them while the directory does not answer.
type Map struct {
	directory *Directory
	logger    *slog.Logger
	asking    singleflight.Group

	mu    sync.Mutex
	known map[string]*entry
	since map[string]*entry // who has been asked for since known was last thinned out
	down  time.Time         // when the directory last did not answer
}

type entry struct {
	user User
	at   time.Time
}

// NewMap returns an empty one.
func NewMap(directory *Directory, logger *slog.Logger) *Map {
	return &Map{directory: directory, logger: logger, known: map[string]*entry{}, since: map[string]*entry{}}
}

// Find says where somebody is, or was not long ago. A name that nobody has is a new
// user, who gets a place. Errors: [ErrUnknown] for a key.
func (m *Map) Find(ctx context.Context, who Who) (User, error) {
	m.mu.Lock()
	e := m.known[who.topic()]
	if e != nil {
		m.since[who.topic()] = e
	}
	away := time.Since(m.down) < retryPause
	m.mu.Unlock()
	if e != nil && (away || time.Since(e.at) < lifetime) {
		return e.user, nil
	}
	user, err := m.Ask(ctx, who)
	if err != nil && e != nil && !errors.Is(err, ErrUnknown) {
		return e.user, nil // known users go on
	}

	return user, err
}

// Look asks the directory itself, unless it did not answer a moment ago: then it is Find.
func (m *Map) Look(ctx context.Context, who Who) (User, error) {
	m.mu.Lock()
	away := time.Since(m.down) < retryPause
	m.mu.Unlock()
	if away {
		return m.Find(ctx, who)
	}

	return m.Ask(ctx, who)
}

// Ask asks the directory itself. Those who ask for the same at once share the answer.
func (m *Map) Ask(ctx context.Context, who Who) (User, error) {
	// The one who asks may go; the others wait for the same answer.
	answer, err, _ := m.asking.Do(who.topic(), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()

		return m.ask(ctx, who)
	})
	m.remember(ctx, who.topic(), answer, err)
	if err != nil {
		return User{}, fmt.Errorf("look for the user's database: %w", err)
	}
	user, _ := answer.(User)

	return user, nil
}

func (m *Map) ask(ctx context.Context, who Who) (User, error) {
	if who.KeyHash != nil {
		return m.directory.ByKey(ctx, who.KeyHash)
	}

	return m.directory.Place(ctx, who.Name)
}

func (m *Map) remember(ctx context.Context, topic string, answer any, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case err == nil:
		if len(m.known) >= room {
			m.known, m.since = m.since, map[string]*entry{}
		}
		user, _ := answer.(User)
		e := &entry{user, time.Now()}
		m.known[topic], m.since[topic], m.down = e, e, time.Time{}
	case errors.Is(err, ErrUnknown):
		delete(m.known, topic)
		delete(m.since, topic)
	default:
		if time.Since(m.down) > lifetime {
			m.logger.WarnContext(ctx, "the directory does not answer; known users go on", slog.Any("error", err))
		}
		m.down = time.Now()
	}
}
