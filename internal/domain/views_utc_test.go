package domain_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
)

const court1 = "0190a000-0000-7000-8000-000000000001"

// club is as Prisma makes tables: times are UTC and do not say so.
const club = `
CREATE SCHEMA club;
CREATE TABLE club._prisma_migrations (id text PRIMARY KEY);
CREATE TABLE club.members (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE club.bookings (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(), member_id integer NOT NULL REFERENCES club.members, title text NOT NULL,
    starts_at timestamp(3) NOT NULL DEFAULT date_trunc('hour', CURRENT_TIMESTAMP::timestamp), ends_at timestamp, booked_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CHECK (ends_at > starts_at), CHECK (ends_at < '2100-01-01'));
COMMENT ON COLUMN club.bookings.starts_at IS 'When it begins.';
CREATE FUNCTION club.postpone(this uuid, until timestamp, noted timestamp DEFAULT now(), since timestamp DEFAULT '2026-01-01'::timestamp) RETURNS text LANGUAGE sql AS
$$ UPDATE club.bookings SET starts_at = until, ends_at = NULL WHERE id = this RETURNING starts_at::text $$;
INSERT INTO club.members VALUES (1, 'Ada'), (2, 'Eve');
INSERT INTO club.bookings (id, member_id, title, starts_at, ends_at, booked_at) VALUES
    ('` + court1 + `', 1, 'Court 1', '2026-01-01 15:00', '2026-01-01 16:00', '2025-12-31 23:30');`

var clubReview = []string{
	"\n  - type: booking\n", "\n  - type: booking\n    writes: [create, update, delete]\n    columns: [title, starts_at, ends_at]\n",
	"\nsubdomains:\n", "\noperations:\n  - {name: postpone, function: postpone, on: booking, trusted: true, confirm: never, description: Postpones a booking.}\n\nsubdomains:\n",
}

// Times that are UTC without saying so are the user's own in the views, and UTC again in the tables.
func TestTimesInUTC(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, club)
	d := attached(t, tx, "club", clubReview...)
	require.Len(t, d.Notes, 1)
	require.Contains(t, d.Notes[0], "whose default is taken for the user's own time")
	exec(t, tx, `SET LOCAL timezone = 'America/New_York'`)

	starts := d.ByType("booking").Column("starts_at")
	require.False(t, starts.Nullable)
	require.True(t, starts.HasDefault)
	require.Equal(t, "When it begins.", starts.Comment)
	require.Contains(t, d.ByType("booking").Column("ends_at").Check, "2100-01-01")

	require.Equal(t, "2026-01-01 10:00:00-05", as(t, tx, adaID, `SELECT starts_at::text FROM club_alfred.bookings`))
	require.Equal(t, "Court 1", as(t, tx, adaID, `SELECT title FROM club_alfred.bookings WHERE starts_at = '2026-01-01 10:00'`))

	exec(t, tx, `SELECT set_config('role', 'alfred_tenant', true), set_config('alfred.user_id', '`+adaID+`', true);
		INSERT INTO club_alfred.bookings (title, starts_at, ends_at) VALUES ('Court 2', '2026-07-01 20:00', '2026-07-01 21:30');
		INSERT INTO club_alfred.bookings (title) VALUES ('Court 3');
		UPDATE club_alfred.bookings SET starts_at = '2026-01-02 08:00', ends_at = '2026-01-02 09:00' WHERE title = 'Court 1';
		RESET ROLE`)
	require.Equal(t, "2026-01-02 13:00:00 2026-01-02 14:00:00", stored(t, tx, "Court 1"))
	require.Equal(t, "2026-07-02 00:00:00 2026-07-02 01:30:00", stored(t, tx, "Court 2"))
	exec(t, tx, `DO $$ BEGIN ASSERT (SELECT starts_at = date_trunc('hour', now() AT TIME ZONE 'UTC') AND booked_at = now() AT TIME ZONE 'UTC'
		FROM club.bookings WHERE title = 'Court 3'), 'defaults are UTC'; END $$`)

	require.Equal(t, "2026-01-03 17:00:00", as(t, tx, adaID, `SELECT club_alfred.do_postpone('`+court1+`', '2026-01-03 12:00')`), "a function gets UTC")
	require.Equal(t, "timestamp with time zone", d.Operation("postpone").Args.Column("until").FullType)

	exec(t, tx, `SELECT set_config('role', 'alfred_undo', true);
		CREATE TEMPORARY TABLE gone AS SELECT * FROM club_alfred.bookings WHERE title = 'Court 1';
		DELETE FROM club_alfred.bookings WHERE title = 'Court 1';
		INSERT INTO club_alfred.bookings (id, member_id, title, starts_at, ends_at, booked_at) SELECT id, member_id, title, starts_at, ends_at, booked_at FROM gone;
		RESET ROLE`)
	require.Equal(t, "2026-01-02 13:00:00 2026-01-02 14:00:00", stored(t, tx, "Court 1"), "an undo brings back what was there")
}

func stored(t *testing.T, tx pgx.Tx, title string) string {
	t.Helper()

	var times string
	require.NoError(t, tx.QueryRow(t.Context(), `SELECT concat_ws(' ', starts_at, ends_at) FROM club.bookings WHERE title = $1`, title).Scan(&times))

	return times
}
