-- Policies look up whose transaction it is once per statement: for each row it took four times as long as reading the row.

-- +goose Up
ALTER POLICY tenant ON kitchen.recipes USING (user_id = (SELECT nullif(current_setting('alfred.user_id', true), '')::uuid));
ALTER POLICY tenant ON kitchen.recipe_ingredients USING (user_id = (SELECT nullif(current_setting('alfred.user_id', true), '')::uuid));
ALTER POLICY tenant ON kitchen.inventory USING (user_id = (SELECT nullif(current_setting('alfred.user_id', true), '')::uuid));
ALTER POLICY tenant ON kitchen.shopping_list USING (user_id = (SELECT nullif(current_setting('alfred.user_id', true), '')::uuid));
ALTER POLICY tenant ON kitchen.meal_plans USING (user_id = (SELECT nullif(current_setting('alfred.user_id', true), '')::uuid));
ALTER POLICY tenant ON kitchen.tasks USING (user_id = (SELECT nullif(current_setting('alfred.user_id', true), '')::uuid));
ALTER POLICY tenant ON kitchen.preferences USING (user_id = (SELECT nullif(current_setting('alfred.user_id', true), '')::uuid));
ALTER POLICY tenant ON kitchen.cooking_log USING (user_id = (SELECT nullif(current_setting('alfred.user_id', true), '')::uuid));

-- +goose Down
ALTER POLICY tenant ON kitchen.recipes USING (user_id = nullif(current_setting('alfred.user_id', true), '')::uuid);
ALTER POLICY tenant ON kitchen.recipe_ingredients USING (user_id = nullif(current_setting('alfred.user_id', true), '')::uuid);
ALTER POLICY tenant ON kitchen.inventory USING (user_id = nullif(current_setting('alfred.user_id', true), '')::uuid);
ALTER POLICY tenant ON kitchen.shopping_list USING (user_id = nullif(current_setting('alfred.user_id', true), '')::uuid);
ALTER POLICY tenant ON kitchen.meal_plans USING (user_id = nullif(current_setting('alfred.user_id', true), '')::uuid);
ALTER POLICY tenant ON kitchen.tasks USING (user_id = nullif(current_setting('alfred.user_id', true), '')::uuid);
ALTER POLICY tenant ON kitchen.preferences USING (user_id = nullif(current_setting('alfred.user_id', true), '')::uuid);
ALTER POLICY tenant ON kitchen.cooking_log USING (user_id = nullif(current_setting('alfred.user_id', true), '')::uuid);
