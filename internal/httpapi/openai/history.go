package openai

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/db"
	"alfred/internal/auth"
	"alfred/internal/httpapi/door"
	"alfred/internal/pg"
	"alfred/jobs"
)

// Clients that were made for OpenAI name no conversation: they resend what was
// said with every message. So each turn keeps a hash of what was sent with it,
// and the message after it is known by resending exactly that, and the answer.

// maxHistories is how many conversations that began alike are compared by their last answers, the newest first.
const maxHistories = 20

// history is what a client sent with a message.
type history struct {
	whole  []byte // hash of all that was said by either, up to the message
	before []byte // the whole of the message before it; nil for a first one
	answer string // what the client has of the answer to that
}

// history hashes what user and assistant said, without the system messages: some
// clients put the time of day there.
func (c *request) history() history {
	var said []door.Message
	for _, message := range c.Messages {
		if message.Role == door.RoleUser || message.Role == door.RoleAssistant {
			said = append(said, message)
		}
	}
	said = withoutAnswer(said)
	h := history{whole: hashOf(said)}
	said = said[:max(0, len(said)-1)]
	if before := withoutAnswer(said); len(before) > 0 {
		var answers []string
		for _, message := range said[len(before):] {
			answers = append(answers, textOf(&message))
		}
		h.before, h.answer = hashOf(before), strings.Join(answers, "\n")
	}

	return h
}

// withoutAnswer are the messages up to the user's last one.
func withoutAnswer(said []door.Message) []door.Message {
	for len(said) > 0 && said[len(said)-1].Role != door.RoleUser {
		said = said[:len(said)-1]
	}

	return said
}

// textOf is a message's text in whatever form it was sent.
func textOf(m *door.Message) string {
	text, err := m.Text()
	if err != nil {
		text = string(m.Content)
	}

	return strings.TrimSpace(text)
}

func hashOf(said []door.Message) []byte {
	sum := sha256.New()
	for i := range said {
		for _, part := range []string{said[i].Role, textOf(&said[i])} {
			sum.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
			sum.Write([]byte(part))
		}
	}

	return sum.Sum(nil)
}

// sentTurn is a message with what its client sent beside it.
type sentTurn struct {
	Session uuid.UUID // the nil id where the request names none
	Ensure  bool      // the session may not exist yet
	Title   string    // of one that does not
	Message string
	Key     string
	History history
	Again   bool // the client says that it sent this before
}

// enqueueSent enqueues a message in the session that it names, else in the one
// that its history belongs to, else in a new one.
func (s *server) enqueueSent(ctx context.Context, sent *sentTurn) (*jobs.Enqueued, uuid.UUID, error) {
	made, session, err := s.sentBefore(ctx, sent)
	if made != nil || err != nil {
		return made, session, err
	}
	from := 0
	if session = sent.Session; session == uuid.Nil {
		if session, from, err = s.sessionOfHistory(ctx, &sent.History); err != nil {
			return nil, uuid.Nil, err
		}
	}
	err = pg.InTx(ctx, s.Pool, func(tx pgx.Tx) error {
		err := pg.AsTenant(ctx, tx, auth.CallerOf(ctx).User, func(tx pgx.Tx) (err error) {
			if session, err = s.prepareSession(ctx, tx, sent, session, from); err != nil {
				return err
			}
			made, err = jobs.EnqueueTurn(ctx, tx, jobs.EnqueueParams{SessionID: session, Message: sent.Message, IdempotencyKey: sent.Key, Limits: s.Limits})

			return err
		})
		if err != nil || made.Existing {
			return err
		}

		return db.New().TurnHistorySet(ctx, tx, &db.TurnHistorySetParams{ID: made.TurnID, UserID: auth.CallerOf(ctx).User, HistoryHash: sent.History.whole})
	})

	return made, session, err
}

// prepareSession makes the session that a message needs. If its conversation has continued since, because somebody edited a message or
// asked for another answer, that is a fork after the turn from.
func (s *server) prepareSession(ctx context.Context, tx pgx.Tx, sent *sentTurn, session uuid.UUID, from int) (uuid.UUID, error) {
	switch {
	case session == uuid.Nil, sent.Ensure:
		return s.MakeSession(ctx, tx, pg.OrNil(session), sent.Title)
	case from > 0:
		return jobs.ForkSession(ctx, tx, session, from)
	default:
		return session, nil
	}
}

// sentBefore is the turn that an earlier sending of this request created, or nil.
func (s *server) sentBefore(ctx context.Context, sent *sentTurn) (*jobs.Enqueued, uuid.UUID, error) {
	if !sent.Again && sent.Key == "" {
		return nil, uuid.Nil, nil
	}
	rows, err := s.turnsOf(ctx, sent.History.whole)
	i := slices.IndexFunc(rows, sent.createdBefore)
	if i < 0 {
		return nil, uuid.Nil, err
	}
	row := rows[i]

	return &jobs.Enqueued{TurnID: row.ID, Number: int(row.Number), Status: row.Status, Existing: true}, row.SessionID, nil
}

// createdBefore reports whether a turn with the same history was created by this request, which was sent before: it has its key or,
// where it was sent without one, is recent and the last of its session.
func (sent *sentTurn) createdBefore(row *db.TurnHistoryListRow) bool {
	switch {
	case sent.Session != uuid.Nil && row.SessionID != sent.Session:
		return false
	case sent.Key != "":
		return row.IdempotencyKey != nil && *row.IdempotencyKey == sent.Key
	default:
		return !row.WentOn && row.Recent
	}
}

// sessionOfHistory finds the session that a history belongs to, and the turn to fork it
// after: 0 if the history ends with its last turn. The nil id means that there is none.
func (s *server) sessionOfHistory(ctx context.Context, h *history) (session uuid.UUID, from int, err error) {
	if h.before == nil {
		return uuid.Nil, 0, nil
	}
	rows, err := s.turnsOf(ctx, h.before)
	if err != nil {
		return uuid.Nil, 0, err
	}
	for _, row := range rows {
		switch matches, err := s.mayHaveAnswered(ctx, row, h.answer); {
		case err != nil:
			return uuid.Nil, 0, err
		case matches && row.WentOn:
			return row.SessionID, int(row.Number), nil
		case matches:
			return row.SessionID, 0, nil
		}
	}

	return uuid.Nil, 0, nil
}

// mayHaveAnswered reports whether a client may have received an answer from a turn: all
// of its reply, the beginning if somebody stopped it, or the reply after streamed
// text that was not kept. A turn that is still running matches any answer.
func (s *server) mayHaveAnswered(ctx context.Context, row *db.TurnHistoryListRow, answer string) (bool, error) {
	if row.Status != db.TurnStatusSucceeded {
		return answer == "" || row.Status == db.TurnStatusQueued || row.Status == db.TurnStatusRunning, nil
	}
	turn, err := s.Watcher(ctx).Turn(ctx, row.ID)
	if err != nil {
		return false, err
	}
	said := strings.TrimSpace(turn.PlainText())

	return strings.HasPrefix(said, answer) || strings.HasSuffix(answer, said), nil
}

func (s *server) turnsOf(ctx context.Context, hash []byte) ([]*db.TurnHistoryListRow, error) {
	rows, err := pg.Value(ctx, s.Read, func(tx pgx.Tx) ([]*db.TurnHistoryListRow, error) {
		return db.New().TurnHistoryList(ctx, tx, &db.TurnHistoryListParams{UserID: auth.CallerOf(ctx).User, HistoryHash: hash, Lim: maxHistories})
	})
	if err != nil {
		return nil, fmt.Errorf("find turns by their history: %w", err)
	}

	return rows, nil
}
