-- Turns that were to write and wrote nothing: told from their rows, because a reply may claim anything in any language.

-- +goose Up

-- Without a plan, the turn was to write if its message asked for it and no decision about the conversation met that.
CREATE FUNCTION turn_unwritten(turn_id uuid) RETURNS boolean
LANGUAGE sql STABLE
SET search_path = alfred, public, pg_temp
AS $$
    SELECT EXISTS (
        SELECT FROM turns AS t
        WHERE t.id = turn_unwritten.turn_id AND t.status = 'succeeded' AND t.undo IS NULL
          AND NOT EXISTS (SELECT FROM questions AS q WHERE q.turn_id = t.id)
          AND CASE WHEN EXISTS (SELECT FROM turn_steps AS s WHERE s.turn_id = t.id)
              THEN (SELECT bool_and(s.outcome IN ('empty', 'failed', 'skipped')) FROM turn_steps AS s WHERE s.turn_id = t.id AND s.step_type = 'write')
              ELSE EXISTS (SELECT FROM node_runs AS n WHERE n.turn_id = t.id AND n.node = 'understand' AND n.output ->> 'intent' = 'write')
                   AND NOT EXISTS (SELECT FROM decisions AS d WHERE d.turn_id = t.id)
                   AND NOT EXISTS (SELECT FROM constraints AS c WHERE c.session_id = t.session_id AND c.source_turn = t.number)
              END
    )
$$;
COMMENT ON FUNCTION turn_unwritten(uuid) IS 'Public API. Whether a turn was to write and no row was saved, changed or deleted, whatever its reply says. False while it runs, if it asked something, and for turns that were not to write.';

REVOKE EXECUTE ON FUNCTION turn_unwritten(uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION turn_unwritten(uuid) TO alfred_tenant;

-- +goose Down

DROP FUNCTION IF EXISTS turn_unwritten(uuid);
