-- UserPlaceElsewhere is whether this database does not serve the user.
-- name: UserPlaceElsewhere :one
SELECT EXISTS (SELECT FROM user_places WHERE user_id = @user_id AND state IN ('away', 'coming'));

-- UserPlaceMake makes a user whom the directory has given this database. One who is there already is left as they are.
-- name: UserPlaceMake :exec
INSERT INTO users (id, name) SELECT @id, @name WHERE NOT EXISTS (SELECT FROM users AS u WHERE u.id = @id) ON CONFLICT (id) DO NOTHING;

-- UserPlaceSet says how this database stands to a user. False: a later attempt has said something since.
-- name: UserPlaceSet :one
SELECT user_place_set(@user_id::uuid, @epoch::bigint, @attempt::int, @state::text)::boolean AS done;

-- UserPlaceStays is whether this database serves the user, and goes on to.
-- name: UserPlaceStays :one
SELECT NOT EXISTS (SELECT FROM user_places WHERE user_id = @user_id AND state <> 'here');
