package mover_test

import (
	"encoding/json"
	"io/fs"
	"log/slog"
	"testing"
	"testing/fstest"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/dbtest"
	"alfred/internal/directory"
	"alfred/internal/domain"
	"alfred/internal/llm/lexical"
	"alfred/internal/mover"
	"alfred/internal/pg"
	"alfred/internal/recall"
	"alfred/internal/vocab"
	"alfred/registry"
)

const deskYAML = `
name: desk
schema: desk
owner: user_id
persona: You keep notes.
entities:
  - {type: folder, table: folders, label: "{name}", writes: [create, update, delete], columns: [name]}
  - {type: note, table: notes, label: "{title}", writes: [create, update, delete], columns: [title, folder_id, parent_id]}
subdomains:
  - {name: notes, description: All., tables: [folders, notes], guidance: none}
`

// deskSQL makes tables whose keys come from sequences, which both databases begin at 1.
const deskSQL = `
CREATE SCHEMA desk;
GRANT USAGE ON SCHEMA desk TO alfred_tenant;
CREATE TABLE desk.folders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	user_id uuid NOT NULL DEFAULT nullif(current_setting('alfred.user_id', true), '')::uuid REFERENCES alfred.users (id), name text NOT NULL, UNIQUE (user_id, id));
CREATE TABLE desk.notes (id serial PRIMARY KEY,
	user_id uuid NOT NULL DEFAULT nullif(current_setting('alfred.user_id', true), '')::uuid REFERENCES alfred.users (id), title text NOT NULL,
	folder_id bigint, parent_id integer, UNIQUE (user_id, id),
	FOREIGN KEY (user_id, folder_id) REFERENCES desk.folders (user_id, id), FOREIGN KEY (user_id, parent_id) REFERENCES desk.notes (user_id, id));
ALTER TABLE desk.folders ENABLE ROW LEVEL SECURITY;
ALTER TABLE desk.notes ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON desk.folders TO alfred_tenant USING (user_id = nullif(current_setting('alfred.user_id', true), '')::uuid);
CREATE POLICY tenant ON desk.notes TO alfred_tenant USING (user_id = nullif(current_setting('alfred.user_id', true), '')::uuid);
GRANT USAGE ON ALL SEQUENCES IN SCHEMA desk TO alfred_tenant;
GRANT SELECT, DELETE, INSERT (name), UPDATE (name) ON desk.folders TO alfred_tenant;
GRANT SELECT, DELETE, INSERT (title, folder_id, parent_id), UPDATE (title, folder_id, parent_id) ON desk.notes TO alfred_tenant;
GRANT INSERT, DELETE ON desk.folders, desk.notes TO alfred_undo;`

func deskFiles() (fs.FS, string) {
	return fstest.MapFS{"desk.yaml": {Data: []byte(deskYAML)}}, "desk.yaml"
}

// desk is a conversation about notes, wherever its user is.
type desk struct {
	*fleet

	at    string
	scope registry.Scope
	turns []uuid.UUID
}

func openDesk(t *testing.T) *desk {
	t.Helper()

	d := &desk{fleet: openFleet(t), at: "a"}
	for _, name := range []string{"a", "b"} {
		d.exec(name, deskSQL)
	}
	d.exec("b", `INSERT INTO desk.folders (user_id, name) SELECT id, 'theirs' FROM users LIMIT 1`)
	d.exec("b", `INSERT INTO desk.notes (user_id, title) SELECT f.user_id, 'theirs ' || n FROM desk.folders AS f, generate_series(1, 3) AS n`)
	session := d.text("a", `SELECT start_session('Grace')::text`)
	d.session, d.user = session, d.text("a", `SELECT user_id::text FROM sessions WHERE id = $1`, session)
	d.scope = registry.Scope{SessionID: uuid.MustParse(session), UserID: uuid.MustParse(d.user), Step: 1, Actor: registry.ActorAssistant}
	for _, name := range []string{"a", "b"} {
		_, err := d.directory.AddDatabase(t.Context(), directory.Database{Name: name, URL: d.pools[name].Config().ConnString()})
		require.NoError(t, err)
	}

	return d
}

func (d *desk) move(to string, off, fresh bool) (mover.Report, error) {
	report, err := (&mover.Mover{
		Directory: d.directory, Domain: deskFiles, Patience: dbtest.Patience, Off: off, NewKeys: fresh, Logger: slog.New(slog.DiscardHandler),
	}).Move(d.t.Context(), "Grace", to)
	if err == nil {
		d.at = to
	}

	return report, err
}

// turn does work in a turn of its own, with the tools of where the user is.
func (d *desk) turn(work func(tx pgx.Tx, tools *crud.Tools) crud.Outcome) {
	d.t.Helper()

	pool := d.pools[d.at]
	files, file := deskFiles()
	bound, err := domain.Open(d.t.Context(), pool, files, file)
	require.NoError(d.t, err)
	d.scope.Turn++
	d.scope.TurnID = uuid.MustParse(d.text(d.at, `SELECT enqueue_turn($1, 'hello')::text`, d.session))
	d.turns = append(d.turns, d.scope.TurnID)
	var outcome crud.Outcome
	require.NoError(d.t, pg.InTx(d.t.Context(), pool, func(tx pgx.Tx) error {
		outcome = work(tx, crud.New(bound, recall.New(bound, lexical.Embedder{})))

		return nil
	}))
	d.exec(d.at, `SELECT turn_end($1, 'cancelled', 'cancelled', 'Done.')`, d.scope.TurnID)
	for _, result := range outcome.Results {
		require.Empty(d.t, result.ErrorMessage)
	}
	require.Nil(d.t, outcome.Approval)
}

func (d *desk) call(stepType, tool, args string) {
	d.t.Helper()

	d.turn(func(tx pgx.Tx, tools *crud.Tools) crud.Outcome {
		prepared, err := tools.Prepare(d.t.Context(), tx, crud.Asker{Scope: d.scope, ShownFrom: d.scope.Turn}, []vocab.Call{{Tool: tool, Args: json.RawMessage(args)}})
		require.NoError(d.t, err)
		outcome, err := tools.Execute(d.t.Context(), tx, d.scope, crud.Bounds{StepType: stepType, Message: args}, prepared)
		require.NoError(d.t, err)

		return outcome
	})
}

func (d *desk) undo(number int) {
	d.t.Helper()
	d.turn(func(tx pgx.Tx, tools *crud.Tools) crud.Outcome {
		outcome, err := tools.Undo(d.t.Context(), tx, d.scope, crud.Undoing{Turn: d.turns[number-1], Number: number})
		require.NoError(d.t, err)

		return outcome
	})
	d.exec(d.at, `UPDATE turns SET undone_by = $2 WHERE id = $1`, d.turns[number-1], d.scope.TurnID)
}

// says is what the user's rows say, without their keys.
func (d *desk) says() string {
	return d.text(d.at, `SELECT coalesce(string_agg(concat_ws(' ', n.title, 'in ' || f.name, 'below ' || p.title), ', ' ORDER BY n.title), '')
		FROM desk.notes AS n LEFT JOIN desk.folders AS f ON f.id = n.folder_id LEFT JOIN desk.notes AS p ON p.id = n.parent_id WHERE n.user_id = $1`, d.user)
}

// Rows whose keys others have at the target get new ones, and everything that names them follows: rows that refer to them, the
// conversation's refs, and what an undo needs.
func TestMoveGivesNewKeys(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	d := openDesk(t)
	d.call("write", vocab.ToolCreate, `{"table": "folders", "data": {"name": "work"}}`)
	d.call("write", vocab.ToolCreate, `{"table": "notes", "data": [{"title": "first", "folder_id": "folder_1"}, {"title": "second"}]}`)
	d.call("write", vocab.ToolUpdate, `{"table": "notes", "filters": [{"field": "title", "op": "=", "value": "second"}], "data": {"parent_id": "note_1"}}`)
	d.call("write", vocab.ToolCreate, `{"table": "folders", "data": {"name": "play"}}`)
	d.call("write", vocab.ToolUpdate, `{"table": "notes", "filters": [{"field": "title", "op": "=", "value": "first"}], "data": {"folder_id": "folder_2", "title": "1st"}}`)
	d.call("write", vocab.ToolDelete, `{"table": "notes", "filters": [{"field": "id", "op": "=", "value": "note_2"}]}`)
	require.Equal(t, "1st in play", d.says())
	d.exec("a", `INSERT INTO embeddings (owner_kind, owner_id, model, user_id, dimensions, content_hash, embedding) VALUES ('note', '1', 'm', $1, 2, 'x', '[1,0.1]')`, d.user)
	d.exec("a", `INSERT INTO row_events (user_id, entity_type, entity_id, action) VALUES ($1, 'note', '1', 'updated')`, d.user)
	d.exec("a", `UPDATE turns SET ui_changes = '[{"action": "updated:user", "entity_type": "note", "entity_id": "1", "label": "1st"}, {"entity_type": "moon", "entity_id": "1"}, {"entity_type": "note", "id": "1"}]',
		mentioned_entities = '[{"ref_type": "folder", "uuid": "1", "label": "work"}]' WHERE id = $1`, d.turns[0])
	d.exec("a", `INSERT INTO questions (session_id, user_id, turn_id, kind, payload) VALUES ($1, $2, $3, 'approve', '{"text": "Shall I?", "calls": [{"keys": ["1"]}]}')`, d.session, d.user, d.turns[0])
	others := d.text("b", `SELECT string_agg(n::text, ' ' ORDER BY n.id) FROM desk.notes AS n`)

	_, err := d.move("b", false, true)
	require.ErrorIs(t, err, mover.ErrNewKeys)
	_, err = d.move("b", true, false)
	d.requireRefused(err, "--off --new-keys")
	report, err := d.move("b", true, true)
	require.NoError(t, err)
	require.EqualValues(t, 3, report.Renumbered, "a folder, a note and one that is deleted; the second folder's key is free")

	require.Equal(t, "1st in play", d.says())
	require.Equal(t, others, d.text("b", `SELECT string_agg(n::text, ' ' ORDER BY n.id) FROM desk.notes AS n WHERE user_id <> $1`, d.user))
	note := d.text("b", `SELECT id::text FROM desk.notes WHERE user_id = $1`, d.user)
	require.NotEqual(t, "1", note)
	require.Equal(t, note, d.text("b", `SELECT owner_id FROM embeddings WHERE owner_kind = 'note'`))
	require.Equal(t, note, d.text("b", `SELECT entity_id FROM row_events WHERE user_id = $1`, d.user))
	require.Equal(t, note+" 1", d.text("b", `SELECT concat_ws(' ', ui_changes -> 0 ->> 'entity_id', ui_changes -> 1 ->> 'entity_id') FROM turns WHERE id = $1`, d.turns[0]))
	require.JSONEq(t, `{"id": "1", "entity_type": "note"}`, d.text("b", `SELECT (ui_changes -> 2)::text FROM turns WHERE id = $1`, d.turns[0]))
	refs := `SELECT string_agg(concat_ws(' ', e.ref, e.entity_id), ', ' ORDER BY e.ref) FROM `
	known := d.text("b", refs+`entity_refs AS e WHERE e.session_id = $1`, d.session)
	require.Contains(t, known, "note_1 "+note)
	require.Equal(t, known, d.text("b", refs+`sessions AS s, registry_at(s.id, s.last_turn) AS e WHERE s.id = $1`, d.session), "the registry's history")
	fork := d.text("b", `SELECT fork_session($1, 6)::text`, d.session)
	require.Equal(t, known, d.text("b", refs+`entity_refs AS e WHERE e.session_id = $1`, fork), "and who forks from it has rows of their own")
	require.Equal(t, d.text("b", `SELECT id::text FROM desk.folders WHERE name = 'work'`), d.text("b", `SELECT mentioned_entities -> 0 ->> 'uuid' FROM turns WHERE id = $1`, d.turns[0]))
	require.Equal(t, "superseded", d.text("b", `SELECT status FROM questions WHERE session_id = $1`, d.session), "what awaits approval by key is withdrawn")
	d.call("read", vocab.ToolRead, `{"table": "notes", "filters": [{"field": "id", "op": "=", "value": "note_1"}]}`)
	d.call("write", vocab.ToolCreate, `{"table": "notes", "data": {"title": "third", "parent_id": "note_1", "folder_id": "folder_1"}}`)
	require.Equal(t, "1st in play, third in work below 1st", d.says())

	for _, c := range []struct {
		turn int
		says string
	}{
		{8, "1st in play"}, {6, "1st in play, second below 1st"}, {5, "first in work, second below first"}, {4, "first in work, second below first"},
		{3, "first in work, second"}, {2, ""},
	} {
		d.undo(c.turn)
		require.Equal(t, c.says, d.says(), "turn %d undone", c.turn)
	}
	_, err = d.move("a", false, false)
	require.ErrorContains(t, err, "--off", "there and back: nobody has these keys, and only the replica identity is in the way of serving meanwhile")
	_, err = d.move("a", true, false)
	require.NoError(t, err)
}
