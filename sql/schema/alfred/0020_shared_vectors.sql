-- One vector of each row that all users share, whoever asks.

-- +goose Up

-- +goose StatementBegin
CREATE FUNCTION recall_found_shared(query text, kinds text[], vector text, model text, dimensions integer, meaning double precision, lim integer)
RETURNS TABLE (kind text, id text, score double precision)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 50
SET search_path = alfred, public, pg_temp
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    wanted vector := recall_found_shared.vector::vector; -- once, not at each row
BEGIN
    IF tenant_id() IS NULL OR cardinality(recall_found_shared.kinds) = 0 THEN
        RETURN;
    END IF;
    RETURN QUERY
    WITH worded AS MATERIALIZED (
        SELECT r.owner_kind, r.owner_id, r.score
        FROM recall_rows(recall_found_shared.query, recall_found_shared.kinds, true, recall_found_shared.model, 50) AS r
    ),
    near AS (
        SELECT e.owner_kind, e.owner_id, 1 - (e.embedding <=> wanted) AS likeness FROM embeddings AS e
        WHERE e.user_id IS NULL AND e.model = recall_found_shared.model AND e.dimensions = recall_found_shared.dimensions
          AND e.owner_kind = ANY (recall_found_shared.kinds) AND wanted IS NOT NULL
        ORDER BY 3 DESC LIMIT 50
    ),
    found AS (
        SELECT w.owner_kind, w.owner_id, w.score AS words, 1 - (v.embedding <=> wanted) AS likeness
        FROM worded AS w
        LEFT JOIN embeddings AS v ON v.owner_kind = w.owner_kind AND v.owner_id = w.owner_id AND v.model = recall_found_shared.model
                                 AND v.user_id IS NULL AND v.dimensions = recall_found_shared.dimensions
        UNION ALL
        SELECT n.owner_kind, n.owner_id, 0, n.likeness FROM near AS n WHERE n.likeness > 0.15
    )
    SELECT f.owner_kind, f.owner_id, max(f.words) + recall_found_shared.meaning * greatest(max(f.likeness), 0)
    FROM found AS f GROUP BY f.owner_kind, f.owner_id ORDER BY 3 DESC, 1, 2 LIMIT recall_found_shared.lim;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION recall_found_shared IS 'What a question finds of the rows that all users share, as recall_found does of the tenant''s. Whoever shows a row reads it as the tenant, who may not see it.';
REVOKE EXECUTE ON FUNCTION recall_found_shared FROM PUBLIC;
GRANT EXECUTE ON FUNCTION recall_found_shared TO alfred_tenant;

-- +goose Down
DROP FUNCTION recall_found_shared;
