package mover_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/directory"
	"alfred/internal/mover"
)

// pooled is an address like that of a pooler: it leads to the same server, and takes no connection for replication.
func pooled(t *testing.T, address string) string {
	t.Helper()

	u, err := url.Parse(address)
	require.NoError(t, err)
	server := u.Host
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ended := make(chan struct{})
	t.Cleanup(func() { _ = listener.Close(); <-ended })
	go func() {
		defer close(ended)
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go pass(client, server)
		}
	}()
	u.Host = listener.Addr().String()
	query := u.Query()
	query.Set("sslmode", "disable")
	u.RawQuery = query.Encode()

	return u.String()
}

// pass passes on what a client says, unless it asks for replication.
func pass(client net.Conn, server string) {
	defer func() { _ = client.Close() }()
	var length [4]byte
	if _, err := io.ReadFull(client, length[:]); err != nil {
		return
	}
	startup := make([]byte, binary.BigEndian.Uint32(length[:])-4)
	if _, err := io.ReadFull(client, startup); err != nil {
		return
	}
	if bytes.Contains(startup, []byte("replication\x00")) {
		refusal, _ := (&pgproto3.ErrorResponse{Severity: "FATAL", Code: "08P01", Message: "unsupported startup parameter: replication"}).Encode(nil)
		_, _ = client.Write(refusal)

		return
	}
	upstream, err := net.Dial("tcp", server)
	if err != nil {
		return
	}
	defer func() { _ = upstream.Close() }()
	_, err = upstream.Write(append(length[:], startup...))
	go func() {
		_, _ = io.Copy(upstream, client)
		_ = upstream.Close()
	}()
	_, copied := io.Copy(client, upstream)
	_ = errors.Join(err, copied) // whoever speaks notices
}

// An address behind which nothing can be followed is found before anything is done.
func TestMoveRefusesThePoolersAddress(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	f := openFleet(t)
	direct := f.lead("a", "")
	f.lead("a", pooled(t, direct))
	_, err := f.mover().Move(t.Context(), who, "b")
	f.requireRefused(err, "takes no connection for replication, as that of a pooler does not")
	f.off = true
	_, err = f.mover().Move(t.Context(), who, "b")
	require.NoError(t, err)
}

// What --off does not help against is refused with it, too, and says so.
func TestMoveRefusesWithOffToo(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	f := openFleet(t)
	theirs := f.text("a", `SELECT id::text FROM kitchen.tasks WHERE user_id = $1 LIMIT 1`, f.user)
	for _, c := range []struct {
		says, spoil, mend string
		at                []string
	}{
		{
			"to a database that has none of these keys", `INSERT INTO kitchen.tasks (id, user_id, title) SELECT '` + theirs + `', id, 'theirs' FROM users LIMIT 1`,
			`DELETE FROM kitchen.tasks WHERE title = 'theirs'`, []string{"b"},
		},
		{
			"reached through a view", `ALTER TABLE kitchen.preferences RENAME TO likings; CREATE VIEW kitchen.preferences WITH (security_barrier = true) AS SELECT * FROM kitchen.likings WHERE user_id = (SELECT tenant_id());
				DO $$ BEGIN EXECUTE (SELECT format('GRANT SELECT, INSERT (%1$s), UPDATE (%1$s), DELETE ON kitchen.preferences TO alfred_tenant', string_agg(a.attname, ', '))
				FROM pg_attribute AS a WHERE a.attrelid = 'kitchen.likings'::regclass AND a.attnum > 0 AND a.attname NOT IN ('id', 'user_id', 'created_at', 'updated_at')); END $$`,
			`DROP VIEW kitchen.preferences; ALTER TABLE kitchen.likings RENAME TO preferences`, []string{"a", "b"},
		},
	} {
		for _, name := range c.at {
			f.exec(name, c.spoil)
		}
		for _, off := range []bool{false, true} {
			f.off = off
			_, err := f.mover().Move(t.Context(), who, "b")
			f.requireRefused(err, c.says)
		}
		for _, name := range c.at {
			f.exec(name, c.mend)
		}
	}
}

// What the target writes is later than all that the source wrote, though its clock is a little behind; where it is far behind
// the user stays.
func TestMoveWaitsForTheTargetsClock(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	f := openFleet(t)
	m := f.mover()
	ahead := "1 hour"
	m.At = func(step directory.Step) {
		if step == directory.StepCopied {
			f.exec("a", `UPDATE user_places SET changed_at = changed_at + $2::interval WHERE user_id = $1`, f.user, ahead)
		}
	}
	_, err := m.Move(t.Context(), who, "b")
	require.ErrorIs(t, err, mover.ErrClocks)
	require.True(t, f.accepts("a"))
	require.False(t, f.accepts("b"))
	ahead = "600 milliseconds"
	var closed string
	m.At = func(step directory.Step) {
		if step == directory.StepCopied {
			closed = f.text("a", `UPDATE user_places SET changed_at = changed_at + $2::interval WHERE user_id = $1 RETURNING changed_at::text`, f.user, ahead)
		}
	}
	_, err = m.Move(t.Context(), who, "b")
	require.NoError(t, err)
	require.Equal(t, "true", f.text("b", `SELECT (changed_at >= $2::timestamptz)::text FROM user_places WHERE user_id = $1`, f.user, closed))
}

// A move that another database is in the way of is not begun: of another version, or not answering.
func TestMoveRefusesAnotherVersion(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	f := openFleet(t)
	f.exec("b", `INSERT INTO schema_migrations (version_id, is_applied) VALUES (99999, true)`)
	_, err := f.mover().Move(t.Context(), who, "b")
	require.ErrorContains(t, err, "database b: ")
	require.True(t, f.accepts("a"))
	f.exec("b", `DELETE FROM schema_migrations WHERE version_id > (SELECT max(version_id) - 2 FROM schema_migrations WHERE version_id < 99999)`)
	_, err = f.mover().Move(t.Context(), who, "b")
	require.ErrorContains(t, err, "database b: ")
	f.lead("b", "postgres://nobody@127.0.0.1:1/none")
	_, err = f.mover().Move(t.Context(), who, "b")
	require.ErrorContains(t, err, "database b: ")
	require.True(t, f.accepts("a"))
	require.ErrorIs(t, f.mover().Abort(t.Context(), who), directory.ErrNoMove)
}

// A database that is registered under two names is one: what a move deletes at the source is what it brought.
func TestMoveRefusesTwoNamesOfOneDatabase(t *testing.T) {
	t.Parallel()

	f := openFleet(t)
	kept := f.kept("a")
	address := f.lead("a", "")
	f.lead("a", address)
	f.lead("b", address)
	f.off = true
	_, err := f.mover().Move(t.Context(), who, "b")
	require.ErrorContains(t, err, "are two names of one database")
	require.Equal(t, kept, f.kept("a"))
}
