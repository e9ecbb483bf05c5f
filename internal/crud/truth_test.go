package crud_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"alfred/internal/crud"
	"alfred/internal/dbtest"
	"alfred/internal/domain"
	"alfred/internal/testfactory"
	"alfred/internal/vocab"
)

func (b *bundle) draft() map[string]any {
	b.t.Helper()

	return b.rows(b.ok("read", vocab.ToolRead, `{"table": "recipes", "filters": [{"field": "id", "op": "=", "value": "gen_recipe_1"}]}`))[0]
}

func change(content string) string {
	return `{"updates": [{"ref": "gen_recipe_1", "content": ` + content + `}]}`
}

func TestV01AnUpdateOfADraftIsAMergePatch(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ok("generate", vocab.ToolGenerate, curry)
	before := b.draft()

	b.ok("generate", vocab.ToolGenerate, change(`{"name": "Tuna Spaghetti"}`))
	after := b.draft()
	require.Equal(t, "Tuna Spaghetti", after["name"])
	require.Equal(t, before["instructions"], after["instructions"])
	require.Equal(t, before["recipe_ingredients"], after["recipe_ingredients"])

	names := column[string](rowsIn(before), "name")
	b.ok("generate", vocab.ToolGenerate, change(`{"recipe_ingredients": {"2": {"quantity": 7}, "gen_ri_4": {"name": "Lime"}}}`))
	rows := rowsIn(b.draft())
	require.Equal(t, append(append([]string{}, names...), "Lime"), column[string](rows, "name"))
	require.InDelta(t, 7, rows[1]["quantity"], 0)

	message := b.refused("generate", vocab.ToolGenerate, change(`{"recipe_ingredients": [{"name": "Lime"}]}`), crud.CodeBadArgument)
	require.Contains(t, message, "has 4 entries and this would leave 1. Change single ones by their position, 1 to 4, where an empty set removes one and position 5 adds one")
	require.Len(t, rowsIn(b.draft()), 4, "nothing is lost by naming what is new")

	result := b.ok("generate", vocab.ToolGenerate, change(`{"recipe_ingredients": {"4": null}}`))
	require.Contains(t, result.Notice, "lime", "what is taken out is told")
	require.Len(t, rowsIn(b.draft()), 3)
	b.ok("generate", vocab.ToolGenerate, change(`{"recipe_ingredients": []}`))
	require.Empty(t, rowsIn(b.draft()))
}

// A list of texts may be condensed to half as many or reworded; fewer would lose what the model left out. A reworded
// text does not count as removed.
func TestV01TextsOfADraftAreCondensed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ok("generate", vocab.ToolGenerate, `{"creates": [{"type": "recipe", "content": {"name": "Curry", "instructions": ["Chop.", "Fry.", "Simmer.", "Serve."]}}]}`)
	require.Contains(t, b.refused("generate", vocab.ToolGenerate, change(`{"instructions": ["Cook."]}`), crud.CodeBadArgument), "has 4 entries and this would leave 1")
	worded := b.ok("generate", vocab.ToolGenerate, change(`{"instructions": ["Cut.", "Brown.", "Boil.", "Eat."]}`))
	require.NotContains(t, worded.Notice, "Taken out")
	b.ok("generate", vocab.ToolGenerate, change(`{"instructions": ["Cut and brown.", "Boil and eat."]}`))
	require.Equal(t, []any{"Cut and brown.", "Boil and eat."}, b.draft()["instructions"])

	b.ok("generate", vocab.ToolGenerate, change(`{"instructions": {"3": "Rest.", "4": "Wash up.", "5": "Sleep."}}`))
	require.Contains(t, b.refused("generate", vocab.ToolGenerate, change(`{"instructions": ["Cook.", "Clean."]}`), crud.CodeBadArgument), "has 5 entries and this would leave 2")
}

func rowsIn(draft map[string]any) []map[string]any {
	list, _ := draft["recipe_ingredients"].([]any)
	rows := make([]map[string]any, 0, len(list))
	for _, one := range list {
		if row, ok := one.(map[string]any); ok {
			rows = append(rows, row)
		}
	}

	return rows
}

func TestV01ADraftPatchedIntoWhatTheTypeRefusesStaysAsItWas(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ok("generate", vocab.ToolGenerate, curry)
	before := b.draft()
	b.refused("generate", vocab.ToolGenerate, change(`{"name": null}`), crud.CodeViolation)
	b.refused("generate", vocab.ToolGenerate, change(`{"servings": "many", "instructions": "Boil."}`), crud.CodeBadArgument)
	require.Equal(t, before, b.draft())
}

func TestV01SavingWithAPatchMeansTheSame(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ok("generate", vocab.ToolGenerate, curry)
	result := b.ok("write", vocab.ToolCreate, `{"table": "recipes", "from_ref": "gen_recipe_1", "patch": {"recipe_ingredients": {"1": {"notes": "fresh"}}}}`)
	rows := rowsIn(b.rows(result)[0])
	require.Len(t, rows, 3)
	require.Equal(t, "fresh", rows[0]["notes"])
}

func TestV09ARangeOfRefsIsAFilter(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ok("read", vocab.ToolRead, `{"table": "recipes"}`)
	result := b.ok("read", vocab.ToolRead, `{"table": "recipes", "filters": [{"field": "id", "op": "=", "value": "recipe_1..recipe_2"}]}`)
	require.Equal(t, []string{"recipe_1", "recipe_2"}, result.Refs)

	b.ok("generate", vocab.ToolGenerate, `{"creates": [{"type": "recipe", "content": {"name": "Curry"}}, {"type": "recipe", "content": {"name": "Soup"}}]}`)
	result = b.ok("read", vocab.ToolRead, `{"table": "recipes", "filters": [{"field": "id", "op": "=", "value": "gen_recipe_1..gen_recipe_2"}]}`)
	require.Equal(t, []string{"gen_recipe_1", "gen_recipe_2"}, result.Refs, "of drafts too")
}

func TestV11AllFaultsOfADecisionAreReportedAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	message := b.refused("write", vocab.ToolCreate, `{"table": "tasks", "data": [{"due_date": "soon", "completed": "perhaps"}, {"title": "x", "due_date": "never"}]}`, crud.CodeBadValue)
	for _, fault := range []string{"due_date", "completed", "title", "Row 2"} {
		require.Contains(t, message, fault)
	}
	outcome := b.decide("write",
		call(vocab.ToolCreate, `{"table": "tasks", "date": {}}`), call(vocab.ToolDelete, `{"table": "nowhere", "filters": []}`))
	require.Equal(t, crud.CodeBadArgument, outcome.Results[0].ErrorCode)
	require.Equal(t, crud.CodeUnknownTable, outcome.Results[1].ErrorCode)

	b.ok("read", vocab.ToolRead, `{"table": "recipes", "limit": "2", "columns": "name", "filters": {"field": "servings", "op": ">", "value": "1"}}`)
	b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": "{\"title\": \"call\"}"}`)
}

func TestV15RefsAreNotText(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ok("read", vocab.ToolRead, `{"table": "recipes"}`)
	label := query[string](b, `SELECT label FROM entity_refs WHERE ref = 'recipe_1' AND session_id = $1`, b.scope.SessionID)
	result := b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": {"title": "Cook recipe_1 tonight: `+label+` (recipe_1), not recipe_99"}}`)
	row := b.rows(result)[0]
	require.Equal(t, "Cook "+label+" tonight: "+label+", not recipe_99", row["title"], "what is no ref is a text")
	b.refused("write", vocab.ToolCreate, `{"table": "tasks", "data": {"title": "recipe_1"}}`, crud.CodeBadValue)
	b.ok("generate", vocab.ToolGenerate, `{"creates": [{"type": "task", "content": {"title": "Cook recipe_1"}}]}`)
	require.Contains(t, query[string](b, `SELECT content ->> 'title' FROM artifacts WHERE session_id = $1`, b.scope.SessionID), label)
}

func TestV18MoreRowsThanWereNamedAreNotDeletedUnasked(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": [{"title": "Call mum", "due_date": "2027-01-01"}, {"title": "Call mum", "due_date": "2027-01-02"}]}`)
	outcome := b.decide("write", call(vocab.ToolDelete, `{"table": "tasks", "filters": [{"field": "title", "op": "similar", "value": "Call mum"}]}`))
	require.NotNil(t, outcome.Approval)
	require.Contains(t, outcome.Approval.Text, "Jan 2, 2027", "what tells them apart is said")
	require.Equal(t, 2, query[int](b, `SELECT count(*)::int FROM kitchen.tasks WHERE title = 'Call mum'`))
}

func TestV19WhatADeclarationWantsApprovedIsAskedEachTime(t *testing.T) {
	t.Parallel()
	kit := testfactory.OwnKitchen(t)
	kit.ByType("task").Approve = []domain.Verb{domain.Delete}
	b := setupOn(t, dbtest.Tx(t), uuid.MustParse(demoUser), kit)
	b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": {"title": "Call mum"}}`)
	outcome := b.decide("write", call(vocab.ToolDelete, `{"table": "tasks", "filters": [{"field": "id", "op": "=", "value": "task_1"}]}`))
	require.NotNil(t, outcome.Approval, "one row, named by its ref")
	require.Contains(t, outcome.Approval.Text, "This would delete 1 task: Call mum")
	require.Equal(t, 1, query[int](b, `SELECT count(*)::int FROM kitchen.tasks WHERE title = 'Call mum'`))
	b.ok("write", vocab.ToolUpdate, `{"table": "tasks", "filters": [{"field": "id", "op": "=", "value": "task_1"}], "data": {"title": "Call dad"}}`)
}

func TestV22ChildRowsComeInTheOrderInWhichTheyWereMade(t *testing.T) {
	t.Parallel()
	var first []string
	for range 3 {
		b := setupAlone(t)
		for _, name := range []string{"Soup", "Stew", "Salad"} {
			b.ok("write", vocab.ToolCreate, `{"table": "recipes", "data": {"name": "`+name+`", "recipe_ingredients": [{"name": "`+name+` one"}, {"name": "`+name+` two"}]}}`)
		}
		b.nextTurn()
		names := column[string](b.rows(b.ok("read", vocab.ToolRead, `{"table": "recipe_ingredients"}`)), "name")
		if first == nil {
			first = names
		}
		require.Equal(t, first, names)
	}
	require.Equal(t, "Soup one Soup two Stew one Stew two Salad one Salad two", strings.Join(first, " "))
}

func TestV24AMergedItemKeepsAllItsSources(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ok("write", vocab.ToolCreate, `{"table": "shopping_list", "data": [{"name": "Leeks", "quantity": 1, "source": "Soup"}, {"name": "Leeks", "quantity": 1, "source": "Stew"}]}`)
	result := b.ok("write", vocab.ToolCreate, `{"table": "shopping_list", "data": {"name": "Leeks", "quantity": 2, "source": "Quiche"}}`)
	row := b.rows(result)[0]
	require.Equal(t, "Soup, Stew, Quiche", row["source"])
	require.InDelta(t, 4, row["quantity"], 0)
}

// V12: a label names the thing: a planned meal its dish, whether it is drafted, saved, read, changed, asked about or gone.
func TestV12APlannedMealIsCalledByItsDish(t *testing.T) {
	t.Parallel()

	b := setupAlone(t)
	label := func(ref string) string {
		return query[string](b, `SELECT label FROM entity_refs WHERE session_id = $1 AND ref = $2`, b.scope.SessionID, ref)
	}
	b.ok("write", vocab.ToolCreate, `{"table": "recipes", "data": {"name": "Egg Curry"}}`)
	b.ok("write", vocab.ToolCreate, `{"table": "recipes", "data": {"name": "Stew"}}`)

	b.ok("generate", vocab.ToolGenerate, `{"creates": [{"type": "meal", "content": {"date": "2027-01-04", "meal_type": "dinner", "recipe_id": "recipe_1"}}]}`)
	require.Equal(t, "Mon 4 Jan dinner: Egg Curry", label("gen_meal_1"))
	b.ok("generate", vocab.ToolGenerate, `{"updates": [{"ref": "gen_meal_1", "content": {"recipe_id": "recipe_2"}}]}`)
	require.Equal(t, "Mon 4 Jan dinner: Stew", label("gen_meal_1"))
	b.ok("write", vocab.ToolCreate, `{"table": "meal_plans", "from_ref": "gen_meal_1"}`)
	require.Equal(t, "Mon 4 Jan dinner: Stew", label("gen_meal_1"))

	b.ok("write", vocab.ToolCreate, `{"table": "meal_plans", "data": {"date": "2027-01-05", "meal_type": "dinner", "recipe_id": "recipe_1"}}`)
	require.Equal(t, "Tue 5 Jan dinner: Egg Curry", label("meal_1"))
	b.ok("read", vocab.ToolRead, `{"table": "meal_plans", "columns": ["servings"], "filters": [{"field": "id", "op": "=", "value": "meal_1"}]}`)
	require.Equal(t, "Tue 5 Jan dinner: Egg Curry", label("meal_1"))
	b.ok("write", vocab.ToolUpdate, `{"table": "meal_plans", "filters": [{"field": "id", "op": "=", "value": "meal_1"}], "data": {"recipe_id": "recipe_2"}}`)
	require.Equal(t, "Tue 5 Jan dinner: Stew", label("meal_1"))
	b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": {"title": "Thaw it", "meal_plan_id": "meal_1"}}`)

	asked := b.decide("write", call(vocab.ToolDelete, `{"table": "meal_plans", "filters": []}`)).Approval
	require.Contains(t, asked.Text, "This would delete 2 planned meals: Mon 4 Jan dinner: Stew, Tue 5 Jan dinner: Stew; 1 task would no longer name them. ")

	other := setupOn(t, b.tx, b.scope.UserID, b.kit) // a conversation in which nothing has a ref yet
	other.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": {"title": "Shop"}}`)
	other.ok("read", vocab.ToolRead, `{"table": "tasks", "filters": [{"field": "title", "op": "=", "value": "Thaw it"}]}`)
	require.Equal(t, "Tue 5 Jan dinner: Stew", query[string](other, `SELECT label FROM entity_refs WHERE session_id = $1 AND ref = 'meal_1'`, other.scope.SessionID))
	gone := other.decide("write", call(vocab.ToolDelete, `{"table": "meal_plans", "filters": [{"field": "date", "op": "=", "value": "2027-01-04"}]}`)).Approval
	require.NotNil(t, gone)
	done := other.approve(gone)
	require.False(t, done.Failed())
	require.Equal(t, "Mon 4 Jan dinner: Stew", query[string](other, `SELECT label FROM entity_refs WHERE session_id = $1 AND state = 'deleted'`, other.scope.SessionID))
}

// A number in a list may be written as people write it, like one that stands alone.
func TestNumbersInAList(t *testing.T) {
	t.Parallel()

	b := setupThings(t)
	b.ok("write", vocab.ToolCreate, `{"table": "things", "data": {"n": "+1", "nums": ["+1", "2"]}}`)
	require.Equal(t, []int32{1, 2}, query[[]int32](b, `SELECT nums FROM things.things WHERE n = 1`))
	b.ok("generate", vocab.ToolGenerate, `{"creates": [{"type": "thing", "content": {"n": 2, "nums": ["+3"]}}]}`)
	read := b.ok("read", vocab.ToolRead, `{"table": "things", "filters": [{"field": "id", "op": "=", "value": "gen_thing_1"}]}`)
	require.Equal(t, []any{3.0}, b.rows(read)[0]["nums"])
}

// A row without a name is asked about by what else it says.
func TestRowsWithoutANameInQuestions(t *testing.T) {
	t.Parallel()
	b := setupThings(t)
	b.exec(`INSERT INTO things.things (n, user_id, title, num) VALUES (1, $1, '', 12), (2, $1, 'Ash', 13)`, b.scope.UserID)
	for n, want := range map[int]string{1: "This would delete 1 thing: one with n 1, num 12.", 2: "This would delete 1 thing: Ash."} {
		outcome := b.decide("write", call(vocab.ToolDelete, fmt.Sprintf(`{"table": "things", "filters": [{"field": "n", "op": "=", "value": %d}]}`, n)))
		require.Contains(t, outcome.Approval.Text, want)
	}
}

// Rows that are called alike are told apart by their lines.
func TestLinesTellRowsApart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ok("write", vocab.ToolCreate, `{"table": "tasks", "data": [{"title": "Call mum"}, {"title": "Call mum", "due_date": "2026-11-30"}]}`)
	lines, err := b.tools.Lines(t.Context(), b.tx, b.at(), []string{"task_1", "task_2", "task_9", "gen_recipe_1"})
	require.NoError(t, err)
	require.Len(t, lines, 2)
	require.Equal(t, "Call mum", lines["task_1"])
	require.Equal(t, "Call mum (due Mon 30 Nov 2026)", lines["task_2"])
	lines, err = b.tools.Lines(t.Context(), b.tx, b.at(), []string{"task_1", b.ok("write", vocab.ToolCreate, `{"table": "shopping_list", "data": {"name": "Call mum"}}`).Refs[0]})
	require.NoError(t, err)
	require.Equal(t, "Call mum (task)", lines["task_1"])
}
