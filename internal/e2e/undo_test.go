package e2e_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"alfred/internal/follow"
	"alfred/internal/llm/offline"
	"alfred/internal/tour"
)

// undoable is what the API says about a turn that wrote.
type undoable struct {
	turn

	Undo *struct {
		Status string     `json:"status"`
		Reason string     `json:"reason"`
		TurnID *uuid.UUID `json:"turn_id"`
	} `json:"undo"`
	Undoes *uuid.UUID `json:"undoes"`
}

func (c *talk) undoable(id uuid.UUID) *undoable {
	c.t.Helper()
	got := &undoable{}
	require.Equal(c.t, http.StatusOK, c.call(http.MethodGet, "/v1/turns/"+id.String()+waiting, nil, got))

	return got
}

// undo undoes a turn with the button.
func (c *talk) undo(id uuid.UUID) *undoable {
	c.t.Helper()
	made := &turn{}
	require.Equal(c.t, http.StatusAccepted, c.call(http.MethodPost, "/v1/turns/"+id.String()+"/undo", nil, made))
	got := c.undoable(made.ID)
	require.Equal(c.t, "succeeded", got.Status, "%+v", got.Error)

	return got
}

// rowsOf are all rows of the user except for what the database sets by itself.
const rowsOf = `SELECT coalesce(string_agg(x.row::text, E'\n' ORDER BY x.row::text), '') FROM (
	SELECT to_jsonb(r) - 'updated_at' AS row FROM kitchen.recipes AS r WHERE user_id = $2
	UNION ALL SELECT to_jsonb(r) - 'updated_at' FROM kitchen.recipe_ingredients AS r WHERE user_id = $2
	UNION ALL SELECT to_jsonb(r) - 'updated_at' FROM kitchen.inventory AS r WHERE user_id = $2
	UNION ALL SELECT to_jsonb(r) - 'updated_at' FROM kitchen.shopping_list AS r WHERE user_id = $2
	UNION ALL SELECT to_jsonb(r) - 'updated_at' FROM kitchen.meal_plans AS r WHERE user_id = $2
	UNION ALL SELECT to_jsonb(r) - 'updated_at' FROM kitchen.tasks AS r WHERE user_id = $2) AS x WHERE $1::uuid IS NOT NULL`

// Every turn of the demo that wrote is undone, last first, which restores the initial rows.
func TestUndoTheDemoBackwards(t *testing.T) {
	t.Parallel()
	c := openHouse(t, fixtures{model: offline.New}).resident("ada").talk()
	start := c.one(rowsOf)
	var turns []uuid.UUID
	for _, one := range tour.Conversation() {
		turns = append(turns, c.say(one.Say).ID)
	}
	require.NotEqual(t, start, c.one(rowsOf))
	undone := 0
	for _, id := range slices.Backward(turns) {
		was := c.undoable(id)
		if was.Undo == nil {
			require.Equal(t, http.StatusConflict, c.call(http.MethodPost, "/v1/turns/"+id.String()+"/undo", nil, nil), "it wrote nothing")

			continue
		}
		require.Equal(t, "possible", was.Undo.Status)
		got := c.undo(id)
		require.Regexp(t, "^Took back “", got.Reply)
		require.Zero(t, got.Usage.Calls, "no model was asked")
		require.Equal(t, id, *got.Undoes)
		after := c.undoable(id)
		require.Equal(t, "done", after.Undo.Status)
		require.Equal(t, got.ID, *after.Undo.TurnID)
		undone++
	}
	require.Equal(t, 4, undone)
	require.Equal(t, start, c.one(rowsOf))
	c.fact("pending generated", `SELECT concat_ws(' ', state, action) FROM entity_refs WHERE session_id = $1 AND ref = 'gen_recipe_1'`)
	c.fact("0", `SELECT count(*) FROM entity_events WHERE session_id = $1 AND actor <> 'user' AND turn_number > 13`)
}

// "Undo that" is understood by the model and done by code; the next turn knows about it, and undoes it in turn.
func TestUndoInWords(t *testing.T) {
	t.Parallel()
	c := openHouse(t, fixtures{model: offline.New}).resident("ada").talk()
	require.Equal(t, "There is nothing to take back.", c.say("undo that").Reply)
	require.Contains(t, c.say("Delete the shakshuka").Reply, "This can be undone.")
	c.fact("2", `SELECT count(*) FROM kitchen.recipes WHERE user_id = $2`)
	got := c.say("undo that")
	require.Contains(t, got.Reply, "brought back Shakshuka Classic")
	require.Equal(t, 1, got.Usage.Calls, "Understand's")
	c.fact("3", `SELECT count(*) FROM kitchen.recipes WHERE user_id = $2`)
	c.fact("stored created:user", `SELECT concat_ws(' ', state, action) FROM entity_refs WHERE session_id = $1 AND label = 'Shakshuka Classic'`)
	c.say("Show my recipes")
	c.fact("true", `SELECT (string_agg(steps::text, ' ') LIKE '%Took back “Delete the shakshuka”%')::text FROM turn_summaries WHERE session_id = $1`)
	again := c.undo(got.ID)
	require.Contains(t, again.Reply, "deleted Shakshuka Classic")
	c.fact("2", `SELECT count(*) FROM kitchen.recipes WHERE user_id = $2`)
}

// An undo waits while the next turn runs, and then takes that turn into account. A message that arrives during an undo
// waits for it, and its turn knows what was undone.
func TestUndoWhileTheNextTurnRuns(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	c, m := interruptible(t, twoMilks)
	m.at(2, "understand", 1, func() {
		select {
		case <-gate:
		case <-t.Context().Done():
		}
	})
	first := c.say("milk on the list")
	running := c.enqueue(message{"message": "make that three"})
	path, made := "/v1/turns/"+first.ID.String()+"/undo", &turn{}
	require.Equal(t, http.StatusConflict, c.call(http.MethodPost, path+"?if_busy=reject", nil, nil))
	require.Equal(t, http.StatusAccepted, c.call(http.MethodPost, path, nil, made))
	require.Equal(t, "queued", made.Status)
	close(gate)
	c.end(running)
	require.Contains(t, c.undoable(made.ID).Reply, "has changed since (quantity), by what you asked with “make that three”. Nothing was taken back.")
	const quantity = `SELECT quantity FROM kitchen.shopping_list WHERE user_id = $2 AND name = 'milk'`
	c.fact("3", quantity)

	tx, err := c.pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `SELECT FROM kitchen.shopping_list WHERE name = 'milk' FOR UPDATE`)
	require.NoError(t, err)
	undo := &turn{}
	require.Equal(t, http.StatusAccepted, c.call(http.MethodPost, "/v1/turns/"+running.ID.String()+"/undo", nil, undo))
	next := c.enqueue(message{"message": "how much milk?"})
	require.Equal(t, "queued", c.one(`SELECT status FROM turns WHERE session_id = $1 AND number = 5`))
	require.NoError(t, tx.Rollback(t.Context()))
	require.Contains(t, c.undoable(undo.ID).Reply, "Took back “make that three”")
	c.end(next)
	require.Contains(t, c.prompt(5, "think", 1), "Took back “make that three”")
	c.fact("1", quantity)
}

const twoMilks = `
turns:
  - understand: {intent: write}
    think: {goal: Add milk, decision: plan, steps: [{type: write, subdomain: shopping, description: Add milk, calls: [{tool: db_create, table: shopping_list, data: {name: milk, quantity: 1}}]}]}
    reply: It is on the list.
  - understand: {intent: write}
    think: {goal: Three, decision: plan, steps: [{type: write, subdomain: shopping, description: Make it three, refs: [shop_1], calls: [{tool: db_update, table: shopping_list, filters: [{field: id, op: "=", value: shop_1}], set: [{column: quantity, value: 3}]}]}]}
    act: {calls: [{tool: db_update, args: {table: shopping_list, filters: [{field: id, op: "=", value: shop_1}], set: [{column: quantity, value: 3}]}}, {tool: step_complete, args: {summary: three}}]}
    reply: Three.
  - {}
  - {}
  - understand: {intent: chat}
    think: {goal: Talk, decision: plan, steps: []}
    reply: One.
`

// What prevents an undo is reported, and nothing happens; what can never be undone is refused at once.
func TestImpossibleUndos(t *testing.T) {
	t.Parallel()
	h := openHouse(t, fixtures{model: offline.New})
	c := h.resident("ada").talk()
	added := c.say("Add 12 eggs to the fridge")
	c.exec(`UPDATE kitchen.inventory SET quantity = 3 WHERE user_id = $1 AND name = 'eggs' AND location = 'fridge' AND quantity = 12`)
	got := c.undo(added.ID)
	require.Contains(t, got.Reply, "has changed since (quantity), by another program")
	require.Equal(t, "write failed", got.outcomes())
	require.Equal(t, "possible", c.undoable(added.ID).Undo.Status)
	c.exec(`UPDATE kitchen.inventory SET quantity = 12 WHERE user_id = $1 AND name = 'eggs' AND location = 'fridge' AND quantity = 3`)
	require.Contains(t, c.undo(added.ID).Reply, "Took back “Add 12 eggs to the fridge”")

	problem := func(p *person, id uuid.UUID) (int, string) {
		var out struct {
			Code string `json:"code"`
		}
		status := p.call(http.MethodPost, "/v1/turns/"+id.String()+"/undo", nil, &out)

		return status, out.Code
	}
	for name, bad := range map[string]struct {
		who    *person
		turn   uuid.UUID
		status int
		code   string
	}{
		"taken back already": {c.person, added.ID, http.StatusConflict, "conflict"},
		"wrote nothing":      {c.person, c.say("What is in my pantry?").ID, http.StatusConflict, "conflict"},
		"of another user":    {h.guest("eve"), added.ID, http.StatusNotFound, "not_found"},
		"there is none":      {c.person, uuid.New(), http.StatusNotFound, "not_found"},
	} {
		status, code := problem(bad.who, bad.turn)
		require.Equal(t, bad.status, status, name)
		require.Equal(t, bad.code, code, name)
	}

	// While the next turn runs, the undo waits for it; the same key is the same turn.
	second := c.say("Add 2 lemons to my shopping list")
	running := c.enqueue(message{"message": "What is in my pantry?"})
	first, same := &turn{}, &turn{}
	require.Equal(t, http.StatusAccepted, c.call(http.MethodPost, "/v1/turns/"+second.ID.String()+"/undo", nil, first, "Idempotency-Key", "k1"))
	require.Equal(t, http.StatusOK, c.call(http.MethodPost, "/v1/turns/"+second.ID.String()+"/undo", nil, same, "Idempotency-Key", "k1"))
	require.Equal(t, first.ID, same.ID)
	c.end(running)
	require.Contains(t, c.undoable(first.ID).Reply, "Took back “")
	raw, err := json.Marshal(c.undoable(first.ID))
	require.NoError(t, err)
	require.Contains(t, string(raw), "undo")
}

// Of a message that changed nothing, the reply says that and which one is meant: whoever asks to take back the one before may mean
// another.
func TestUndoOfAReadSaysWhatChangedNothing(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: read}
    think: {goal: Show them, decision: plan, steps: [], calls: [{tool: db_read, table: recipes}]}
    reply: You have 3.
  - understand: {intent: write}
    think: {goal: Undo it, decision: plan, steps: [], calls: [{tool: undo, filters: [{field: turn, op: "=", value: 1}]}]}
`)
	c.say("Show my recipes")
	require.Equal(t, "Nothing of “Show my recipes” can be taken back: it changed nothing.", c.say("undo the one before").Reply)
}

// doubledButter changes nothing but a part of a recipe; the reply is left to the test.
const doubledButter = `
turns:
  - understand: {intent: write}
    think: {goal: Double it, decision: plan, steps: [
      {type: read, subdomain: recipes, description: Find it, calls: [{tool: db_read, table: recipes, filters: [{field: name, op: "=", value: Butter Chicken}], detail: rows}]},
      {type: write, subdomain: recipes, description: Double the butter}]}
    act: [{calls: [{tool: db_update, args: {table: recipe_ingredients, filters: [{field: recipe_id, op: "=", value: recipe_1}, {field: name, op: "=", value: butter}], set: [{column: quantity, value: 100}]}}, {tool: step_complete, args: {summary: doubled}}]}]
`

// What an undo set back is told with what it is again, and a part of a row as such: it is often called like the row that it
// points to.
func TestUndoSaysWhatPartsAre(t *testing.T) {
	t.Parallel()
	c := converse(t, doubledButter+`    reply: Doubled.
`)
	require.Equal(t, "Took back “Double the butter”: set back the recipe ingredient 50 g butter.", c.undo(c.say("Double the butter").ID).Reply)
}

// A part that a turn wrote alone is told like any row, under a reply that does not name it and where no model answers.
func TestAPartWrittenAloneIsTold(t *testing.T) {
	t.Parallel()
	const refused = "{error: {kind: refusal}}"
	deleted := strings.NewReplacer("db_update", "db_delete", ", set: [{column: quantity, value: 100}]", "").Replace(doubledButter)
	for _, c := range []struct{ turn, reply, want string }{
		{doubledButter, refused, "(?s)^Found 1 recipe:\n- .*\n  - 100 g butter\n.*\n\nChanged 1 recipe ingredient:\n- 100 g butter$"},
		{deleted, refused, "Deleted 1 recipe ingredient:\n- .*butter"},
		{deleted, "Done.", "(?s)^Done\\..*Deleted: butter\\.\n"},
		{deleted, "I have deleted the butter.", "^I have deleted the butter\\.\n\nThis can be undone\\.$"},
	} {
		require.Regexp(t, c.want, converse(t, c.turn+"    reply: "+c.reply+"\n").say("Change the butter").Reply)
	}
}

// What a draft holds again is not told as deleted.
func TestUndoOfASavedDraftTellsOfTheDraft(t *testing.T) {
	t.Parallel()
	c := openHouse(t, fixtures{model: offline.New}).resident("ada").talk()
	c.say("Draft a Thai basil chicken")
	c.say("Yes")
	require.Equal(t, "Took back “Yes”: Thai Basil Chicken is a draft again.", c.say("Undo that").Reply)
}

// A yes says nothing of what it permitted: the message that was asked back about does.
func TestUndoOfAnApprovedWriteNamesTheWish(t *testing.T) {
	t.Parallel()
	c := openHouse(t, fixtures{model: offline.New}).resident("ada").talk()
	require.Contains(t, c.say("Delete all recipes").Reply, "?")
	c.say("Yes")
	require.Regexp(t, "^Took back “Delete all recipes”: brought back ", c.say("Undo that").Reply)
}

// Who says no and wants something else has asked for that.
func TestUndoOfWhatWasWantedInsteadNamesIt(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: write, think: null, say: "", calls: [{tool: db_delete, table: recipes, filters: [{field: name, op: is_not_null}]}]}
    act: {calls: [{tool: db_delete, args: {table: recipes, filters: [{field: name, op: is_not_null}]}}]}
    reply: Shall I?
  - understand: {intent: write, answers_question: true, think: null, say: "", calls: [{tool: db_create, table: shopping_list, set: [{column: name, value: bread}]}]}
    reply: Bread is on your list.
`)
	require.Contains(t, c.say("Delete all recipes").Reply, "?")
	wrote := c.say("No, put bread on my list")
	require.Equal(t, "Bread is on your list.", wrote.Reply)
	require.Equal(t, "Took back “No, put bread on my list”: deleted bread.", c.undo(wrote.ID).Reply)
}

// A client sees from the rows what an undo did, as it does of any turn; what the person did by hand before it is not the turn's.
func TestUndoTellsWhatItWrote(t *testing.T) {
	t.Parallel()
	c := converse(t, `
turns:
  - understand: {intent: write}
    think: {goal: Move it, decision: plan, steps: [{type: write, subdomain: recipes, description: Delete it and buy eggs}, {type: write, subdomain: shopping, description: Buy eggs}]}
    act: [{calls: [{tool: db_delete, args: {table: recipes, filters: [{field: name, op: "=", value: Shakshuka Classic}]}}, {tool: step_complete, args: {summary: deleted}}]}, {calls: [{tool: db_create, args: {table: shopping_list, data: {name: eggs}}}, {tool: step_complete, args: {summary: added}}]}]
    reply: Done.
`)
	whole := func(rows []follow.Wrote) []follow.Wrote {
		return slices.DeleteFunc(rows, func(row follow.Wrote) bool { return row.Type == "ri" })
	}
	wrote := c.say("no shakshuka, but eggs")
	require.Equal(t, []follow.Wrote{{Action: "deleted", Type: "recipe", Ref: "recipe_1", Label: "Shakshuka Classic"}, {Action: "created", Type: "shop", Ref: "shop_1", Label: "eggs"}}, wrote.Wrote)
	require.Equal(t, http.StatusCreated, c.call(http.MethodPost, "/v1/data/task?session="+c.session.String(), message{"title": "Sweep"}, nil))

	back := c.undo(wrote.ID)
	told := []follow.Wrote{{Action: "deleted", Type: "shop", Ref: "shop_1", Label: "eggs"}, {Action: "created", Type: "recipe", Ref: "recipe_1", Label: "Shakshuka Classic"}}
	require.Equal(t, told, whole(back.Wrote))
	listed := &struct {
		Items []turn `json:"items"`
	}{}
	require.Equal(t, http.StatusOK, c.call(http.MethodGet, c.path("/turns"), nil, listed))
	require.Equal(t, told, whole(listed.Items[1].Wrote))
	require.Equal(t, wrote.Wrote, whole(c.undo(back.ID).Wrote), "done again")
}
