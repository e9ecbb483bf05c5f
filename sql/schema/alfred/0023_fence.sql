-- A decision's fence travels with what follows it: it fails by itself, so that nothing after it is written.

-- +goose Up
-- +goose StatementBegin
CREATE FUNCTION fence_passed(turns bigint) RETURNS void
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
BEGIN
    IF fence_passed.turns = 0 THEN
        RAISE EXCEPTION 'the turn has moved on' USING ERRCODE = 'AL007';
    END IF;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION fence_passed IS 'Fails unless a decision''s fence found its turn where the decision expects it. SQLSTATE AL007 as job_complete.';
REVOKE EXECUTE ON FUNCTION fence_passed(bigint) FROM PUBLIC;

-- +goose Down
DROP FUNCTION fence_passed(bigint);
