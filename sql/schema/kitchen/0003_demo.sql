-- +goose Up
-- Something to talk about: three recipes, twelve things at home, preferences.
-- Nothing dated, so that the seed is the same on every day. The user demo has it
-- with fixed ids, any other user gets it by seed_demo.
INSERT INTO alfred.users (id, name, timezone)
VALUES ('01900000-0000-7000-8000-000000000001', 'demo', 'UTC')
ON CONFLICT (name) DO NOTHING;

-- +goose StatementBegin
CREATE FUNCTION kitchen.seed_demo(owner uuid) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    demo  uuid := seed_demo.owner;
    fixed boolean := demo = '01900000-0000-7000-8000-000000000001';
BEGIN
    INSERT INTO kitchen.recipes (id, user_id, name, description, cuisine, difficulty, prep_time_minutes,
        cook_time_minutes, servings, instructions, occasions, health_tags, flavor_tags, equipment_tags)
    VALUES
    (CASE WHEN fixed THEN '01900000-0000-7000-8000-000000000101' ELSE md5(demo || '101')::uuid END, demo, 'Butter Chicken',
        'Tender chicken in a creamy tomato sauce with butter and warm spices.', 'indian', 'medium', 15, 30, 4,
        ARRAY['Cut the chicken thighs into bite-size pieces and toss them with the yogurt, half of the garam masala and the salt.',
              'Melt half of the butter in a wide pan and brown the chicken on all sides, about 6 minutes. Set it aside.',
              'In the same pan soften the onion for 5 minutes, then add the garlic and the ginger and cook for 1 minute.',
              'Stir in the cumin, the paprika and the rest of the garam masala, then the canned tomatoes. Simmer for 10 minutes.',
              'Blend the sauce smooth, return it to the pan and add the chicken. Simmer for 8 minutes until cooked through.',
              'Stir in the heavy cream and the rest of the butter. Serve with basmati rice and cilantro.'],
        '{weeknight,comfort}', '{high-protein,gluten-free}', '{rich,savory,mild}', '{stovetop,one-pan}'),
    (CASE WHEN fixed THEN '01900000-0000-7000-8000-000000000102' ELSE md5(demo || '102')::uuid END, demo, 'Pad See Ew',
        'Wide rice noodles charred in dark soy sauce with egg and Chinese broccoli.', 'thai', 'easy', 15, 10, 2,
        ARRAY['Soften the rice noodles in warm water and drain them. Separate the stems of the gai lan from the leaves.',
              'Mix the soy sauce, the dark soy sauce, the oyster sauce and the sugar.',
              'Heat a wok until it smokes. Add the oil and brown the chicken breasts in strips for 3 minutes. Set them aside.',
              'Fry the garlic and the stems for 1 minute, push them aside and scramble the eggs.',
              'Add the noodles, the leaves and the sauce. Leave it untouched for 30 seconds at a time so that it chars.',
              'Return the chicken, toss once and serve with white pepper.'],
        '{weeknight}', '{high-protein,dairy-free}', '{savory,umami}', '{stovetop,one-pan}'),
    (CASE WHEN fixed THEN '01900000-0000-7000-8000-000000000103' ELSE md5(demo || '103')::uuid END, demo, 'Shakshuka Classic',
        'Eggs poached in a spiced tomato and pepper sauce.', 'mediterranean', 'easy', 10, 25, 3,
        ARRAY['Soften the onion and the bell pepper in the olive oil over medium heat, about 8 minutes.',
              'Add the garlic, the cumin, the paprika and the chili flakes and cook for 1 minute.',
              'Pour in the canned tomatoes, season with salt and simmer for 10 minutes until thick.',
              'Make six hollows and crack an egg into each. Cover and cook for 6 minutes until the whites are set.',
              'Scatter the parsley over and serve with bread.'],
        '{weekend,comfort}', '{vegetarian,light,dairy-free}', '{savory,tangy,spicy}', '{stovetop,one-pan}');

    INSERT INTO kitchen.recipe_ingredients (user_id, recipe_id, ingredient_id, name, quantity, unit, notes, category, is_optional)
    SELECT demo, CASE WHEN fixed THEN ('01900000-0000-7000-8000-000000000' || row.recipe)::uuid ELSE md5(demo || row.recipe)::uuid END, i.id, row.name, row.quantity, row.unit, row.notes, i.category, row.optional
    FROM (VALUES
        ( 1, '101', 'chicken thighs', 600, 'g', 'boneless, in pieces', false),
        ( 2, '101', 'yogurt', 100, 'g', NULL, false),
        ( 3, '101', 'butter', 50, 'g', NULL, false),
        ( 4, '101', 'onion', 1, 'piece', 'finely chopped', false),
        ( 5, '101', 'garlic', 4, 'clove', 'minced', false),
        ( 6, '101', 'ginger', 20, 'g', 'grated', false),
        ( 7, '101', 'canned tomatoes', 1, 'can', NULL, false),
        ( 8, '101', 'heavy cream', 120, 'ml', NULL, false),
        ( 9, '101', 'garam masala', 2, 'tsp', NULL, false),
        (10, '101', 'cumin', 1, 'tsp', 'ground', false),
        (11, '101', 'paprika', 1, 'tsp', NULL, false),
        (12, '101', 'salt', 1, 'tsp', NULL, false),
        (13, '101', 'basmati rice', 300, 'g', 'to serve', false),
        (14, '101', 'cilantro', NULL, NULL, 'to garnish', true),
        (15, '102', 'wide rice noodles', 250, 'g', NULL, false),
        (16, '102', 'chicken breasts', 250, 'g', 'in strips', false),
        (17, '102', 'gai lan', 1, 'bunch', NULL, false),
        (18, '102', 'eggs', 2, 'count', NULL, false),
        (19, '102', 'garlic', 3, 'clove', 'chopped', false),
        (20, '102', 'soy sauce', 1, 'tbsp', NULL, false),
        (21, '102', 'dark soy sauce', 1, 'tbsp', NULL, false),
        (22, '102', 'oyster sauce', 1.5, 'tbsp', NULL, false),
        (23, '102', 'sugar', 10, 'g', NULL, false),
        (24, '102', 'vegetable oil', 2, 'tbsp', NULL, false),
        (25, '102', 'white pepper', NULL, NULL, 'to taste', true),
        (26, '103', 'eggs', 6, 'count', NULL, false),
        (27, '103', 'canned tomatoes', 2, 'can', NULL, false),
        (28, '103', 'onion', 1, 'piece', 'sliced', false),
        (29, '103', 'red bell pepper', 1, 'piece', 'sliced', false),
        (30, '103', 'garlic', 3, 'clove', 'sliced', false),
        (31, '103', 'cumin', 1, 'tsp', 'ground', false),
        (32, '103', 'paprika', 1, 'tsp', NULL, false),
        (33, '103', 'chili flakes', 0.5, 'tsp', NULL, false),
        (34, '103', 'olive oil', 2, 'tbsp', NULL, false),
        (35, '103', 'salt', 1, 'tsp', NULL, false),
        (36, '103', 'parsley', NULL, NULL, 'to garnish', true),
        (37, '103', 'bread', 3, 'slice', 'to serve', true)
    ) AS row (n, recipe, name, quantity, unit, notes, optional)
    LEFT JOIN kitchen.ingredients AS i ON i.name = row.name
    ORDER BY row.n;

    INSERT INTO kitchen.inventory (user_id, ingredient_id, name, quantity, unit, location, category)
    SELECT demo, i.id, row.name, row.quantity, row.unit, row.location, i.category
    FROM (VALUES
        ('Basmati rice', 1, 'kg', 'pantry'),
        ('Canned tomatoes', 4, 'can', 'pantry'),
        ('Spaghetti', 500, 'g', 'pantry'),
        ('Olive oil', 750, 'ml', 'pantry'),
        ('Milk', 1, 'l', 'fridge'),
        ('Butter', 250, 'g', 'fridge'),
        ('Greek yogurt', 500, 'g', 'fridge'),
        ('Spinach', 200, 'g', 'fridge'),
        ('Cheddar', 300, 'g', 'fridge'),
        ('Chicken thighs', 800, 'g', 'freezer'),
        ('Cod', 400, 'g', 'freezer'),
        ('Peas', 500, 'g', 'freezer')
    ) AS row (name, quantity, unit, location)
    LEFT JOIN kitchen.ingredients AS i ON i.name = lower(row.name);

    INSERT INTO kitchen.preferences (user_id, favorite_cuisines, household_adults, available_equipment,
        planning_rhythm, subdomain_guidance, assumed_staples)
    SELECT demo, '{indian,thai}', 2, '{wok}', '{"weeknights after 18:00"}',
        '{"meal_plans": "Weeknight dinners within 45 minutes."}',
        (SELECT array_agg(id ORDER BY name) FROM kitchen.ingredients WHERE name IN ('salt', 'black pepper', 'olive oil'));
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION kitchen.seed_demo IS 'Gives a user the demo''s recipes, pantry and preferences.';

SELECT kitchen.seed_demo(id) FROM alfred.users WHERE name = 'demo';

-- +goose Down
DROP FUNCTION kitchen.seed_demo(uuid);
DELETE FROM kitchen.recipes WHERE id IN ('01900000-0000-7000-8000-000000000101', '01900000-0000-7000-8000-000000000102',
    '01900000-0000-7000-8000-000000000103');
DELETE FROM alfred.users WHERE id = '01900000-0000-7000-8000-000000000001';
