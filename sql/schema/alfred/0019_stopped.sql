-- What a reply had said when its turn was stopped stays with the turn: its pieces are deleted with the turn's end.

-- +goose Up

ALTER TABLE turns ADD COLUMN said text;
COMMENT ON COLUMN turns.said IS 'What the reply had said when the turn was cancelled; null if that was nothing.';

-- +goose StatementBegin
CREATE FUNCTION turn_said() RETURNS trigger
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
BEGIN
    NEW.said := (
        SELECT nullif(string_agg(e.data ->> 'text', '' ORDER BY e.seq), '')
        FROM turn_events AS e
        WHERE e.turn_id = NEW.id AND e.type = 'reply.delta'
          AND NOT EXISTS (SELECT FROM turn_events AS r WHERE r.turn_id = NEW.id AND r.type = 'reply.reset' AND r.seq > e.seq)
    );
    RETURN NEW;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION turn_said IS 'Keeps what the reply of a turn had said when the turn is cancelled.';
REVOKE EXECUTE ON FUNCTION turn_said() FROM PUBLIC;

CREATE TRIGGER turn_said BEFORE UPDATE ON turns
FOR EACH ROW WHEN (NEW.status = 'cancelled' AND OLD.status = 'running') EXECUTE FUNCTION turn_said();

-- +goose Down

DROP TRIGGER turn_said ON turns;
DROP FUNCTION turn_said();
ALTER TABLE turns DROP COLUMN said;
