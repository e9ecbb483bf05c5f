package domain_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/domain"
)

const demoUser = "01900000-0000-7000-8000-000000000001"

func openKitchen(t *testing.T, tx pgx.Tx) *domain.Domain {
	t.Helper()

	fsys, file := domain.Find("kitchen")
	kitchen, err := domain.Open(t.Context(), tx, fsys, file)
	require.NoError(t, err)

	return kitchen
}

func asTenant(t *testing.T, tx pgx.Tx, user string) {
	t.Helper()

	_, err := tx.Exec(t.Context(), `SELECT set_config('role', 'alfred_tenant', true), set_config('alfred.user_id', $1, true)`, user)
	require.NoError(t, err)
}

func TestKitchen(t *testing.T) {
	t.Parallel()

	kitchen := openKitchen(t, dbtest.Tx(t))

	types := make([]string, 0, len(kitchen.Entities))
	for _, e := range kitchen.Entities {
		types = append(types, e.Type)
		require.NotNil(t, e.Key, e.Type)
		require.Equal(t, domain.KindUUID, e.Key.Kind, e.Type)
		require.NotEmpty(t, e.Comment, e.Type)
		require.Equal(t, e.Type == "ing", e.Owner == nil, e.Type)
	}

	require.Equal(t, []string{"recipe", "ri", "ing", "inv", "shop", "meal", "task", "pref", "log"}, types)
	require.Same(t, kitchen.ByType("ri"), kitchen.ByType("recipe").Children[0].Entity)
	require.Equal(t, "recipe_id", kitchen.ByType("recipe").Children[0].FK.Name)
	require.True(t, kitchen.ByType("ing").Reference)
	require.True(t, kitchen.ByType("pref").Singleton)
	require.False(t, kitchen.ByType("inv").Singleton)
	require.NotNil(t, kitchen.Offline)
	require.Contains(t, kitchen.Persona, "Alfred")
	require.Contains(t, kitchen.Subdomain("recipes").Guidance, "Read detail `text`", "snippets are read in place of their names")
}

func TestKitchenForeignKeys(t *testing.T) {
	t.Parallel()

	kitchen := openKitchen(t, dbtest.Tx(t))
	want := map[string]string{
		"recipe.parent_recipe_id": "recipe", "ri.recipe_id": "recipe", "ri.ingredient_id": "ing", "inv.ingredient_id": "ing",
		"shop.ingredient_id": "ing", "meal.recipe_id": "recipe", "task.recipe_id": "recipe", "task.meal_plan_id": "meal",
		"pref.assumed_staples": "ing", "log.recipe_id": "recipe", "log.from_meal_plan_id": "meal",
	}
	got := map[string]string{}

	for _, e := range kitchen.Entities {
		for _, c := range e.Columns {
			if c.FK != nil && c.FK.Entity != nil {
				got[e.Type+"."+c.Name] = c.FK.Entity.Type
			}

			if !c.Hidden && c != e.Key && (c.Kind == domain.KindUUID || c.Elem == domain.KindUUID) {
				require.NotNil(t, c.FK, "%s.%s would show a model an identifier", e.Type, c.Name)
			}
		}
	}

	require.Equal(t, want, got)
	require.Equal(t, "cascade", kitchen.ByType("ri").Column("recipe_id").FK.OnDelete)
	require.Equal(t, "set null", kitchen.ByType("meal").Column("recipe_id").FK.OnDelete)
}

// A default read contains neither the method nor anything hidden from models.
func TestKitchenColumnSets(t *testing.T) {
	t.Parallel()

	recipe := openKitchen(t, dbtest.Tx(t)).ByType("recipe")
	summary := recipe.Sets["summary"]

	require.Subset(t, summary, []string{"id", "name", "cuisine", "health_tags", "total_time_minutes"})
	require.NotContains(t, summary, "instructions")
	require.Equal(t, append(slices.Clone(summary), "instructions"), recipe.Sets["text"])
	require.Equal(t, summary, recipe.Sets["rows"])

	for _, name := range []string{"user_id", "created_at", "updated_at"} {
		require.NotContains(t, summary, name)
		require.True(t, recipe.Column(name).Hidden)
	}
}

func TestKitchenEnums(t *testing.T) {
	t.Parallel()

	kitchen := openKitchen(t, dbtest.Tx(t))

	require.Equal(t, []string{"pantry", "fridge", "freezer", "counter", "cabinet"}, kitchen.ByType("inv").Column("location").Enum)
	require.Equal(t, []string{"breakfast", "lunch", "dinner", "snack", "other"}, kitchen.ByType("meal").Column("meal_type").Enum)
	require.Equal(t, []string{"prep", "shopping", "cleanup", "other"}, kitchen.ByType("task").Column("category").Enum)
	require.Equal(t, []string{"easy", "medium", "hard"}, kitchen.ByType("recipe").Column("difficulty").Enum)
	require.Equal(t, "rating >= 1 AND rating <= 5", kitchen.ByType("log").Column("rating").Check)
	require.Empty(t, kitchen.ByType("recipe").Column("cuisine").Enum, "cuisines are hints")
}

func TestKitchenDisplay(t *testing.T) {
	t.Parallel()

	kitchen := openKitchen(t, dbtest.Tx(t))
	lunch := map[string]any{"date": "2026-01-12", "meal_type": "lunch", "recipe_id": "recipe_1", "_recipe_id_label": "Butter Chicken"}

	for _, c := range []struct {
		entity, want string
		row          map[string]any
	}{
		{"recipe", "Butter Chicken total_time:45min", map[string]any{"name": "Butter Chicken", "total_time_minutes": 45}},
		{"meal", "2026-01-12 [lunch] → Butter Chicken (recipe_1)", lunch},
		{"meal", "2026-01-13 [dinner] → takeout", map[string]any{"date": "2026-01-13", "meal_type": "dinner", "recipe_id": nil, "notes": "takeout"}},
		{"meal", "2026-01-13 [dinner] → no recipe", map[string]any{"date": "2026-01-13", "meal_type": "dinner", "recipe_id": nil, "notes": nil}},
		{"inv", "Eggs (12 count) [fridge]", map[string]any{"name": "Eggs", "quantity": 12.0, "unit": "count", "location": "fridge"}},
		{"inv", "Saffron", map[string]any{"name": "Saffron", "quantity": nil, "unit": nil, "location": nil}},
		{"task", "Buy groceries due:2026-01-15 [pending]", map[string]any{"title": "Buy groceries", "due_date": "2026-01-15", "completed": false}},
		{"task", "Thaw cod [done]", map[string]any{"title": "Thaw cod", "completed": true}},
		{"shop", "milk (2 l) (dairy)", map[string]any{"name": "milk", "quantity": 2, "unit": "l", "category": "dairy", "is_purchased": false}},
		{"ri", "garlic 4 clove (minced)", map[string]any{"name": "garlic", "quantity": 4, "unit": "clove", "notes": "minced", "is_optional": false}},
	} {
		require.Equal(t, c.want, kitchen.ByType(c.entity).Display.Render(c.row))
	}

	require.Equal(t, "Mon 12 Jan lunch: Butter Chicken", kitchen.ByType("meal").Label.Render(lunch))
}

// Y07: text for people contains no column names, and dates as people write them.
func TestY07KitchenSpoken(t *testing.T) {
	t.Parallel()

	kitchen := openKitchen(t, dbtest.Tx(t))
	lunch := map[string]any{"date": "2026-01-12", "meal_type": "lunch", "_recipe_id_label": "Butter Chicken"}

	for _, c := range []struct {
		entity, want string
		row          map[string]any
	}{
		{"recipe", "Butter Chicken (45 min)", map[string]any{"name": "Butter Chicken", "total_time_minutes": 45}},
		{"meal", "Mon 12 Jan, lunch: Butter Chicken", lunch},
		{"meal", "Mon 12 Jan, lunch: Pad Thai for 2 (no peanuts)", map[string]any{"servings": 2, "date": "2026-01-12", "meal_type": "lunch", "recipe_id": "recipe_1", "_recipe_id_label": "Pad Thai", "notes": "no peanuts"}},
		{"meal", "Tue 13 Jan, dinner: takeout", map[string]any{"date": "2026-01-13", "meal_type": "dinner", "recipe_id": nil, "notes": "takeout"}},
		{"meal", "Tue 13 Jan, dinner: no recipe", map[string]any{"date": "2026-01-13", "meal_type": "dinner", "recipe_id": nil, "notes": nil}},
		{"inv", "Eggs (12), fridge, best before 24 Mar 2027", map[string]any{"name": "Eggs", "quantity": 12.0, "unit": "count", "location": "fridge", "expiry_date": "2027-03-24"}},
		{"task", "Buy groceries (due Thu 15 Jan 2026)", map[string]any{"title": "Buy groceries", "due_date": "2026-01-15", "completed": false}},
		{"shop", "milk (2 l), dairy", map[string]any{"name": "milk", "quantity": 2, "unit": "l", "category": "dairy", "is_purchased": false}},
		{"ri", "4 cloves garlic (minced)", map[string]any{"name": "garlic", "quantity": 4, "unit": "clove", "notes": "minced", "is_optional": false, "category": "produce"}},
		{"ri", "1 clove garlic", map[string]any{"name": "garlic", "quantity": 1.0, "unit": "clove"}},
		{"ri", "0.5 lemon", map[string]any{"name": "lemon", "quantity": 0.5, "unit": "piece"}},
		{"shop", "tomatoes (3 cans)", map[string]any{"name": "tomatoes", "quantity": 3, "unit": "can"}},
		{"ri", "cilantro (to garnish), optional", map[string]any{"name": "cilantro", "quantity": nil, "notes": "to garnish", "is_optional": true, "category": "produce"}},
		{"ing", "Garlic (vegetables)", map[string]any{"name": "Garlic", "category": "vegetables"}},
	} {
		require.Equal(t, c.want, kitchen.ByType(c.entity).Spoken.Render(c.row))
	}
}

// A reply is worded without refs, but not without what stands beside them: a dish planned without peanuts was told to be
// planned.
func TestKitchenMealsHaveTheirNotes(t *testing.T) {
	t.Parallel()
	meal := openKitchen(t, dbtest.Tx(t)).ByType("meal")
	row := map[string]any{"date": "2026-01-12", "meal_type": "lunch", "recipe_id": "recipe_1", "_recipe_id_label": "Pad Thai", "notes": "no peanuts"}
	require.Equal(t, "2026-01-12 [lunch] → Pad Thai (recipe_1) no peanuts", meal.Display.Render(row))
	require.Equal(t, "2026-01-12 [lunch] → Pad Thai no peanuts", meal.Display.RenderWithout(row, func(name string) bool { return name == "recipe_id" }))
	require.Equal(t, "2026-01-13 [dinner] → takeout", meal.Display.Render(map[string]any{"date": "2026-01-13", "meal_type": "dinner", "recipe_id": nil, "notes": "takeout"}))
}

func TestKitchenWords(t *testing.T) {
	t.Parallel()

	kitchen := openKitchen(t, dbtest.Tx(t))

	for word, want := range map[string]string{
		"Recipes": "recipe", "meal plan": "meal", "meal-plans": "meal", "meal_plans": "meal", "Pantry": "inv", "groceries": "shop",
		"ingredients": "ing", "recipe_ingredients": "ri", "todos": "task", "diet": "pref", "shopping list": "shop", "inv": "inv",
	} {
		require.NotNil(t, kitchen.Entity(word), word)
		require.Equal(t, want, kitchen.Entity(word).Type, word)
	}

	for word, want := range map[string]string{
		"recipe": "recipes", "meal_plan": "meal_plans", "meals": "meal_plans", "meal planning": "meal_plans", "dietary": "preferences",
		"restrictions": "preferences", "fridge": "inventory", "ingredients": "inventory", "shopping_list": "shopping", "groceries": "shopping",
	} {
		require.NotNil(t, kitchen.Subdomain(word), word)
		require.Equal(t, want, kitchen.Subdomain(word).Name, word)
	}

	require.Nil(t, kitchen.Entity("garage"))
	require.Nil(t, kitchen.Subdomain("garage"))
	require.Equal(t, "recipes", kitchen.SubdomainOf(kitchen.ByType("ri")).Name)
}

// What snippets call a column is one. Names with an underscore or in backticks can be nothing else.
func TestKitchenSnippetsNameRealThings(t *testing.T) {
	t.Parallel()

	kitchen := openKitchen(t, dbtest.Tx(t))
	known := []string{"from_ref", "text", "rows", "summary"}

	for _, e := range kitchen.Entities {
		known = append(known, e.Table)

		for _, c := range e.Columns {
			known = append(known, c.Name)
		}
	}

	name := regexp.MustCompile("`([a-z_]+)`|\\b([a-z]+(?:_[a-z]+)+)\\b")

	for _, s := range kitchen.Subdomains {
		for _, found := range name.FindAllStringSubmatch(s.Guidance+"\n"+s.Examples, -1) {
			require.Contains(t, known, found[1]+found[2], "%s: %s", s.Name, found[0])
		}
	}
}

// Planners are told that the pantry is everything at home: there is a place of this name, which holds a part of it.
func TestKitchenPantryIsEverythingAtHome(t *testing.T) {
	t.Parallel()

	inventory := openKitchen(t, dbtest.Tx(t)).Subdomain("inventory")

	require.Contains(t, inventory.Guidance, `"what is in my pantry" does not`)
	require.Contains(t, inventory.Examples, "without a location")
}

func TestKitchenSnapshotAndProfile(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	kitchen := openKitchen(t, tx)
	asTenant(t, tx, demoUser)

	_, err := tx.Exec(t.Context(), `INSERT INTO kitchen.tasks (title, due_date) VALUES ('Thaw cod', '2026-01-15');
UPDATE kitchen.preferences SET disliked_ingredients = '{olives}', allergies = '{peanuts}', household_kids = 1`)
	require.NoError(t, err)
	require.Equal(t, []string{
		"Inventory: 12 items (fridge 5, pantry 4, freezer 3)",
		"Recipes: 3 saved: indian (Butter Chicken); mediterranean (Shakshuka Classic); thai (Pad See Ew)",
		"Meal plan: 0 of the next 7 days planned, 0 meals",
		"Shopping list: empty",
		"Tasks: 1 pending, next due 2026-01-15",
	}, lines(t, tx, kitchen.Snapshot))
	require.Equal(t, []string{
		"Constraints: ALLERGIES: peanuts | dislikes: olives | portions: 2.5 (2 adults, 1 kids) | time: 30 min | complexity: moderate",
		"Has: wok | always at home: black pepper, olive oil, salt",
		"Likes: indian, thai",
		"Cooking schedule (when the user cooks, not eats): weeknights after 18:00",
	}, lines(t, tx, kitchen.Profile))

	var subdomain, text string
	require.NoError(t, tx.QueryRow(t.Context(), kitchen.Guidance).Scan(&subdomain, &text))
	require.Equal(t, "meal_plans", subdomain)

	// Users cannot see each other's rows.
	asTenant(t, tx, "01900000-0000-7000-8000-0000000000ff")
	require.Equal(t, []string{
		"Inventory: empty", "Recipes: none saved", "Meal plan: 0 of the next 7 days planned, 0 meals", "Shopping list: empty", "Tasks: none pending",
	}, lines(t, tx, kitchen.Snapshot))
	require.Empty(t, lines(t, tx, kitchen.Profile))
}

func lines(t *testing.T, tx pgx.Tx, queries []domain.Query) []string {
	t.Helper()

	var all []string

	for _, q := range queries {
		rows, err := tx.Query(t.Context(), q.SQL)
		require.NoError(t, err)

		texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err, q.Label)

		for _, text := range texts {
			all = append(all, q.Label+": "+text)
		}
	}

	return all
}

// Several purchases of one thing and arbitrary tags are valid.
func TestKitchenLegalWrites(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	asTenant(t, tx, demoUser)

	_, err := tx.Exec(t.Context(), `
INSERT INTO kitchen.inventory (name, ingredient_id) SELECT 'eggs', id FROM kitchen.ingredients, generate_series(1, 2) WHERE name = 'eggs';
INSERT INTO kitchen.recipes (name, flavor_tags, cuisine) VALUES ('Smoked Tofu', '{smoky}', 'new nordic');
INSERT INTO kitchen.meal_plans (date, meal_type) VALUES ('2026-01-12', 'dinner'), ('2026-01-12', 'dinner')`)
	require.NoError(t, err)
}

// Foreign keys are checked without row-level security, so they must include the tenant.
func TestKitchenRefusesAnotherTenantsRow(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	_, err := tx.Exec(t.Context(), `INSERT INTO alfred.users (id, name) VALUES ('01900000-0000-7000-8000-0000000000ee', 'other')`)
	require.NoError(t, err)
	asTenant(t, tx, "01900000-0000-7000-8000-0000000000ee")

	_, err = tx.Exec(t.Context(), `INSERT INTO kitchen.meal_plans (date, meal_type, recipe_id)
VALUES ('2026-01-12', 'dinner', '01900000-0000-7000-8000-000000000101')`)

	var refused *pgconn.PgError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "23503", refused.Code)
}

func TestKitchenDescribe(t *testing.T) {
	t.Parallel()

	kitchen := openKitchen(t, dbtest.Tx(t))

	text := kitchen.ByType("inv").Describe()
	require.Contains(t, text, "- location: text, one of pantry | fridge | freezer | counter | cabinet. Where it is stored.")
	require.Contains(t, text, "- ingredient_id: ref (ing_1).")
	require.NotContains(t, text, "user_id")
	require.NotContains(t, text, "created_at")
	require.Contains(t, kitchen.ByType("recipe").Describe(), "text adds instructions, rows adds recipe_ingredients")
}

// Every ingredient in the demo and the drafts is a known one, so that saved rows link to their families.
func TestKitchenSeedCoversDraftsAndDemo(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	kitchen := openKitchen(t, tx)

	var unlinked int
	require.NoError(t, tx.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM kitchen.recipe_ingredients WHERE ingredient_id IS NULL)
+ (SELECT count(*) FROM kitchen.inventory WHERE ingredient_id IS NULL)`).Scan(&unlinked))
	require.Zero(t, unlinked)

	var names []string
	for _, template := range kitchen.Offline.Draft.Templates {
		rows, ok := template.Content["recipe_ingredients"].([]any)
		require.True(t, ok)

		for _, row := range rows {
			fields, ok := row.(map[string]any)
			require.True(t, ok)

			names = append(names, fields["name"].(string))
		}
	}

	for _, slot := range kitchen.Offline.Draft.Slots {
		names = append(names, slot.Words...)
	}

	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, "{") })

	var unknown []string
	require.NoError(t, tx.QueryRow(t.Context(), `SELECT coalesce(array_agg(name), '{}') FROM unnest($1::text[]) AS n (name)
WHERE NOT EXISTS (SELECT FROM kitchen.ingredients AS i WHERE i.name = n.name OR n.name = ANY (i.aliases))`, names).Scan(&unknown))
	require.Empty(t, unknown)
}

// Models read columns' comments, so none may be missing.
func TestKitchenIsCommented(t *testing.T) {
	t.Parallel()

	var missing []string
	require.NoError(t, dbtest.Tx(t).QueryRow(t.Context(), `
SELECT coalesce(array_agg(c.relname || '.' || a.attname), '{}')
FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum >= 0 AND NOT a.attisdropped
WHERE c.relnamespace = 'kitchen'::regnamespace AND c.relkind = 'r'
  AND (col_description(c.oid, a.attnum) IS NULL OR obj_description(c.oid, 'pg_class') IS NULL)`).Scan(&missing))
	require.Empty(t, missing)
}

// Each right that is taken away while the domain is in use is named by itself: without INSERT alone, nothing was.
func TestDriftNamesEachRight(t *testing.T) {
	t.Parallel()

	tx := dbtest.Tx(t)
	kitchen := openKitchen(t, tx)
	for right, named := range map[string]string{
		"INSERT": "shopping_list.name may not be set in new rows any more", "UPDATE": "shopping_list.name may not be changed any more",
		"DELETE": "shopping_list may not be deleted from any more", "SELECT": "shopping_list may not be read any more",
	} {
		columns := map[string]string{"INSERT": "(name)", "UPDATE": "(name)"}[right]
		exec(t, tx, "REVOKE "+right+columns+" ON kitchen.shopping_list FROM alfred_tenant")
		found, err := domain.Drift(t.Context(), tx, kitchen)
		require.NoError(t, err)
		require.Len(t, found, 1, right)
		require.Equal(t, named, found[0].String())
		exec(t, tx, "GRANT "+right+columns+" ON kitchen.shopping_list TO alfred_tenant")
	}
	found, err := domain.Drift(t.Context(), tx, kitchen)
	require.NoError(t, err)
	require.Empty(t, found)
}
