package crud_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/dbtest"
	"alfred/internal/domain"
	"alfred/internal/vocab"
)

// ownViewsSQL are views as an owner writes them: one that Postgres writes through, one that a trigger does, one for all.
const ownViewsSQL = `
CREATE SCHEMA base;
CREATE SCHEMA shown;
GRANT USAGE ON SCHEMA shown TO alfred_tenant;
CREATE TABLE base.lists (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, owner uuid NOT NULL, name text NOT NULL, open boolean NOT NULL DEFAULT true);
CREATE TABLE base.items (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, list_id bigint NOT NULL REFERENCES base.lists ON DELETE CASCADE,
	name text NOT NULL, qty numeric(8, 2) NOT NULL DEFAULT 1);
CREATE TABLE base.goods (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL);
INSERT INTO base.goods (name) VALUES ('milk');
CREATE FUNCTION shown.me() RETURNS uuid LANGUAGE sql STABLE AS $$ SELECT nullif(current_setting('alfred.user_id', true), '')::uuid $$;
CREATE VIEW shown.lists WITH (security_barrier) AS SELECT id, owner, name, open FROM base.lists WHERE owner = shown.me() AND open WITH CASCADED CHECK OPTION;
ALTER VIEW shown.lists ALTER COLUMN owner SET DEFAULT shown.me();
CREATE VIEW shown.items WITH (security_barrier) AS SELECT i.id, i.list_id, i.name, i.qty FROM base.items AS i
	WHERE EXISTS (SELECT FROM base.lists AS l WHERE l.id = i.list_id AND l.owner = shown.me());
CREATE VIEW shown.goods WITH (security_barrier) AS SELECT id, name FROM base.goods;
CREATE FUNCTION shown.write() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
	IF TG_OP = 'DELETE' THEN
		DELETE FROM base.items WHERE id = OLD.id;
		RETURN OLD;
	ELSIF NOT EXISTS (SELECT FROM base.lists WHERE id = NEW.list_id AND owner = shown.me()) THEN
		RAISE EXCEPTION 'No such list.';
	ELSIF TG_OP = 'UPDATE' THEN
		UPDATE base.items SET list_id = NEW.list_id, name = NEW.name, qty = NEW.qty WHERE id = OLD.id;
	ELSE
		NEW.id := coalesce(NEW.id, nextval('base.items_id_seq'));
		INSERT INTO base.items OVERRIDING SYSTEM VALUE VALUES (NEW.id, NEW.list_id, NEW.name, coalesce(NEW.qty, 1)) RETURNING qty INTO NEW.qty;
	END IF;
	RETURN NEW;
END $$;
CREATE TRIGGER write INSTEAD OF INSERT OR UPDATE OR DELETE ON shown.items FOR EACH ROW EXECUTE FUNCTION shown.write();
GRANT SELECT, DELETE, INSERT (name, open), UPDATE (name, open) ON shown.lists TO alfred_tenant;
GRANT SELECT, DELETE, INSERT (list_id, name, qty), UPDATE (list_id, name, qty) ON shown.items TO alfred_tenant;
GRANT SELECT ON shown.goods TO alfred_tenant;
GRANT DELETE, INSERT ON shown.lists, shown.items TO alfred_undo;`

const ownViewsYAML = `
name: shown
schema: shown
owner: owner
persona: You keep lists.
entities:
  - {type: list, table: lists, key: id, label: "{name}", order: [name], writes: [create, update, delete], columns: [name, open], children: [{type: item}]}
  - {type: item, table: items, key: id, label: "{name}", order: [name], writes: [create, update, delete], columns: [list_id, name, qty]}
  - {type: good, table: goods, key: id, label: "{name}", order: [name], reference: true}
subdomains:
  - {name: lists, description: Lists., tables: [lists, items], readable: [goods]}
`

// Views that the owner has written need no column for versions: what a row holds is its version. They are written, and
// that is undone, as through the views of worker domain views.
func TestOwnViews(t *testing.T) {
	t.Parallel()

	tx := dbtest.OwnTx(t)
	_, err := tx.Exec(t.Context(), ownViewsSQL)
	require.NoError(t, err)
	kit, err := domain.Open(t.Context(), tx, fstest.MapFS{"shown.yaml": {Data: []byte(ownViewsYAML)}}, "shown.yaml")
	require.NoError(t, err)
	b := setupOn(t, tx, uuid.MustParse(demoUser), kit)
	held := func() string {
		return query[string](b, `SELECT concat((SELECT string_agg(l::text, ' ' ORDER BY id) FROM base.lists AS l), (SELECT string_agg(i::text, ' ' ORDER BY id) FROM base.items AS i))`)
	}

	require.Equal(t, 1, b.ok("read", vocab.ToolRead, `{"table": "goods"}`).RowCount)
	b.scope.Call++
	empty := held()
	b.ok("write", vocab.ToolCreate, `{"table": "lists", "data": {"name": "party", "items": [{"name": "beer", "qty": 6}, {"name": "chips"}]}}`)
	made, first := held(), b.scope
	b.nextTurn()
	b.ok("write", vocab.ToolUpdate, `{"table": "items", "filters": [{"field": "id", "op": "=", "value": "item_1"}], "data": {"qty": 7.25}}`)
	changed, second := held(), b.scope
	require.NotEqual(t, made, changed)
	b.nextTurn()
	b.refused("write", vocab.ToolUpdate, `{"table": "lists", "filters": [{"field": "id", "op": "=", "value": "list_1"}], "data": {"open": false}}`, crud.CodeViolation)
	b.scope.Call++
	b.ok("write", vocab.ToolDelete, `{"table": "lists", "filters": [{"field": "id", "op": "=", "value": "list_1"}]}`)
	require.Equal(t, empty, held())
	third := b.scope

	b.agreed(third.TurnID, third.Turn)
	require.Equal(t, changed, held())
	b.agreed(second.TurnID, second.Turn)
	require.Equal(t, made, held())
	b.agreed(first.TurnID, first.Turn)
	require.Equal(t, empty, held())
	require.Empty(t, query[string](b, `SELECT coalesce(string_agg(name, ' '), '') FROM shown.goods WHERE NOT `+kit.ByType("good").WrittenSinceSQL("'3'")))
}

// A view may compute a key of a type that no table's key may have.
func TestComputedNumericKeys(t *testing.T) {
	t.Parallel()

	tx := dbtest.OwnTx(t)
	_, err := tx.Exec(t.Context(), strings.Replace(ownViewsSQL, `SELECT id, name FROM base.goods`, `SELECT id + 17::numeric AS id, name FROM base.goods`, 1))
	require.NoError(t, err)
	kit, err := domain.Open(t.Context(), tx, fstest.MapFS{"shown.yaml": {Data: []byte(ownViewsYAML)}}, "shown.yaml")
	require.NoError(t, err)
	b := setupOn(t, tx, uuid.MustParse(demoUser), kit)
	row, err := b.tools.Get(t.Context(), tx, crud.User{ID: b.scope.UserID}, "good", "18")
	require.NoError(t, err)
	require.Equal(t, "18", row.Key)
}

// A view may have a column of its own name, which is not its row.
func TestColumnsCalledLikeTheirView(t *testing.T) {
	t.Parallel()

	tx := dbtest.OwnTx(t)
	_, err := tx.Exec(t.Context(), strings.Replace(ownViewsSQL, `SELECT id, name FROM base.goods`, `SELECT id, name, NULL::text AS goods FROM base.goods`, 1))
	require.NoError(t, err)
	kit, err := domain.Open(t.Context(), tx, fstest.MapFS{"shown.yaml": {Data: []byte(ownViewsYAML)}}, "shown.yaml")
	require.NoError(t, err)
	b := setupOn(t, tx, uuid.MustParse(demoUser), kit)
	read := func() crud.Row {
		row, err := b.tools.Get(t.Context(), tx, crud.User{ID: b.scope.UserID}, "good", "1")
		require.NoError(t, err)

		return row
	}
	held := read()
	b.exec(`UPDATE base.goods SET name = 'oat milk'`)
	require.NotEqual(t, held.Version, read().Version)
}

// A view's rows may be groups of others, which Postgres does not lock; a trigger writes them.
func TestViewsWhoseRowsCannotBeLocked(t *testing.T) {
	t.Parallel()

	for name, rows := range map[string]string{
		"groups":   "SELECT id, max(owner::text)::uuid AS owner, max(name) AS name FROM base.lists WHERE owner = shown.me() GROUP BY id",
		"distinct": "SELECT DISTINCT id, owner, name FROM base.lists WHERE owner = shown.me()",
		"windows":  "SELECT id, owner, name || row_number() OVER (PARTITION BY id) AS name FROM base.lists WHERE owner = shown.me()",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := setupDeclared(t, `
			CREATE SCHEMA base; CREATE SCHEMA shown; GRANT USAGE ON SCHEMA shown TO alfred_tenant;
			CREATE TABLE base.lists (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, owner uuid NOT NULL, name text NOT NULL);
			CREATE FUNCTION shown.me() RETURNS uuid LANGUAGE sql STABLE AS $$ SELECT nullif(current_setting('alfred.user_id', true), '')::uuid $$;
			CREATE VIEW shown.lists WITH (security_barrier) AS `+rows+`;
			CREATE FUNCTION shown.write() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$ BEGIN
				IF TG_OP = 'INSERT' THEN INSERT INTO base.lists (owner, name) VALUES (shown.me(), NEW.name);
				ELSIF TG_OP = 'UPDATE' THEN UPDATE base.lists SET name = left(NEW.name, -1) WHERE id = OLD.id;
				ELSE DELETE FROM base.lists WHERE id = OLD.id; RETURN OLD; END IF; RETURN NEW; END $$;
			CREATE TRIGGER write INSTEAD OF INSERT OR UPDATE OR DELETE ON shown.lists FOR EACH ROW EXECUTE FUNCTION shown.write();
			GRANT SELECT, DELETE, INSERT (name), UPDATE (name) ON shown.lists TO alfred_tenant;
			INSERT INTO base.lists (owner, name) VALUES ('`+demoUser+`', 'party1')`, `
name: shown
schema: shown
owner: owner
persona: You keep lists.
entities:
  - {type: list, table: lists, key: id, label: "{name}", writes: [create, update, delete], columns: [name]}
subdomains:
  - {name: lists, description: Lists., tables: [lists]}
`)
			b.ok("read", vocab.ToolRead, `{"table": "lists"}`)
			b.nextTurn()
			b.ok("write", vocab.ToolDelete, `{"table": "lists", "filters": [{"field": "id", "op": "=", "value": "list_1"}]}`)
			require.Zero(t, query[int](b, `SELECT count(*)::int FROM base.lists`))
			require.Equal(t, "Rows of lists cannot be created: what writes them does not tell their key.",
				b.refused("write", vocab.ToolCreate, `{"table": "lists", "data": {"name": "picnic"}}`, crud.CodeNotAllowed))
		})
	}
}
