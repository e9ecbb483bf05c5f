package domain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
)

// Foreign keys of Hibernate and TypeORM may be null unless somebody said otherwise: what has no other way to its owners is
// shown by them.
func TestInitFollowsForeignKeysThatMayBeNull(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA wares;
		CREATE TABLE wares.users (id serial PRIMARY KEY, name text NOT NULL);
		CREATE TABLE wares.orders (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES wares.users, name text NOT NULL, good_id integer);
		CREATE TABLE wares.goods (id serial PRIMARY KEY, name text NOT NULL, last_order_id integer REFERENCES wares.orders);
		CREATE TABLE wares.notes (id serial PRIMARY KEY, line_id integer, text text NOT NULL);
		CREATE TABLE wares.lines (id serial PRIMARY KEY, order_id integer REFERENCES wares.orders, name text NOT NULL);
		ALTER TABLE wares.notes ADD FOREIGN KEY (line_id) REFERENCES wares.lines;
		ALTER TABLE wares.orders ADD FOREIGN KEY (good_id) REFERENCES wares.goods;
		INSERT INTO wares.users (name) VALUES ('Ada'), ('Eve'); INSERT INTO wares.orders (user_id, name) VALUES (1, 'a'), (2, 'b');
		INSERT INTO wares.lines (order_id, name) VALUES (1, 'mine'), (2, 'hers'), (NULL, 'nobody''s'); INSERT INTO wares.notes (line_id, text) VALUES (2, 'hers'), (1, 'mine')`)
	d := attached(t, tx, "wares")
	require.Contains(t, d.Text, "owned_by: [order_id] # unsure: its rows are those of whom the orders are, and those without one nobody's")
	require.Contains(t, d.Text, "owned_by: [line_id] # unsure: its rows are those of whom the lines are, and those without one nobody's")
	require.True(t, d.ByType("good").Reference, "what orders point at is a catalogue")
	for _, table := range []string{"lines", "notes"} {
		require.Equal(t, "1", as(t, tx, adaID, `SELECT count(*)::text FROM wares_alfred.`+table))
	}
}

// A generic relation of Django's holds a key beside its content type.
func TestInitHidesKeysOfGenericRelations(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	exec(t, tx, `CREATE SCHEMA press;
		CREATE TABLE press.auth_user (id serial PRIMARY KEY, username text NOT NULL);
		CREATE TABLE press.django_content_type (id serial PRIMARY KEY, model text NOT NULL);
		CREATE TABLE press.press_note (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES press.auth_user, content_type_id integer NOT NULL REFERENCES press.django_content_type, object_id integer NOT NULL, text text NOT NULL)`)
	d := bound(t, tx, "press")
	require.True(t, d.ByType("press_note").Column("content_type_id").Hidden)
	require.True(t, d.ByType("press_note").Column("object_id").Hidden)
}
