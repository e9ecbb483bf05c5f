-- +goose Up
-- The reference domain. To the engine these tables are data: it learns them from
-- the catalog at start, comments included, so a comment here is what models read.
CREATE SCHEMA kitchen;
COMMENT ON SCHEMA kitchen IS 'The reference domain: a household''s kitchen.';
CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;
GRANT USAGE ON SCHEMA kitchen TO alfred_tenant;

-- Policies look up whose transaction it is once per statement: for each row it took four times as long as reading the row.
-- Rows are told apart by owner and key in what Postgres replicates, so that one user's can be published: the filter of a publication
-- may name no other columns where rows are updated.

-- +goose StatementBegin
CREATE FUNCTION kitchen.set_updated_at() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    NEW.updated_at := now();
    RETURN NEW;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION kitchen.set_updated_at() IS 'Keeps updated_at true whichever program writes.';

CREATE TABLE kitchen.ingredients (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    name text NOT NULL CONSTRAINT ingredients_name_length CHECK (char_length(name) BETWEEN 1 AND 120) UNIQUE,
    aliases text[] NOT NULL DEFAULT '{}',
    category text NOT NULL,
    parent_category text NOT NULL DEFAULT 'pantry' CONSTRAINT ingredients_parent_category_known CHECK (parent_category IN ('produce', 'protein', 'dairy', 'grains', 'pantry', 'spices', 'baking', 'specialty')),
    family text NOT NULL,
    cuisines text[] NOT NULL DEFAULT '{}',
    tier smallint NOT NULL DEFAULT 2 CONSTRAINT ingredients_tier_known CHECK (tier BETWEEN 1 AND 3),
    default_unit text,
    is_system boolean NOT NULL DEFAULT true,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX ingredients_name_trgm ON kitchen.ingredients USING gin (name gin_trgm_ops);
CREATE INDEX ingredients_aliases ON kitchen.ingredients USING gin (aliases);
CREATE INDEX ingredients_family ON kitchen.ingredients (family);
COMMENT ON TABLE kitchen.ingredients IS 'Canonical ingredients, shared by all users and read-only for them. Rows of the pantry, the shopping list and recipes point here, so that one name finds all variants.';
COMMENT ON COLUMN kitchen.ingredients.id IS 'Key. Models never see it.';
COMMENT ON COLUMN kitchen.ingredients.name IS 'Canonical name, lower case, singular where people say it so.';
COMMENT ON COLUMN kitchen.ingredients.aliases IS 'Other names for the same thing.';
COMMENT ON COLUMN kitchen.ingredients.category IS 'Shelf in a shop: produce, dairy, meat, seafood, bakery, frozen, canned, dry goods, beverages, snacks, condiments, spices, baking.';
COMMENT ON COLUMN kitchen.ingredients.parent_category IS 'Broad group.';
COMMENT ON COLUMN kitchen.ingredients.family IS 'What variants have in common: chicken, chicken breasts and chicken thighs are one family.';
COMMENT ON COLUMN kitchen.ingredients.cuisines IS 'Cuisines that use it much. A hint.';
COMMENT ON COLUMN kitchen.ingredients.tier IS '1 common, 2 standard, 3 specialty.';
COMMENT ON COLUMN kitchen.ingredients.default_unit IS 'Unit people mean when they give none.';
COMMENT ON COLUMN kitchen.ingredients.is_system IS 'Came with the product.';
COMMENT ON COLUMN kitchen.ingredients.created_at IS 'When the row was made.';
GRANT SELECT ON kitchen.ingredients TO alfred_tenant;

CREATE TABLE kitchen.recipes (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    user_id uuid NOT NULL DEFAULT nullif(current_setting('alfred.user_id', true), '')::uuid
        REFERENCES alfred.users (id) ON DELETE CASCADE,
    name text NOT NULL CONSTRAINT recipes_name_length CHECK (char_length(name) BETWEEN 1 AND 200),
    description text,
    cuisine text,
    difficulty text CONSTRAINT recipes_difficulty_known CHECK (difficulty IN ('easy', 'medium', 'hard')),
    prep_time_minutes integer CONSTRAINT recipes_prep_time_positive CHECK (prep_time_minutes >= 0),
    cook_time_minutes integer CONSTRAINT recipes_cook_time_positive CHECK (cook_time_minutes >= 0),
    servings integer CONSTRAINT recipes_servings_positive CHECK (servings > 0),
    instructions text[] NOT NULL DEFAULT '{}',
    tags text[] NOT NULL DEFAULT '{}',
    occasions text[] NOT NULL DEFAULT '{}',
    health_tags text[] NOT NULL DEFAULT '{}',
    flavor_tags text[] NOT NULL DEFAULT '{}',
    equipment_tags text[] NOT NULL DEFAULT '{}',
    source_url text,
    parent_recipe_id uuid,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (user_id, id),
    FOREIGN KEY (user_id, parent_recipe_id) REFERENCES kitchen.recipes (user_id, id) ON DELETE SET NULL (parent_recipe_id)
);
CREATE INDEX recipes_user_name ON kitchen.recipes (user_id, name);
CREATE INDEX recipes_parent ON kitchen.recipes (user_id, parent_recipe_id) WHERE parent_recipe_id IS NOT NULL;
CREATE INDEX recipes_name_trgm ON kitchen.recipes USING gin (name gin_trgm_ops);
COMMENT ON TABLE kitchen.recipes IS 'Recipes. Create a recipe together with its ingredient rows. Deleting it deletes them. A variation is a new recipe that names its parent_recipe_id. A household of one defaults to 2 servings.';
COMMENT ON COLUMN kitchen.recipes.id IS 'Key. Models never see it.';
COMMENT ON COLUMN kitchen.recipes.user_id IS 'Whose row it is.';
COMMENT ON COLUMN kitchen.recipes.name IS 'Name of the dish.';
COMMENT ON COLUMN kitchen.recipes.description IS 'One or two sentences: what it is like.';
COMMENT ON COLUMN kitchen.recipes.cuisine IS 'Free text, lower case: italian, mexican, chinese, indian, american, french, japanese, thai, mediterranean, korean, and any other.';
COMMENT ON COLUMN kitchen.recipes.difficulty IS 'How hard it is.';
COMMENT ON COLUMN kitchen.recipes.prep_time_minutes IS 'Minutes of preparation.';
COMMENT ON COLUMN kitchen.recipes.cook_time_minutes IS 'Minutes of cooking.';
COMMENT ON COLUMN kitchen.recipes.servings IS 'How many people it feeds.';
COMMENT ON COLUMN kitchen.recipes.instructions IS 'One step per element, without step numbers. Tips belong here too; there is no other column for them.';
COMMENT ON COLUMN kitchen.recipes.tags IS 'Free tags.';
COMMENT ON COLUMN kitchen.recipes.occasions IS 'Free tags: weeknight, batch-prep, hosting, weekend, comfort, or any other.';
COMMENT ON COLUMN kitchen.recipes.health_tags IS 'Free tags: high-protein, low-carb, vegetarian, vegan, light, gluten-free, dairy-free, keto, or any other.';
COMMENT ON COLUMN kitchen.recipes.flavor_tags IS 'Free tags: spicy, mild, savory, sweet, tangy, rich, light, umami, smoky, or any other.';
COMMENT ON COLUMN kitchen.recipes.equipment_tags IS 'Free tags: air-fryer, instant-pot, one-pot, one-pan, grill, no-cook, slow-cooker, oven, stovetop, or any other.';
COMMENT ON COLUMN kitchen.recipes.source_url IS 'Where it came from.';
COMMENT ON COLUMN kitchen.recipes.parent_recipe_id IS 'The recipe that this one is a variation of.';
COMMENT ON COLUMN kitchen.recipes.created_at IS 'When the row was made.';
COMMENT ON COLUMN kitchen.recipes.updated_at IS 'When the row last changed.';
CREATE TRIGGER set_updated_at BEFORE UPDATE ON kitchen.recipes
    FOR EACH ROW EXECUTE FUNCTION kitchen.set_updated_at();
ALTER TABLE kitchen.recipes REPLICA IDENTITY USING INDEX recipes_user_id_id_key;
ALTER TABLE kitchen.recipes ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON kitchen.recipes TO alfred_tenant
    USING (user_id = (SELECT nullif(current_setting('alfred.user_id', true), '')::uuid))
    WITH CHECK (user_id = nullif(current_setting('alfred.user_id', true), '')::uuid);
GRANT SELECT, DELETE, INSERT (name, description, cuisine, difficulty, prep_time_minutes, cook_time_minutes, servings, instructions, tags, occasions, health_tags, flavor_tags, equipment_tags, source_url, parent_recipe_id), UPDATE (name, description, cuisine, difficulty, prep_time_minutes, cook_time_minutes, servings, instructions, tags, occasions, health_tags, flavor_tags, equipment_tags, source_url, parent_recipe_id) ON kitchen.recipes TO alfred_tenant;

CREATE TABLE kitchen.recipe_ingredients (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    user_id uuid NOT NULL DEFAULT nullif(current_setting('alfred.user_id', true), '')::uuid
        REFERENCES alfred.users (id) ON DELETE CASCADE,
    recipe_id uuid NOT NULL,
    position bigint GENERATED ALWAYS AS IDENTITY,
    ingredient_id uuid REFERENCES kitchen.ingredients (id) ON DELETE SET NULL,
    name text NOT NULL CONSTRAINT recipe_ingredients_name_length CHECK (char_length(name) BETWEEN 1 AND 200),
    quantity numeric CONSTRAINT recipe_ingredients_quantity_positive CHECK (quantity >= 0),
    unit text,
    notes text,
    category text,
    is_optional boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (user_id, id),
    FOREIGN KEY (user_id, recipe_id) REFERENCES kitchen.recipes (user_id, id) ON DELETE CASCADE
);
CREATE INDEX recipe_ingredients_recipe ON kitchen.recipe_ingredients (user_id, recipe_id, position);
CREATE INDEX recipe_ingredients_ingredient ON kitchen.recipe_ingredients (ingredient_id);
CREATE INDEX recipe_ingredients_name_trgm ON kitchen.recipe_ingredients USING gin (name gin_trgm_ops);
COMMENT ON TABLE kitchen.recipe_ingredients IS 'Ingredient rows of recipes. A change of an amount or a name is an update of the row; a swap too, never a delete and a create.';
COMMENT ON COLUMN kitchen.recipe_ingredients.id IS 'Key. Models never see it.';
COMMENT ON COLUMN kitchen.recipe_ingredients.user_id IS 'Whose row it is.';
COMMENT ON COLUMN kitchen.recipe_ingredients.recipe_id IS 'The recipe.';
COMMENT ON COLUMN kitchen.recipe_ingredients.position IS 'Order in which the rows were written.';
COMMENT ON COLUMN kitchen.recipe_ingredients.ingredient_id IS 'The canonical ingredient, found from the name.';
COMMENT ON COLUMN kitchen.recipe_ingredients.name IS 'Simple name as in a shop: garlic, chicken thighs. State, size and preparation belong in notes.';
COMMENT ON COLUMN kitchen.recipe_ingredients.quantity IS 'Amount as a number: 0.5, not ½. Empty when there is none (to taste).';
COMMENT ON COLUMN kitchen.recipe_ingredients.unit IS 'Unit: piece, g, kg, oz, lb, ml, l, cup, tbsp, tsp, clove, can, bunch, or any other.';
COMMENT ON COLUMN kitchen.recipe_ingredients.notes IS 'State, size, preparation, substitutes, to taste.';
COMMENT ON COLUMN kitchen.recipe_ingredients.category IS 'Shelf in a shop; filled from the canonical ingredient.';
COMMENT ON COLUMN kitchen.recipe_ingredients.is_optional IS 'Garnish and to-taste things are optional.';
COMMENT ON COLUMN kitchen.recipe_ingredients.created_at IS 'When the row was made.';
COMMENT ON COLUMN kitchen.recipe_ingredients.updated_at IS 'When the row last changed.';
CREATE TRIGGER set_updated_at BEFORE UPDATE ON kitchen.recipe_ingredients
    FOR EACH ROW EXECUTE FUNCTION kitchen.set_updated_at();
ALTER TABLE kitchen.recipe_ingredients REPLICA IDENTITY USING INDEX recipe_ingredients_user_id_id_key;
ALTER TABLE kitchen.recipe_ingredients ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON kitchen.recipe_ingredients TO alfred_tenant
    USING (user_id = (SELECT nullif(current_setting('alfred.user_id', true), '')::uuid))
    WITH CHECK (user_id = nullif(current_setting('alfred.user_id', true), '')::uuid);
GRANT SELECT, DELETE, INSERT (recipe_id, ingredient_id, name, quantity, unit, notes, category, is_optional), UPDATE (recipe_id, ingredient_id, name, quantity, unit, notes, category, is_optional) ON kitchen.recipe_ingredients TO alfred_tenant;

CREATE TABLE kitchen.inventory (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    user_id uuid NOT NULL DEFAULT nullif(current_setting('alfred.user_id', true), '')::uuid
        REFERENCES alfred.users (id) ON DELETE CASCADE,
    ingredient_id uuid REFERENCES kitchen.ingredients (id) ON DELETE SET NULL,
    name text NOT NULL CONSTRAINT inventory_name_length CHECK (char_length(name) BETWEEN 1 AND 200),
    quantity numeric CONSTRAINT inventory_quantity_positive CHECK (quantity >= 0),
    unit text,
    location text CONSTRAINT inventory_location_known CHECK (location IN ('pantry', 'fridge', 'freezer', 'counter', 'cabinet')),
    category text,
    expiry_date date,
    purchase_date date,
    notes text,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (user_id, id)
);
CREATE INDEX inventory_user_name ON kitchen.inventory (user_id, name);
CREATE INDEX inventory_user_expiry ON kitchen.inventory (user_id, expiry_date);
CREATE INDEX inventory_ingredient ON kitchen.inventory (ingredient_id);
CREATE INDEX inventory_name_trgm ON kitchen.inventory USING gin (name gin_trgm_ops);
COMMENT ON TABLE kitchen.inventory IS 'What is at home. "Pantry" in a user''s words means all of it, unless one storage place is clearly meant. Several purchases of one ingredient are several rows.';
COMMENT ON COLUMN kitchen.inventory.id IS 'Key. Models never see it.';
COMMENT ON COLUMN kitchen.inventory.user_id IS 'Whose row it is.';
COMMENT ON COLUMN kitchen.inventory.ingredient_id IS 'The canonical ingredient, found from the name.';
COMMENT ON COLUMN kitchen.inventory.name IS 'What the user calls it.';
COMMENT ON COLUMN kitchen.inventory.quantity IS 'Amount. Empty when unknown.';
COMMENT ON COLUMN kitchen.inventory.unit IS 'Unit: count, piece, g, kg, oz, lb, ml, l, carton, bottle, can, box, bag, bunch, head, or any other.';
COMMENT ON COLUMN kitchen.inventory.location IS 'Where it is stored.';
COMMENT ON COLUMN kitchen.inventory.category IS 'Shelf in a shop (produce, dairy, meat, seafood, bakery, frozen, canned, dry goods, beverages, snacks, condiments, spices, baking); filled from the canonical ingredient.';
COMMENT ON COLUMN kitchen.inventory.expiry_date IS 'Best before.';
COMMENT ON COLUMN kitchen.inventory.purchase_date IS 'When it was bought.';
COMMENT ON COLUMN kitchen.inventory.notes IS 'Brand, state, opened.';
COMMENT ON COLUMN kitchen.inventory.created_at IS 'When the row was made.';
COMMENT ON COLUMN kitchen.inventory.updated_at IS 'When the row last changed.';
CREATE TRIGGER set_updated_at BEFORE UPDATE ON kitchen.inventory
    FOR EACH ROW EXECUTE FUNCTION kitchen.set_updated_at();
ALTER TABLE kitchen.inventory REPLICA IDENTITY USING INDEX inventory_user_id_id_key;
ALTER TABLE kitchen.inventory ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON kitchen.inventory TO alfred_tenant
    USING (user_id = (SELECT nullif(current_setting('alfred.user_id', true), '')::uuid))
    WITH CHECK (user_id = nullif(current_setting('alfred.user_id', true), '')::uuid);
GRANT SELECT, DELETE, INSERT (ingredient_id, name, quantity, unit, location, category, expiry_date, purchase_date, notes), UPDATE (ingredient_id, name, quantity, unit, location, category, expiry_date, purchase_date, notes) ON kitchen.inventory TO alfred_tenant;

CREATE TABLE kitchen.shopping_list (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    user_id uuid NOT NULL DEFAULT nullif(current_setting('alfred.user_id', true), '')::uuid
        REFERENCES alfred.users (id) ON DELETE CASCADE,
    ingredient_id uuid REFERENCES kitchen.ingredients (id) ON DELETE SET NULL,
    name text NOT NULL CONSTRAINT shopping_list_name_length CHECK (char_length(name) BETWEEN 1 AND 200),
    quantity numeric CONSTRAINT shopping_list_quantity_positive CHECK (quantity >= 0),
    unit text,
    category text,
    is_purchased boolean NOT NULL DEFAULT false,
    source text,
    notes text,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (user_id, id)
);
CREATE INDEX shopping_list_user_open ON kitchen.shopping_list (user_id, name) WHERE NOT is_purchased;
CREATE INDEX shopping_list_ingredient ON kitchen.shopping_list (ingredient_id);
CREATE INDEX shopping_list_name_trgm ON kitchen.shopping_list USING gin (name gin_trgm_ops);
COMMENT ON TABLE kitchen.shopping_list IS 'What to buy. Check what is at home and what is on the list first; the same thing in the same unit is one row whose quantity grows.';
COMMENT ON COLUMN kitchen.shopping_list.id IS 'Key. Models never see it.';
COMMENT ON COLUMN kitchen.shopping_list.user_id IS 'Whose row it is.';
COMMENT ON COLUMN kitchen.shopping_list.ingredient_id IS 'The canonical ingredient, found from the name.';
COMMENT ON COLUMN kitchen.shopping_list.name IS 'What to buy.';
COMMENT ON COLUMN kitchen.shopping_list.quantity IS 'How much. Empty when it does not matter.';
COMMENT ON COLUMN kitchen.shopping_list.unit IS 'Unit.';
COMMENT ON COLUMN kitchen.shopping_list.category IS 'Shelf in a shop (produce, dairy, meat, seafood, bakery, frozen, canned, dry goods, beverages, snacks, condiments, spices, baking); filled from the canonical ingredient.';
COMMENT ON COLUMN kitchen.shopping_list.is_purchased IS 'Bought already.';
COMMENT ON COLUMN kitchen.shopping_list.source IS 'Why it is on the list: a recipe, a plan, or the user.';
COMMENT ON COLUMN kitchen.shopping_list.notes IS 'Brand, size.';
COMMENT ON COLUMN kitchen.shopping_list.created_at IS 'When the row was made.';
COMMENT ON COLUMN kitchen.shopping_list.updated_at IS 'When the row last changed.';
CREATE TRIGGER set_updated_at BEFORE UPDATE ON kitchen.shopping_list
    FOR EACH ROW EXECUTE FUNCTION kitchen.set_updated_at();
ALTER TABLE kitchen.shopping_list REPLICA IDENTITY USING INDEX shopping_list_user_id_id_key;
ALTER TABLE kitchen.shopping_list ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON kitchen.shopping_list TO alfred_tenant
    USING (user_id = (SELECT nullif(current_setting('alfred.user_id', true), '')::uuid))
    WITH CHECK (user_id = nullif(current_setting('alfred.user_id', true), '')::uuid);
GRANT SELECT, DELETE, INSERT (ingredient_id, name, quantity, unit, category, is_purchased, source, notes), UPDATE (ingredient_id, name, quantity, unit, category, is_purchased, source, notes) ON kitchen.shopping_list TO alfred_tenant;

CREATE TABLE kitchen.meal_plans (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    user_id uuid NOT NULL DEFAULT nullif(current_setting('alfred.user_id', true), '')::uuid
        REFERENCES alfred.users (id) ON DELETE CASCADE,
    date date NOT NULL,
    meal_type text NOT NULL CONSTRAINT meal_plans_meal_type_known CHECK (meal_type IN ('breakfast', 'lunch', 'dinner', 'snack', 'other')),
    recipe_id uuid,
    servings integer NOT NULL DEFAULT 1 CONSTRAINT meal_plans_servings_positive CHECK (servings > 0),
    notes text,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (user_id, id),
    FOREIGN KEY (user_id, recipe_id) REFERENCES kitchen.recipes (user_id, id) ON DELETE SET NULL (recipe_id)
);
CREATE INDEX meal_plans_user_date ON kitchen.meal_plans (user_id, date);
CREATE INDEX meal_plans_recipe ON kitchen.meal_plans (user_id, recipe_id);
COMMENT ON TABLE kitchen.meal_plans IS 'Planned meals: flat dated rows without a header. Several rows in one slot are legal, but plan one main dish per slot. A real meal carries a recipe; takeout, leftovers without a recipe and gaps have none. Leftovers need an earlier cook of that recipe, and the servings of its rows do not exceed one batch.';
COMMENT ON COLUMN kitchen.meal_plans.id IS 'Key. Models never see it.';
COMMENT ON COLUMN kitchen.meal_plans.user_id IS 'Whose row it is.';
COMMENT ON COLUMN kitchen.meal_plans.date IS 'The day of eating. The day of cooking, when another, goes to notes.';
COMMENT ON COLUMN kitchen.meal_plans.meal_type IS 'Slot of the day. A cooking session without a meal is other, with notes.';
COMMENT ON COLUMN kitchen.meal_plans.recipe_id IS 'What is eaten.';
COMMENT ON COLUMN kitchen.meal_plans.servings IS 'Servings eaten.';
COMMENT ON COLUMN kitchen.meal_plans.notes IS 'Takeout, leftovers, cooking day.';
COMMENT ON COLUMN kitchen.meal_plans.created_at IS 'When the row was made.';
COMMENT ON COLUMN kitchen.meal_plans.updated_at IS 'When the row last changed.';
CREATE TRIGGER set_updated_at BEFORE UPDATE ON kitchen.meal_plans
    FOR EACH ROW EXECUTE FUNCTION kitchen.set_updated_at();
ALTER TABLE kitchen.meal_plans REPLICA IDENTITY USING INDEX meal_plans_user_id_id_key;
ALTER TABLE kitchen.meal_plans ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON kitchen.meal_plans TO alfred_tenant
    USING (user_id = (SELECT nullif(current_setting('alfred.user_id', true), '')::uuid))
    WITH CHECK (user_id = nullif(current_setting('alfred.user_id', true), '')::uuid);
GRANT SELECT, DELETE, INSERT (date, meal_type, recipe_id, servings, notes), UPDATE (date, meal_type, recipe_id, servings, notes) ON kitchen.meal_plans TO alfred_tenant;

CREATE TABLE kitchen.tasks (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    user_id uuid NOT NULL DEFAULT nullif(current_setting('alfred.user_id', true), '')::uuid
        REFERENCES alfred.users (id) ON DELETE CASCADE,
    title text NOT NULL CONSTRAINT tasks_title_length CHECK (char_length(title) BETWEEN 1 AND 200),
    due_date date,
    category text NOT NULL DEFAULT 'other' CONSTRAINT tasks_category_known CHECK (category IN ('prep', 'shopping', 'cleanup', 'other')),
    completed boolean NOT NULL DEFAULT false,
    recipe_id uuid,
    meal_plan_id uuid,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (user_id, id),
    FOREIGN KEY (user_id, recipe_id) REFERENCES kitchen.recipes (user_id, id) ON DELETE SET NULL (recipe_id),
    FOREIGN KEY (user_id, meal_plan_id) REFERENCES kitchen.meal_plans (user_id, id) ON DELETE SET NULL (meal_plan_id)
);
CREATE INDEX tasks_user_due ON kitchen.tasks (user_id, due_date) WHERE NOT completed;
CREATE INDEX tasks_recipe ON kitchen.tasks (user_id, recipe_id);
CREATE INDEX tasks_meal_plan ON kitchen.tasks (user_id, meal_plan_id);
COMMENT ON TABLE kitchen.tasks IS 'Things to do in the kitchen: thaw, marinate, shop, clean. They may stand alone; when they belong to a planned meal, name the meal rather than its recipe. Thawing takes 24 to 48 hours, marinating 2 to 12.';
COMMENT ON COLUMN kitchen.tasks.id IS 'Key. Models never see it.';
COMMENT ON COLUMN kitchen.tasks.user_id IS 'Whose row it is.';
COMMENT ON COLUMN kitchen.tasks.title IS 'What to do.';
COMMENT ON COLUMN kitchen.tasks.due_date IS 'Day by which it is done.';
COMMENT ON COLUMN kitchen.tasks.category IS 'Kind of work.';
COMMENT ON COLUMN kitchen.tasks.completed IS 'Done.';
COMMENT ON COLUMN kitchen.tasks.recipe_id IS 'The recipe it serves.';
COMMENT ON COLUMN kitchen.tasks.meal_plan_id IS 'The planned meal it serves; better than recipe_id.';
COMMENT ON COLUMN kitchen.tasks.created_at IS 'When the row was made.';
COMMENT ON COLUMN kitchen.tasks.updated_at IS 'When the row last changed.';
CREATE TRIGGER set_updated_at BEFORE UPDATE ON kitchen.tasks
    FOR EACH ROW EXECUTE FUNCTION kitchen.set_updated_at();
ALTER TABLE kitchen.tasks REPLICA IDENTITY USING INDEX tasks_user_id_id_key;
ALTER TABLE kitchen.tasks ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON kitchen.tasks TO alfred_tenant
    USING (user_id = (SELECT nullif(current_setting('alfred.user_id', true), '')::uuid))
    WITH CHECK (user_id = nullif(current_setting('alfred.user_id', true), '')::uuid);
GRANT SELECT, DELETE, INSERT (title, due_date, category, completed, recipe_id, meal_plan_id), UPDATE (title, due_date, category, completed, recipe_id, meal_plan_id) ON kitchen.tasks TO alfred_tenant;

CREATE TABLE kitchen.preferences (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    user_id uuid NOT NULL DEFAULT nullif(current_setting('alfred.user_id', true), '')::uuid
        REFERENCES alfred.users (id) ON DELETE CASCADE,
    dietary_restrictions text[] NOT NULL DEFAULT '{}',
    allergies text[] NOT NULL DEFAULT '{}',
    disliked_ingredients text[] NOT NULL DEFAULT '{}',
    favorite_cuisines text[] NOT NULL DEFAULT '{}',
    cooking_skill_level text NOT NULL DEFAULT 'intermediate' CONSTRAINT preferences_cooking_skill_level_known CHECK (cooking_skill_level IN ('beginner', 'intermediate', 'advanced')),
    household_adults integer NOT NULL DEFAULT 1 CONSTRAINT preferences_adults_positive CHECK (household_adults >= 0),
    household_kids integer NOT NULL DEFAULT 0 CONSTRAINT preferences_kids_positive CHECK (household_kids >= 0),
    household_babies integer NOT NULL DEFAULT 0 CONSTRAINT preferences_babies_positive CHECK (household_babies >= 0),
    nutrition_goals text[] NOT NULL DEFAULT '{}',
    cooking_frequency text,
    available_equipment text[] NOT NULL DEFAULT '{}',
    time_budget_minutes integer NOT NULL DEFAULT 30 CONSTRAINT preferences_time_budget_positive CHECK (time_budget_minutes > 0),
    preferred_complexity text NOT NULL DEFAULT 'moderate',
    planning_rhythm text[] NOT NULL DEFAULT '{}',
    current_vibes text[] NOT NULL DEFAULT '{}',
    subdomain_guidance jsonb NOT NULL DEFAULT '{}' CONSTRAINT preferences_guidance_object CHECK (jsonb_typeof(subdomain_guidance) = 'object'),
    assumed_staples uuid[] NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (user_id, id),
    UNIQUE (user_id)
);
COMMENT ON TABLE kitchen.preferences IS 'What the user wants in general: one row per user. Merge into lists, never replace them. Allergies and dietary restrictions are never violated.';
COMMENT ON COLUMN kitchen.preferences.id IS 'Key. Models never see it.';
COMMENT ON COLUMN kitchen.preferences.user_id IS 'Whose row it is.';
COMMENT ON COLUMN kitchen.preferences.dietary_restrictions IS 'Diets that every dish must keep: vegetarian, halal. Never violated.';
COMMENT ON COLUMN kitchen.preferences.allergies IS 'What must never be in a dish. Never violated.';
COMMENT ON COLUMN kitchen.preferences.disliked_ingredients IS 'What to leave out unless asked for.';
COMMENT ON COLUMN kitchen.preferences.favorite_cuisines IS 'Cuisines the user likes.';
COMMENT ON COLUMN kitchen.preferences.cooking_skill_level IS 'How well the user cooks.';
COMMENT ON COLUMN kitchen.preferences.household_adults IS 'Adults who eat: one portion each.';
COMMENT ON COLUMN kitchen.preferences.household_kids IS 'Children who eat: half a portion each.';
COMMENT ON COLUMN kitchen.preferences.household_babies IS 'Babies: no portion.';
COMMENT ON COLUMN kitchen.preferences.nutrition_goals IS 'Goals: more protein, less sugar.';
COMMENT ON COLUMN kitchen.preferences.cooking_frequency IS 'How often the user cooks.';
COMMENT ON COLUMN kitchen.preferences.available_equipment IS 'Special equipment at home.';
COMMENT ON COLUMN kitchen.preferences.time_budget_minutes IS 'Minutes for an ordinary meal.';
COMMENT ON COLUMN kitchen.preferences.preferred_complexity IS 'How elaborate dishes may be: simple, moderate, complex.';
COMMENT ON COLUMN kitchen.preferences.planning_rhythm IS 'When the user cooks, not when they eat: Sunday batch, weeknights after 18:00.';
COMMENT ON COLUMN kitchen.preferences.current_vibes IS 'What the user is in the mood for these days.';
COMMENT ON COLUMN kitchen.preferences.subdomain_guidance IS 'The user''s own wishes per subdomain, as {subdomain: text}.';
COMMENT ON COLUMN kitchen.preferences.assumed_staples IS 'Ingredients that are always at home and need not be bought.';
COMMENT ON COLUMN kitchen.preferences.created_at IS 'When the row was made.';
COMMENT ON COLUMN kitchen.preferences.updated_at IS 'When the row last changed.';
CREATE TRIGGER set_updated_at BEFORE UPDATE ON kitchen.preferences
    FOR EACH ROW EXECUTE FUNCTION kitchen.set_updated_at();
ALTER TABLE kitchen.preferences REPLICA IDENTITY USING INDEX preferences_user_id_id_key;
ALTER TABLE kitchen.preferences ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON kitchen.preferences TO alfred_tenant
    USING (user_id = (SELECT nullif(current_setting('alfred.user_id', true), '')::uuid))
    WITH CHECK (user_id = nullif(current_setting('alfred.user_id', true), '')::uuid);
GRANT SELECT, DELETE, INSERT (dietary_restrictions, allergies, disliked_ingredients, favorite_cuisines, cooking_skill_level, household_adults, household_kids, household_babies, nutrition_goals, cooking_frequency, available_equipment, time_budget_minutes, preferred_complexity, planning_rhythm, current_vibes, subdomain_guidance, assumed_staples), UPDATE (dietary_restrictions, allergies, disliked_ingredients, favorite_cuisines, cooking_skill_level, household_adults, household_kids, household_babies, nutrition_goals, cooking_frequency, available_equipment, time_budget_minutes, preferred_complexity, planning_rhythm, current_vibes, subdomain_guidance, assumed_staples) ON kitchen.preferences TO alfred_tenant;

CREATE TABLE kitchen.cooking_log (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    user_id uuid NOT NULL DEFAULT nullif(current_setting('alfred.user_id', true), '')::uuid
        REFERENCES alfred.users (id) ON DELETE CASCADE,
    recipe_id uuid,
    cooked_at timestamptz NOT NULL DEFAULT now(),
    servings integer CONSTRAINT cooking_log_servings_positive CHECK (servings > 0),
    rating smallint CONSTRAINT cooking_log_rating_known CHECK (rating BETWEEN 1 AND 5),
    notes text,
    from_meal_plan_id uuid,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (user_id, id),
    FOREIGN KEY (user_id, recipe_id) REFERENCES kitchen.recipes (user_id, id) ON DELETE SET NULL (recipe_id),
    FOREIGN KEY (user_id, from_meal_plan_id) REFERENCES kitchen.meal_plans (user_id, id) ON DELETE SET NULL (from_meal_plan_id)
);
CREATE INDEX cooking_log_user_cooked ON kitchen.cooking_log (user_id, cooked_at);
CREATE INDEX cooking_log_recipe ON kitchen.cooking_log (user_id, recipe_id);
CREATE INDEX cooking_log_meal_plan ON kitchen.cooking_log (user_id, from_meal_plan_id);
COMMENT ON TABLE kitchen.cooking_log IS 'What was cooked, and how it was. Read it to plan variety.';
COMMENT ON COLUMN kitchen.cooking_log.id IS 'Key. Models never see it.';
COMMENT ON COLUMN kitchen.cooking_log.user_id IS 'Whose row it is.';
COMMENT ON COLUMN kitchen.cooking_log.recipe_id IS 'What was cooked.';
COMMENT ON COLUMN kitchen.cooking_log.cooked_at IS 'When.';
COMMENT ON COLUMN kitchen.cooking_log.servings IS 'Servings made.';
COMMENT ON COLUMN kitchen.cooking_log.rating IS '1 poor to 5 excellent.';
COMMENT ON COLUMN kitchen.cooking_log.notes IS 'What to do better.';
COMMENT ON COLUMN kitchen.cooking_log.from_meal_plan_id IS 'The planned meal that this was.';
COMMENT ON COLUMN kitchen.cooking_log.created_at IS 'When the row was made.';
COMMENT ON COLUMN kitchen.cooking_log.updated_at IS 'When the row last changed.';
CREATE TRIGGER set_updated_at BEFORE UPDATE ON kitchen.cooking_log
    FOR EACH ROW EXECUTE FUNCTION kitchen.set_updated_at();
ALTER TABLE kitchen.cooking_log REPLICA IDENTITY USING INDEX cooking_log_user_id_id_key;
ALTER TABLE kitchen.cooking_log ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON kitchen.cooking_log TO alfred_tenant
    USING (user_id = (SELECT nullif(current_setting('alfred.user_id', true), '')::uuid))
    WITH CHECK (user_id = nullif(current_setting('alfred.user_id', true), '')::uuid);
GRANT SELECT, DELETE, INSERT (recipe_id, cooked_at, servings, rating, notes, from_meal_plan_id), UPDATE (recipe_id, cooked_at, servings, rating, notes, from_meal_plan_id) ON kitchen.cooking_log TO alfred_tenant;

-- What the tenant may delete, undo may bring back, keys and all; what it may create it may delete anyway.
GRANT INSERT ON kitchen.recipes, kitchen.recipe_ingredients, kitchen.inventory, kitchen.shopping_list, kitchen.meal_plans, kitchen.tasks,
    kitchen.preferences, kitchen.cooking_log TO alfred_undo;

-- +goose Down
DROP TABLE kitchen.cooking_log;
DROP TABLE kitchen.preferences;
DROP TABLE kitchen.tasks;
DROP TABLE kitchen.meal_plans;
DROP TABLE kitchen.shopping_list;
DROP TABLE kitchen.inventory;
DROP TABLE kitchen.recipe_ingredients;
DROP TABLE kitchen.recipes;
DROP TABLE kitchen.ingredients;
DROP FUNCTION kitchen.set_updated_at();
DROP SCHEMA kitchen;
