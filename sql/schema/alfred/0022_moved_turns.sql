-- What a stopped turn had said comes along when its user moves: where the turn had arrived while it ran, its pieces are gone.

-- +goose Up
DROP TRIGGER turn_said ON turns;
CREATE TRIGGER turn_said BEFORE UPDATE ON turns FOR EACH ROW
WHEN (NEW.status = 'cancelled' AND OLD.status = 'running' AND current_setting('alfred.moving', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION turn_said();

-- +goose Down
DROP TRIGGER turn_said ON turns;
CREATE TRIGGER turn_said BEFORE UPDATE ON turns
FOR EACH ROW WHEN (NEW.status = 'cancelled' AND OLD.status = 'running') EXECUTE FUNCTION turn_said();
