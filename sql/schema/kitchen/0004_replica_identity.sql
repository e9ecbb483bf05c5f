-- Rows are told apart by owner and key in what Postgres replicates, so that one user's can be published: a filter of a publication may name
-- no other columns where rows are updated.

-- +goose Up
ALTER TABLE kitchen.recipes REPLICA IDENTITY USING INDEX recipes_user_id_id_key;
ALTER TABLE kitchen.recipe_ingredients REPLICA IDENTITY USING INDEX recipe_ingredients_user_id_id_key;
ALTER TABLE kitchen.inventory REPLICA IDENTITY USING INDEX inventory_user_id_id_key;
ALTER TABLE kitchen.shopping_list REPLICA IDENTITY USING INDEX shopping_list_user_id_id_key;
ALTER TABLE kitchen.meal_plans REPLICA IDENTITY USING INDEX meal_plans_user_id_id_key;
ALTER TABLE kitchen.tasks REPLICA IDENTITY USING INDEX tasks_user_id_id_key;
ALTER TABLE kitchen.preferences REPLICA IDENTITY USING INDEX preferences_user_id_id_key;
ALTER TABLE kitchen.cooking_log REPLICA IDENTITY USING INDEX cooking_log_user_id_id_key;

-- +goose Down
ALTER TABLE kitchen.recipes REPLICA IDENTITY DEFAULT;
ALTER TABLE kitchen.recipe_ingredients REPLICA IDENTITY DEFAULT;
ALTER TABLE kitchen.inventory REPLICA IDENTITY DEFAULT;
ALTER TABLE kitchen.shopping_list REPLICA IDENTITY DEFAULT;
ALTER TABLE kitchen.meal_plans REPLICA IDENTITY DEFAULT;
ALTER TABLE kitchen.tasks REPLICA IDENTITY DEFAULT;
ALTER TABLE kitchen.preferences REPLICA IDENTITY DEFAULT;
ALTER TABLE kitchen.cooking_log REPLICA IDENTITY DEFAULT;
