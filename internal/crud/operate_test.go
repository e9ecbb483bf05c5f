package crud_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/dbtest"
	"alfred/internal/vocab"
)

// depotFunctions are typical functions of an owner, and their failures.
const depotFunctions = depotSQL + `
CREATE FUNCTION depot.move(this bigint, shelf integer) RETURNS void LANGUAGE sql AS $$ UPDATE depot.crates SET shelf = move.shelf WHERE id = this $$;
CREATE FUNCTION depot.send_back(this bigint, reason text) RETURNS text LANGUAGE sql AS $$ DELETE FROM depot.crates WHERE id = this RETURNING 'Sent back: ' || reason $$;
CREATE FUNCTION depot.weigh(this bigint, weight numeric) RETURNS void LANGUAGE sql AS $$ UPDATE depot.crates SET weight = weigh.weight WHERE id = this $$;
CREATE FUNCTION depot.told(this bigint, weight numeric) RETURNS SETOF text LANGUAGE sql AS $$ SELECT format('%s would weigh %s.', name, told.weight) FROM depot.crates WHERE id = this $$;
CREATE FUNCTION depot.stuck(this bigint) RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'The lift is out of order.' USING HINT = 'It runs again on Monday.'; END $$;
CREATE FUNCTION depot.spin(this bigint) RETURNS void LANGUAGE plpgsql AS $$ BEGIN LOOP PERFORM pg_sleep(0.01); END LOOP; END $$;
CREATE FUNCTION depot.all_crates(this bigint) RETURNS SETOF depot.crates LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog AS $$ SELECT * FROM depot.crates ORDER BY id $$;
CREATE TABLE depot.slips (crate bigint); GRANT INSERT ON depot.slips TO alfred_tenant;
CREATE FUNCTION depot.slip(this bigint) RETURNS void LANGUAGE plpgsql AS $$ BEGIN INSERT INTO depot.slips VALUES (this); END $$;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA depot TO alfred_tenant;`

const depotOperations = depotYAML + `
operations:
  - {name: move_crate, function: move, on: crate, confirm: never}
  - {name: send_back, function: send_back, on: crate, confirm: always}
  - {name: weigh_crate, function: weigh, on: crate, confirm: always, preview: told}
  - {name: lift_crate, function: stuck, on: crate, confirm: never}
  - {name: spin_crate, function: spin, on: crate, confirm: never}
  - {name: print_slip, function: slip, on: crate, confirm: never}
  - {name: list_crates, function: all_crates, on: crate, confirm: never, trusted: true}
`

// setupOperations has the user's crate_1, and a crate of somebody else.
func setupOperations(t *testing.T) *bundle {
	t.Helper()

	b := setupDeclared(t, depotFunctions, depotOperations)
	b.exec(`INSERT INTO depot.crates (user_id, name) VALUES ($1, 'Secret crate')`, uuid.New())
	b.ok("write", vocab.ToolCreate, `{"table": "crates", "data": {"name": "Lamps", "weight": 10}}`)

	return b
}

func (b *bundle) crate(column string) string {
	b.t.Helper()

	return query[string](b, `SELECT coalesce(string_agg(`+column+`::text, ','), 'gone') FROM depot.crates WHERE name = 'Lamps'`)
}

// seenNow marks the crate as seen by the model in its current state.
func (b *bundle) seenNow() {
	b.t.Helper()

	b.seen.Rows = map[string]map[string]string{"crate": {b.crate("id"): b.crate("xmin")}}
}

// K03: an operation without approval is refused on a row that has changed since the model saw it.
func TestK03OperationsOnRowsThatChanged(t *testing.T) {
	t.Parallel()

	b := setupOperations(t)
	b.seenNow()
	b.exec(`UPDATE depot.crates SET weight = 400 WHERE name = 'Lamps'`)
	outcome := b.decide("write", call("move_crate", `{"this": "crate_1", "shelf": 9}`))
	require.Equal(t, crud.CodeStale, outcome.Results[0].ErrorCode, outcome.Results[0].ErrorMessage)
	require.Len(t, outcome.Results, 2, "and what it is now")
	require.EqualValues(t, 400, b.rows(outcome.Results[1])[0]["weight"])
	require.Equal(t, "gone", b.crate("shelf"))

	b.seenNow()
	b.ok("write", "move_crate", `{"this": "crate_1", "shelf": 9}`)
	require.Equal(t, "9", b.crate("shelf"))
}

// K03: the user agreed to a row's state at the time, unless the owner's preview says what would be done.
func TestK03ApprovedOperationsOnRowsThatChanged(t *testing.T) {
	t.Parallel()

	b := setupOperations(t)
	asked := b.decide("write", call("send_back", `{"this": "crate_1", "reason": "too heavy"}`)).Approval
	require.NotNil(t, asked)
	b.exec(`UPDATE depot.crates SET weight = 2 WHERE name = 'Lamps'`)
	again := b.approve(asked).Approval
	require.NotNil(t, again, "it is asked again")
	require.Contains(t, again.Text, "This has changed since I asked.")
	require.NotEqual(t, "gone", b.crate("id"))
	require.Nil(t, b.approve(again).Approval)
	require.Equal(t, "gone", b.crate("id"))

	b.ok("write", vocab.ToolCreate, `{"table": "crates", "data": {"name": "Lamps", "weight": 10}}`)
	asked = b.decide("write", call("weigh_crate", `{"this": "crate_2", "weight": 30}`)).Approval
	require.Equal(t, "Lamps would weigh 30. Weigh crate cannot be taken back. Shall I?", asked.Text)
	b.exec(`UPDATE depot.crates SET shelf = 77 WHERE name = 'Lamps'`)
	require.Nil(t, b.approve(asked).Approval, "what the owner's preview says is the same")
	require.Equal(t, "30", b.crate("weight"))
}

// The owner's functions do not run before the user agrees, not even to be rolled back: the number of calls is not.
func TestFunctionsWaitForTheYes(t *testing.T) {
	t.Parallel()

	tables := depotFunctions + `
		CREATE SEQUENCE depot.calls; GRANT USAGE ON depot.calls TO alfred_tenant;
		CREATE FUNCTION depot.ring(this bigint) RETURNS void LANGUAGE sql AS $$ SELECT nextval('depot.calls') $$;
		CREATE FUNCTION depot.bell(this bigint) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'There is no bell.'; END $$;
		CREATE FUNCTION depot.gone() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM nextval('depot.calls'); RETURN NULL; END $$;
		CREATE TRIGGER gone AFTER DELETE ON depot.crates FOR EACH ROW EXECUTE FUNCTION depot.gone();
		GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA depot TO alfred_tenant;`
	b := setupDeclared(t, tables, depotOperations+`
  - {name: ring, function: ring, on: crate, confirm: always}
  - {name: ring_bell, function: ring, on: crate, confirm: always, preview: bell}
`)
	b.ok("write", vocab.ToolCreate, `{"table": "crates", "data": {"name": "Lamps", "weight": 10}}`)
	for want, asks := range map[string]vocab.Call{
		"This would ring":            call("ring", `{"this": "crate_1"}`),
		"This would delete 1 crate:": call(vocab.ToolDelete, `{"table": "crates", "filters": []}`),
	} {
		require.Contains(t, b.decide("write", asks).Approval.Text, want)
	}
	require.Equal(t, "There is no bell.", b.refused("write", "ring_bell", `{"this": "crate_1"}`, crud.CodeViolation), "a preview refuses without a question")
	require.False(t, query[bool](b, `SELECT is_called FROM depot.calls`))
}

// A question about an operation names the row, though its label is that of another, the rows among its arguments, and the
// operations that a yes carries out besides. What was done is told by type, with what the function returned.
func TestOperationsAreToldInFull(t *testing.T) {
	t.Parallel()

	tables := depotFunctions + `
CREATE FUNCTION depot.relabel(this bigint, crate bigint) RETURNS text LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog AS $$
	UPDATE depot.crates SET shelf = 5 WHERE id = relabel.crate; UPDATE depot.labels SET crate_id = relabel.crate WHERE id = this RETURNING 'Glued on ' || text $$;
GRANT EXECUTE ON FUNCTION depot.relabel TO alfred_tenant;`
	b := setupDeclared(t, tables, strings.Replace(depotOperations, `label: "{text}"`, `label: "{text} of {_crate_id_label}"`, 1)+
		`  - {name: relabel, function: relabel, on: label, confirm: always, arguments: {crate: crate}, changes: [crate], trusted: true}`)
	b.ok("write", vocab.ToolCreate, `{"table": "crates", "data": [{"name": "Lamps"}, {"name": "Chairs"}]}`)
	b.ok("write", vocab.ToolCreate, `{"table": "labels", "data": {"text": "Fragile", "crate_id": "crate_1"}}`)
	outcome := b.decide("write", call("relabel", `{"this": "label_1", "crate": "crate_2"}`), call("move_crate", `{"this": "crate_1", "shelf": 9}`))
	require.NotNil(t, outcome.Approval)
	require.Equal(t, "This would relabel: label Fragile of Lamps, crate: Chairs. This would move the crate Lamps, shelf: 9. "+
		"Relabel cannot be taken back. Move crate cannot be taken back. Shall I?", outcome.Approval.Text)
	outcome = b.approve(outcome.Approval)
	require.Equal(t, "Relabel: 1 label: Fragile of Chairs (label_1); 1 crate: Chairs (crate_2); Glued on Fragile; move crate: 1 crate: Lamps (crate_1).", outcome.Summary())
}

// Whoever is asked about one call is told what else waits for the yes: a no took along what nobody had been asked about.
func TestQuestionsNameWhatElseWaits(t *testing.T) {
	t.Parallel()

	b := setupOperations(t)
	b.ok("write", vocab.ToolCreate, `{"table": "crates", "data": [{"name": "Chairs"}, {"name": "Desks"}]}`)
	update := call(vocab.ToolUpdate, `{"table": "crates", "filters": [{"field": "id", "op": "in", "value": ["crate_2", "crate_3"]}], "data": {"weight": 7}}`)
	create, another := call(vocab.ToolCreate, `{"table": "crates", "data": {"name": "Stools"}}`), call(vocab.ToolCreate, `{"table": "crates", "data": {"name": "Beds"}}`)
	weigh := call("weigh_crate", `{"this": "crate_1", "weight": 30}`)
	more := "This would change 2 crates (weight: 7): Chairs, Desks."
	for _, calls := range [][]vocab.Call{{update, create, weigh, another}, {weigh, update, create, another}} {
		outcome := b.decide("write", calls...)
		require.NotNil(t, outcome.Approval)
		require.Equal(t, "Lamps would weigh 30. "+more+" This would add 2 crates: Stools, Beds. Weigh crate cannot be taken back. Shall I?", outcome.Approval.Text)
	}
}

// A deletion that nobody need be asked about alone is told of as well, wherever it stands among the calls.
func TestQuestionsNameDeletionsThatWait(t *testing.T) {
	t.Parallel()

	b := setupOperations(t)
	weigh, remove := call("weigh_crate", `{"this": "crate_1", "weight": 30}`), call(vocab.ToolDelete, `{"table": "crates", "filters": [{"field": "name", "op": "=", "value": "Chairs"}]}`)
	b.ok("write", vocab.ToolCreate, `{"table": "crates", "data": {"name": "Chairs"}}`)
	for _, calls := range [][]vocab.Call{{weigh, remove}, {remove, weigh}} {
		asked := b.decide("write", calls...).Approval
		require.NotNil(t, asked)
		require.Contains(t, asked.Text, "Lamps would weigh 30. This would delete 1 crate: Chairs. ")
	}
}

// Two rows that are called alike are two in a question, too.
func TestQuestionsNameEachOperation(t *testing.T) {
	t.Parallel()

	b := setupOperations(t)
	b.ok("write", vocab.ToolCreate, `{"table": "crates", "data": {"name": "Lamps", "weight": 20}}`)
	back := func(crate string) vocab.Call {
		return call("send_back", `{"this": "`+crate+`", "reason": "too heavy"}`)
	}
	asked := b.decide("write", back("crate_1"), back("crate_2")).Approval
	require.NotNil(t, asked)
	require.Equal(t, 2, strings.Count(asked.Text, "This would send back: crate Lamps, reason: too heavy."), asked.Text)
	b.exec(`UPDATE depot.crates SET weight = 3 WHERE name = 'Lamps'`)
	again := b.approve(asked).Approval
	require.NotNil(t, again)
	require.Equal(t, 1, strings.Count(again.Text, "This has changed since I asked."), again.Text)
}

// A question names the row, whatever the owner's preview says of it.
func TestQuestionsNameTheRow(t *testing.T) {
	t.Parallel()

	b := setupDeclared(t, depotFunctions+`
		CREATE FUNCTION depot.off(this bigint) RETURNS text LANGUAGE sql AS $$ SELECT 'It leaves on Monday.' $$;
		GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA depot TO alfred_tenant;`, depotOperations+`
  - {name: book_crate, function: slip, on: crate, confirm: always, preview: off}
`)
	b.ok("write", vocab.ToolCreate, `{"table": "crates", "data": {"name": "Lamps"}}`)
	outcome := b.decide("write", call("book_crate", `{"this": "crate_1"}`))
	require.Equal(t, "This would book the crate Lamps. It leaves on Monday. Book crate cannot be taken back. Shall I?", outcome.Approval.Text)
	require.Nil(t, b.approve(outcome.Approval).Approval)
}

// Of a great many rows only the first are compared, and no row is taken for a new one because another has gone.
func TestOperationsOnOneOfManyRows(t *testing.T) {
	t.Parallel()

	b := setupOperations(t)
	b.exec(`INSERT INTO depot.crates (user_id, name) SELECT $1, 'Box' FROM generate_series(1, 5001)`, b.scope.UserID)
	result := b.approve(b.decide("write", call("send_back", `{"this": "crate_1", "reason": "too heavy"}`)).Approval).Results[0]
	require.Equal(t, 1, result.RowCount)
	require.Equal(t, "crate_1 deleted", query[string](b, `SELECT string_agg(ref || ' ' || action, ', ') FROM entity_refs WHERE session_id = $1`, b.scope.SessionID))
}

// The rows that an operation names are compared wherever they stand among a great many: it was said to have done nothing.
func TestOperationsOnTheLastOfManyRows(t *testing.T) {
	t.Parallel()

	b := setupOperations(t)
	b.exec(`INSERT INTO depot.crates (user_id, name) SELECT $1, 'Box' FROM generate_series(1, 5001)`, b.scope.UserID)
	b.ok("write", vocab.ToolCreate, `{"table": "crates", "data": {"name": "Chairs", "weight": 10}}`)
	moved := b.decide("write", call("move_crate", `{"this": "crate_2", "shelf": 9}`))
	require.Equal(t, "Move crate: 1 crate: Chairs (crate_2).", moved.Summary())
	gone := b.approve(b.decide("write", call("send_back", `{"this": "crate_2", "reason": "too heavy"}`)).Approval).Results[0]
	require.Equal(t, 1, gone.RowCount)
}

// Keys are ordered as their column is, not as texts are by default.
func TestOperationsAmongManyKeysOfACollation(t *testing.T) {
	t.Parallel()

	b := setupDeclared(t, `
		CREATE SCHEMA paints;
		CREATE COLLATION paints.german (provider = icu, locale = 'de');
		CREATE TABLE paints.crates (
			id text COLLATE paints.german PRIMARY KEY DEFAULT gen_random_uuid(), name text NOT NULL,
			user_id uuid NOT NULL DEFAULT nullif(current_setting('alfred.user_id', true), '')::uuid);
		GRANT SELECT, UPDATE (name) ON paints.crates TO alfred_tenant;
		CREATE FUNCTION paints.paint(this text) RETURNS void LANGUAGE sql AS $$ UPDATE paints.crates SET name = 'Red' WHERE id = this $$;`, `
name: paints
schema: paints
owner: user_id
persona: You keep crates.
entities: [{type: crate, table: crates, label: "{name}", writes: [update], columns: [name]}]
operations: [{name: paint, function: paint, on: crate, confirm: never}]
subdomains: [{name: crates, description: All., tables: [crates]}]
`)
	b.exec(`INSERT INTO paints.crates (user_id, id, name) SELECT $1, l || n, l FROM unnest(ARRAY['a', 'B']) AS l, generate_series(1, 2500) AS n`, b.scope.UserID)
	b.ok("read", vocab.ToolRead, `{"table": "crates", "limit": 1}`)
	b.nextTurn()
	require.Equal(t, 1, b.ok("write", "paint", `{"this": "crate_1"}`).RowCount)
}

// W06: whatever is wrong with an owner's function is reported, and nothing is changed.
func TestW06FunctionsThatFail(t *testing.T) {
	t.Parallel()

	b := setupOperations(t)
	require.Equal(t, "The lift is out of order. It runs again on Monday.", b.refused("write", "lift_crate", `{"this": "crate_1"}`, crud.CodeViolation))
	b.refused("write", "move_crate", `{"this": "crate_9", "shelf": 1}`, crud.CodeUnknownRef)
	b.refused("write", "move_crate", `{"this": "crate_1", "shelf": "high"}`, crud.CodeBadValue)
	b.refused("write", "move_crate", `{"this": "crate_1"}`, crud.CodeBadArgument)
	b.refused("read", "move_crate", `{"this": "crate_1", "shelf": 1}`, crud.CodeUnknownTool)

	listed := b.decide("write", call("list_crates", `{"this": "crate_1"}`)).Results[0]
	require.Empty(t, listed.ErrorMessage)
	require.Empty(t, b.rows(listed), "rows that it returns and did not change are none of the model's")
	require.Zero(t, query[int64](b, `SELECT count(*) FROM entity_refs WHERE session_id = $1 AND label LIKE 'Secret%'`, b.scope.SessionID))

	asked := b.decide("write", call("send_back", `{"this": "crate_1", "reason": "x"}`)).Approval
	b.exec(`DROP FUNCTION depot.send_back`)
	outcome := b.approve(asked)
	require.Equal(t, crud.CodeNotAllowed, outcome.Results[0].ErrorCode)
	require.Equal(t, "send_back is not available any more.", outcome.Results[0].ErrorMessage)
	require.NotEqual(t, "gone", b.crate("id"))
}

// K01: if what an owner's function needs is dropped, renamed or closed under a running worker, this is said in the
// database's words, and nothing is changed.
func TestK01FunctionsWhoseTablesChange(t *testing.T) {
	t.Parallel()

	b := setupOperations(t)
	b.ok("write", "print_slip", `{"this": "crate_1"}`)
	for sql, says := range map[string]string{
		`REVOKE INSERT ON depot.slips FROM alfred_tenant`:          "permission denied for table slips",
		`ALTER TABLE depot.slips DROP COLUMN crate`:                "INSERT has more expressions than target columns",
		`ALTER TABLE depot.slips ALTER crate TYPE date USING null`: `column "crate" is of type date but expression is of type bigint`,
		`DROP TABLE depot.slips`:                                   `relation "depot.slips" does not exist`,
	} {
		b.exec(`SAVEPOINT before`)
		b.exec(sql)
		require.Contains(t, b.refused("write", "print_slip", `{"this": "crate_1"}`, crud.CodeSchemaChanged), says)
		b.exec(`ROLLBACK TO before`)
	}
	b.ok("write", "print_slip", `{"this": "crate_1"}`)
}

// An endless function is stopped, and its locks are released.
func TestW06FunctionThatLoops(t *testing.T) {
	t.Parallel()
	dbtest.Whole(t)

	b := setupOperations(t)
	require.Equal(t, "spin_crate took too long and was stopped; nothing was changed.", b.refused("write", "spin_crate", `{"this": "crate_1"}`, crud.CodeViolation))
	b.ok("write", "move_crate", `{"this": "crate_1", "shelf": 3}`)
}

// A parameter of JSON takes any JSON; a list is no array to it.
func TestOperationsTakeJSON(t *testing.T) {
	t.Parallel()

	b := setupDeclared(t, depotFunctions+`
		CREATE FUNCTION depot.tag(this bigint, data jsonb, more jsonb[] DEFAULT NULL, words text[] DEFAULT NULL) RETURNS text LANGUAGE sql AS $$ SELECT concat_ws(' and ', data, more, words) $$;
		GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA depot TO alfred_tenant;`, depotOperations+"  - {name: tag_crate, function: tag, on: crate, confirm: never}\n")
	b.ok("write", vocab.ToolCreate, `{"table": "crates", "data": {"name": "Lamps"}}`)
	for args, want := range map[string]string{
		`"data": {"a": 1}`:                                `{"a": 1}.`,
		`"data": "{\"a\": 1}"`:                            `{"a": 1}.`,
		`"data": [1, "x"]`:                                `[1, "x"].`,
		`"data": "it is \"fragile\""`:                     `"it is \"fragile\"".`,
		`"data": 3, "more": [{"a": "b"}, [2], "c", null]`: `3 and {"{\"a\": \"b\"}",[2],"\"c\"",NULL}.`,
		`"data": true, "words": ["a\"b", "", "NULL"]`:     `true and {"a\"b","","NULL"}.`,
	} {
		require.Equal(t, want, b.ok("write", "tag_crate", `{"this": "crate_1", `+args+`}`).Notice, args)
		b.scope.Call++
	}
}

// A person's operation is bound to what the person saw and was told before confirming.
func TestK03APersonsOperation(t *testing.T) {
	t.Parallel()

	b := setupOperations(t)
	user, id := crud.User{ID: b.scope.UserID}, b.crate("id")
	operate := func(asked crud.Asked) error {
		_, err := b.tools.Operate(t.Context(), b.tx, user, "crate", id, asked)

		return err
	}
	seen := b.crate("xmin")
	move := crud.Asked{Operation: "move_crate", Args: json.RawMessage(`{"shelf": 4}`), Version: "1"}
	fault := &crud.Error{}
	require.ErrorAs(t, operate(move), &fault)
	require.Equal(t, crud.CodeStale, fault.Code)
	move.Version = seen
	require.NoError(t, operate(move))
	require.Equal(t, "4", b.crate("shelf"))

	weigh, ask := crud.Asked{Operation: "weigh_crate", Args: json.RawMessage(`{"weight": 20}`)}, &crud.ConfirmError{}
	require.ErrorAs(t, operate(weigh), &ask)
	require.Equal(t, "Lamps would weigh 20.", ask.Text)
	weigh.Told = "Lamps would weigh 19."
	require.ErrorAs(t, operate(weigh), &ask, "something else was said before")
	weigh.Told = ask.Text
	require.NoError(t, operate(weigh))
	require.Equal(t, "20", b.crate("weight"))
	back := crud.Asked{Operation: "send_back", Args: json.RawMessage(`{"reason": "broken"}`)}
	require.ErrorAs(t, operate(back), &ask)
	back.Told = ask.Text
	require.NoError(t, operate(back))

	require.Equal(t, []string{
		"crate Lamps called by move_crate, user", "crate Lamps updated by move_crate, user", "crate Lamps called by weigh_crate, user", "crate Lamps updated by weigh_crate, user",
		"crate  called by send_back, user", "crate  deleted by send_back, user",
	}, query[[]string](b, `SELECT array_agg(concat_ws(' ', entity_type, label, action, 'by', operation) || ', ' || actor ORDER BY at) FROM v_row_events
		WHERE user_id = $1 AND entity_id = $2 AND session_id IS NULL`, user.ID, id), "who did what to which row, beside all conversations")
}
