package view

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/domain"
	"alfred/internal/vocab"
	"alfred/nodes"
	"alfred/registry"
)

// A scene is made once for each view. A copy, which carries a view across a commit, does not take its scenes along.
func TestScenesBelongToTheirView(t *testing.T) {
	t.Parallel()

	ref := &db.EntityRefListInViewRow{Ref: "vase_1", EntityType: "vase", Tier: "recent"}
	v := &View{Domain: &domain.Domain{}, Turn: &db.Turns{Number: 1}, Registry: []*db.EntityRefListInViewRow{ref}}
	scene := v.Scene(true)
	require.Same(t, scene, v.Scene(true))

	next := *v
	next.Stale = map[string]string{ref.Ref: StaleGone}
	require.Empty(t, v.Scene(true).ByRef[ref.Ref].Stale)
	require.Equal(t, StaleGone, next.Scene(true).ByRef[ref.Ref].Stale)
	require.Same(t, &next, next.Scene(true).View)
	require.Same(t, v, v.Scene(true).View)
}

// A time zone that this machine does not know counts as UTC.
func TestUnknownTimeZoneIsUTC(t *testing.T) {
	t.Parallel()

	v, at := &View{}, time.Date(2026, time.May, 1, 12, 0, 0, 0, time.UTC)
	v.begin(at, "Mars/Olympus")
	require.Equal(t, at, v.Began)
}

// A late summary may see that its turn's question was answered; another turn did that.
func TestAnsweredIsByThisTurn(t *testing.T) {
	t.Parallel()

	by := func(turn int32) *View {
		return &View{Turn: &db.Turns{Number: 3}, Questions: []*db.QuestionListTurnRow{{Status: "answered", AnsweredByTurn: &turn}}}
	}
	require.NotNil(t, by(3).Answered())
	require.Nil(t, by(4).Answered())
}

// Schema requests do not count against a step's limit.
func TestCallsCountWhatIsLimited(t *testing.T) {
	t.Parallel()

	step := int32(1)
	made := func(acted Acted) *Run {
		return &Run{NodeRunListMadeRow: &db.NodeRunListMadeRow{Step: &step}, Acted: &acted}
	}
	asks := Acted{ActOutput: nodes.ActOutput{RequestSchema: &nodes.RequestSchema{Table: "vases"}}}
	require.Equal(t, 2, (&View{Runs: []*Run{made(Acted{}), made(asks), made(Acted{})}}).Calls(1))
}

// Which steps depend on earlier ones: a plan whose first step failed goes on with the others.
func TestDepends(t *testing.T) {
	t.Parallel()

	step := func(kind db.StepType, refs ...string) *db.TurnSteps {
		return &db.TurnSteps{StepType: kind, Subdomain: "vases", Refs: refs}
	}
	v := &View{Domain: &domain.Domain{}}
	require.True(t, v.DependsOn(step(db.StepTypeWrite), step(db.StepTypeRead)), "it is to show what was written")
	require.False(t, v.DependsOn(step(db.StepTypeRead), step(db.StepTypeRead)))
	require.True(t, v.DependsOn(step(db.StepTypeRead, "vase_1"), step(db.StepTypeRead, "vase_1")))
	require.True(t, v.DependsOn(step(db.StepTypeGenerate), step(db.StepTypeWrite)))
	require.True(t, v.DependsOn(step(db.StepTypeRead), step(db.StepTypeAnalyze)))

	for _, looks := range []db.StepType{db.StepTypeRead, db.StepTypeAnalyze} {
		require.False(t, v.FallsWith(step(db.StepTypeWrite, "vase_1"), step(looks, "vase_1")), "the vase is there, changed or not")
		require.True(t, v.FallsWith(step(db.StepTypeWrite, "gen_vase_1"), step(looks, "gen_vase_1")), "it was to be saved")
	}
	require.True(t, v.FallsWith(step(db.StepTypeWrite), step(db.StepTypeWrite)))
	require.True(t, v.FallsWith(step(db.StepTypeRead), step(db.StepTypeAnalyze)))
}

// A step whose calls are written out already is not decided beside another one.
func TestBesideAreTheUndecided(t *testing.T) {
	t.Parallel()

	read := func(number int32, calls string) *db.TurnSteps {
		return &db.TurnSteps{Step: number, StepType: db.StepTypeRead, Subdomain: "vases", Calls: []byte(calls)}
	}
	v := &View{Domain: &domain.Domain{}, Steps: []*db.TurnSteps{read(1, ""), read(2, "[{}]"), read(3, "")}}
	require.Equal(t, v.Steps[2:], v.StepsBeside(v.Steps[0]))
}

// Results stand in the order in which they were made: an interrupting turn ran before those with lower numbers.
func TestResultsAreInOrder(t *testing.T) {
	t.Parallel()

	v := &View{Turn: &db.Turns{Number: 2}, Past: []*db.TurnListPastRow{{Number: 1}, {Number: 3}}, Results: []*Result{{TurnStepResultListWindowRow: &db.TurnStepResultListWindowRow{TurnNumber: 3, Step: 1, Call: 1}}}}
	require.NoError(t, v.addResults([]*db.TurnStepResultInsertParams{{Step: 1, Call: 2, Rows: []byte(`[]`)}, {Step: 1, Call: 1, Rows: []byte(`[]`)}}))
	var order [][2]int32
	for _, r := range v.Results {
		order = append(order, [2]int32{r.TurnNumber, r.Call})
	}
	require.Equal(t, [][2]int32{{3, 1}, {2, 1}, {2, 2}}, order)
}

// A draft that its user changed for the coming turn is still the turn's; one of a turn that interrupted never was.
func TestDraftsOfNow(t *testing.T) {
	t.Parallel()

	s := &Scene{View: &View{Turn: &db.Turns{Number: 2}, Past: []*db.TurnListPastRow{{Number: 1}, {Number: 3}}}}
	for touched, want := range map[int32]bool{1: false, 2: true, 3: false, 4: true} {
		e := &Entity{EntityRefListInViewRow: &db.EntityRefListInViewRow{State: db.RefStatePending, Tier: "generated", TurnLastRef: touched}}
		require.Equal(t, want, s.IsDraftOfNow(e), touched)
	}
}

// What a user changed for a turn that interrupted is past; what was changed for the coming turn has not been seen.
func TestUsersChangesOfTheComingTurnAreNotSeen(t *testing.T) {
	t.Parallel()

	for touched, want := range map[int32]string{3: "", 4: StaleChanged} {
		key, version := "x", "b"
		v := &View{Turn: &db.Turns{Number: 2}, Past: []*db.TurnListPastRow{{Number: 1}, {Number: 3}}, Stale: map[string]string{}}
		now := map[string]string{key: version}
		v.Versions.Rows = map[string]map[string]string{"recipe": now}
		v.compare([]*Entity{{Shown: true, EntityRefListInViewRow: &db.EntityRefListInViewRow{
			Ref: "recipe_1", EntityType: "recipe", EntityID: &key, RowVersion: &version, Action: registry.ActionUpdatedUser, TurnLastRef: touched,
		}}}, now)
		require.Equal(t, want, v.Stale["recipe_1"], touched)
	}
}

// What this turn drafted is what it has drafted without an error and nobody has saved.
func TestDraftedNow(t *testing.T) {
	t.Parallel()

	failed := "bad_value"
	for name, test := range map[string]struct {
		state   db.RefState
		failure *string
		drafted bool
	}{
		"draft":  {db.RefStatePending, nil, true},
		"saved":  {db.RefStatePromoted, nil, false},
		"failed": {db.RefStatePending, &failed, false},
	} {
		results := []*Result{{TurnStepResultListWindowRow: &db.TurnStepResultListWindowRow{Tool: vocab.ToolGenerate, Refs: []string{"gen_recipe_1"}, ErrorCode: test.failure}}}
		s := &Scene{View: &View{Turn: &db.Turns{}, Results: results}, Entities: []*Entity{{EntityRefListInViewRow: &db.EntityRefListInViewRow{Ref: "gen_recipe_1", State: test.state}}}}
		require.Equal(t, test.drafted, len(s.DraftedNow()) > 0, name)
	}
}
