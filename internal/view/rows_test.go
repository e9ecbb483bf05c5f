package view_test

import (
	"encoding/json"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/dbtest"
	"alfred/internal/domain"
	"alfred/internal/exact"
	"alfred/internal/testfactory"
	"alfred/internal/view"
	"alfred/internal/vocab"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// made is a scene of turn 3 in the kitchen, with a recipe and two of its ingredients.
func made(t *testing.T, results ...*view.Result) *view.Scene {
	t.Helper()

	v := &view.View{Domain: testfactory.Kitchen(t), Turn: &db.Turns{ID: thisTurn, Number: 3}, Results: results}
	for ref, entityType := range map[string]string{"recipe_1": "recipe", "ri_1": "ri", "ri_2": "ri", "log_1": "log"} {
		v.Registry = append(v.Registry, &db.EntityRefListInViewRow{Ref: ref, EntityType: entityType, State: db.RefStateStored, TurnCreated: 1})
	}

	return v.Scene(true)
}

var thisTurn = uuid.New()

// read is what a call of a turn returned.
func read(t *testing.T, turn int32, entityType, rows string) *view.Result {
	t.Helper()

	r := &view.Result{TurnStepResultListWindowRow: &db.TurnStepResultListWindowRow{TurnNumber: turn, Step: 1, Call: 1, Tool: vocab.ToolRead, EntityType: &entityType}}
	if turn == 3 {
		r.TurnID = thisTurn
	}
	require.NoError(t, exact.Decode([]byte(rows), &r.Rows))

	return r
}

const (
	ofTwo = `[{"id": "recipe_1", "name": "Soup", "recipe_ingredients": [{"id": "ri_1", "name": "salt"}, {"id": "ri_2", "name": "rice"}]}]`
	ofOne = `[{"id": "recipe_1", "name": "Soup", "recipe_ingredients": [{"id": "ri_2", "name": "rice"}]}]`
	alone = `[{"id": "ri_1", "recipe_id": "recipe_1", "name": "salt"}]`
)

// The newest list says which children a row has: not an older one, and not a child that was shown before by itself.
func TestChildrenAreThoseOfTheNewestList(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		results []*view.Result
		has     []string
	}{
		"the newer list":              {[]*view.Result{read(t, 1, "recipe", ofTwo), read(t, 2, "recipe", ofOne)}, []string{"ri_2"}},
		"a child shown before":        {[]*view.Result{read(t, 1, "ri", alone), read(t, 2, "recipe", ofOne)}, []string{"ri_2"}},
		"shown before, and in a list": {[]*view.Result{read(t, 1, "recipe", ofTwo), read(t, 1, "ri", alone), read(t, 2, "recipe", ofOne)}, []string{"ri_2"}},
		"a child written afterwards":  {[]*view.Result{read(t, 1, "recipe", ofOne), read(t, 2, "ri", alone)}, []string{"ri_2", "ri_1"}},
	} {
		require.Equal(t, c.has, made(t, c.results...).Rows.ByRef["recipe_1"].Children["recipe_ingredients"], name)
	}
}

// A ref of another type, such as one from before the declaration renamed the type, names no row of this one.
func TestRowsOfAnotherTypeAreLoose(t *testing.T) {
	t.Parallel()

	scene := made(t, read(t, 2, "recipe", `[{"id": "recipe_1", "recipe_ingredients": [{"id": "recipe_1", "name": "salt"}]}]`))
	row := scene.Rows.ByRef["recipe_1"]
	require.Empty(t, row.Children["recipe_ingredients"])
	require.Len(t, row.Loose["recipe_ingredients"], 1)
	require.NotContains(t, row.Columns, "name")
}

// What the user pointed at or changed outside is no effect of the turn's steps.
func TestEffectsAreOfSteps(t *testing.T) {
	t.Parallel()

	pointed := read(t, 3, "recipe", ofTwo)
	pointed.Step = 0
	require.Empty(t, made(t, pointed).Effects())
	require.Len(t, made(t, read(t, 3, "recipe", ofTwo)).Effects(), 1)
}

// An operation that only creates rows of another type than its own, as a booking of a vehicle does, has done something: a
// reply was told that nothing had been saved, and the booking was made a second time.
func TestOperationsChangeRowsOfOtherTypes(t *testing.T) {
	t.Parallel()

	booked := read(t, 3, "recipe", `[{"id": "ri_1", "name": "salt", "_type": "ri"}, {"id": "recipe_1", "name": "Soup"}]`)
	booked.Tool = "book"
	scene := made(t, booked)
	scene.Steps = []*db.TurnSteps{{Step: 1, StepType: db.StepTypeWrite}}
	effects := scene.Effects()
	require.Len(t, effects, 2)
	require.Equal(t, []string{"ri_1"}, effects[0].Refs)
	require.Equal(t, "ri", effects[0].Kind.Type)
	require.Equal(t, []string{"recipe_1"}, effects[1].Refs)
	require.Equal(t, "salt", scene.Rows.ByRef["ri_1"].Columns["name"])
	require.NotContains(t, scene.Rows.ByRef["ri_1"].Columns, vocab.TypeField)
	require.Empty(t, scene.WroteNothing())
}

// A decision expects the version that it was shown, which a row that has changed since does not have any more.
func TestUnchangedIsNotStale(t *testing.T) {
	t.Parallel()

	key, version := "k", "1"
	for stale, unchanged := range map[string]bool{"": true, view.StaleChanged: false} {
		v := &view.View{Domain: testfactory.Kitchen(t), Turn: &db.Turns{Number: 3}, Stale: map[string]string{"recipe_1": stale}}
		v.Registry = []*db.EntityRefListInViewRow{{Ref: "recipe_1", EntityType: "recipe", EntityID: &key, RowVersion: &version, State: db.RefStateStored}}
		v.Versions.Rows = map[string]map[string]string{"recipe": {key: version}}
		require.Equal(t, unchanged, v.Scene(true).Unchanged([]string{"recipe_1"}), stale)
	}
}

// If the probe fails because tables are being changed, a decision still expects the versions that its rows were read with:
// what somebody else has written meanwhile is not overwritten.
func TestFailedProbeExpectsWhatWasRead(t *testing.T) {
	t.Parallel()

	kitchen := testfactory.OwnKitchen(t)
	kitchen.ByType("recipe").Table = "renamed"
	tx := dbtest.Tx(t)
	_, err := tx.Exec(t.Context(), view.Savepoint)
	require.NoError(t, err)
	key, version := uuid.NewString(), "1"
	v := &view.View{Domain: kitchen, Turn: &db.Turns{UserID: uuid.New(), Number: 3}, Results: []*view.Result{read(t, 2, "recipe", ofTwo)}}
	v.Registry = []*db.EntityRefListInViewRow{{Ref: "recipe_1", EntityType: "recipe", EntityID: &key, RowVersion: &version, State: db.RefStateStored}}
	probed, err := view.Probe(t.Context(), tx, v, false)
	require.NoError(t, err)
	require.Equal(t, map[string]string{key: version}, probed.Versions.Rows["recipe"])
	require.Empty(t, probed.Stale)
}

// Nobody tells times by the second: where they are zero, and fractions, no line of a row has them.
func TestTimesAreShownWithoutEmptySeconds(t *testing.T) {
	t.Parallel()

	log := func(at string) *view.Result {
		return read(t, 2, "log", `[{"id": "log_1", "cooked_at": "`+at+`", "notes": "2026-11-27T18:00:00Z"}]`)
	}
	for stored, shown := range map[string]string{
		"2026-11-27T18:00:00+00:00": "2026-11-27T18:00+00:00", "2026-11-27T18:00:00.123456": "2026-11-27T18:00", "2026-11-27T18:00:05.5Z": "2026-11-27T18:00:05Z",
	} {
		row := made(t, log(stored)).Rows.ByRef["log_1"]
		require.Equal(t, map[string]any{"id": "log_1", "cooked_at": shown, "notes": "2026-11-27T18:00:00Z"}, row.Columns)
		require.Equal(t, domain.Moment(stored), domain.Moment(shown))
	}
	slot := &domain.Column{Name: "slot", Holds: "timestamp with time zone"}
	shift := &domain.Entity{Type: "shift", Table: "shifts", Key: &domain.Column{Name: "id"}, Columns: []*domain.Column{slot}}
	for stored, shown := range map[string]string{
		`["2026-11-27 09:00:00+01","2026-11-27 10:30:00+01")`:       `["2026-11-27 09:00+01","2026-11-27 10:30+01")`,
		`["2026-11-27 09:00:00+05:30","2026-11-27 10:00:30+05:30")`: `["2026-11-27 09:00+05:30","2026-11-27 10:00:30+05:30")`,
		`["2026-11-27 09:00:00",)`:                                  `["2026-11-27 09:00",)`,
		`[09:00:00,17:00:00)`:                                       `[09:00,17:00)`,
	} {
		quoted, err := json.Marshal(stored)
		require.NoError(t, err)
		v := &view.View{Domain: domain.New(domain.Domain{Entities: []*domain.Entity{shift}}), Turn: &db.Turns{Number: 3}}
		v.Registry = []*db.EntityRefListInViewRow{{Ref: "shift_1", EntityType: "shift", State: db.RefStateStored}}
		v.Results = []*view.Result{read(t, 2, "shift", `[{"id": "shift_1", "slot": `+string(quoted)+`}]`)}
		require.Equal(t, shown, v.Scene(true).Rows.ByRef["shift_1"].Columns["slot"])
		require.Equal(t, domain.Moment(stored), domain.Moment(shown))
		require.NotEqual(t, stored, domain.Moment(stored))
	}
	require.Equal(t, "09:00 to 17:00", domain.Moment(`[09:00:00,17:00:00)`))
}
