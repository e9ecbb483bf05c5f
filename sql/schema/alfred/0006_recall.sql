-- Search: vectors, and words. Under row-level security the operators of full text and trigrams cannot use an index, because they
-- are not leakproof; so both searches run as functions of the owner that filter by the tenant themselves.

-- +goose Up

CREATE TABLE embeddings (
    owner_kind   text        NOT NULL,
    owner_id     text        NOT NULL,
    model        text        NOT NULL,
    user_id      uuid,
    dimensions   integer     NOT NULL,
    content_hash bytea       NOT NULL,
    embedding    vector      NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT embeddings_key UNIQUE NULLS NOT DISTINCT (owner_kind, owner_id, model, user_id),
    CONSTRAINT embeddings_user_fkey FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT embeddings_dimensions_true CHECK (vector_dims(embedding) = dimensions)
);
-- Shared rows have no user, so no primary key can hold one.
ALTER TABLE embeddings REPLICA IDENTITY FULL;
CREATE INDEX embeddings_user_model_idx ON embeddings (user_id, model, owner_kind);
COMMENT ON TABLE embeddings IS 'Vectors of rows and turns. Each (model, dimensions) gets a partial HNSW index when the worker first uses it.';
COMMENT ON COLUMN embeddings.owner_kind IS 'Entity type, or turn.';
COMMENT ON COLUMN embeddings.owner_id IS 'Key of the row or turn, as text.';
COMMENT ON COLUMN embeddings.model IS 'Which embedder made it; vectors of different models are never compared.';
COMMENT ON COLUMN embeddings.user_id IS 'Whose it is; null for shared reference rows.';
COMMENT ON COLUMN embeddings.dimensions IS 'Length of the vector.';
COMMENT ON COLUMN embeddings.content_hash IS 'SHA-256 of the embedded text: unchanged text is not embedded twice.';
COMMENT ON COLUMN embeddings.embedding IS 'As the embedder returned it; compared by cosine distance.';
COMMENT ON COLUMN embeddings.created_at IS 'When it was stored; a change of the text stores it anew.';

-- +goose StatementBegin
CREATE FUNCTION embedding_models() RETURNS TABLE (model text, dimensions integer)
LANGUAGE sql STABLE
SET search_path = alfred, public, pg_temp
AS $$
    SELECT d.named ->> 'model', (d.named ->> 'dimensions')::integer
    FROM pg_index AS i
    JOIN pg_class AS c ON c.oid = i.indexrelid
    CROSS JOIN LATERAL (SELECT obj_description(c.oid, 'pg_class')::jsonb AS named) AS d
    WHERE i.indrelid = 'embeddings'::regclass AND i.indisvalid AND c.relname LIKE 'embeddings\_hnsw\_%'
    ORDER BY c.oid DESC
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION embedding_models IS 'Models whose every text has a vector, the newest first: those whose index stands. A worker makes it then, and the comment on it names the model.';

-- +goose StatementBegin
CREATE FUNCTION recall_turns(query text, except_turn uuid, lim integer) RETURNS TABLE (turn_id uuid, likeness real)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = alfred, public, pg_temp
AS $$
    WITH asked AS ( -- any of the words: people who ask for something said before rarely use all of the same ones
        SELECT w.words, quote_literal(' ' || tenant_id())::tsquery && w.words AS mine
        FROM (SELECT replace(plainto_tsquery('english', recall_turns.query)::text, '&', '|')::tsquery AS words) AS w
        WHERE numnode(w.words) > 0
    ),
    best AS ( -- before any other table is asked: thousands of turns may hold a word
        SELECT s.turn_id, ts_rank_cd(s.search, asked.words) AS likeness
        FROM asked JOIN turn_summaries AS s ON s.search @@ asked.mine
        WHERE s.turn_id <> recall_turns.except_turn
        ORDER BY 2 DESC, 1 DESC LIMIT recall_turns.lim
    )
    SELECT b.turn_id, b.likeness
    FROM best AS b JOIN turns AS t ON t.id = b.turn_id
    WHERE t.user_id = (SELECT tenant_id()) AND t.status = 'succeeded'
    UNION ALL -- the few that have been answered a moment ago
    SELECT t.id, ts_rank_cd(said.words, asked.words)
    FROM asked
    CROSS JOIN turns AS t
    CROSS JOIN LATERAL (SELECT to_tsvector('english', concat_ws(' ', left(t.message, 8000), left(t.reply, 8000))) AS words) AS said
    WHERE t.user_id = (SELECT tenant_id()) AND t.status = 'succeeded' AND t.summarized_at IS NULL AND t.id <> recall_turns.except_turn
      AND NOT EXISTS (SELECT FROM turn_summaries AS s WHERE s.turn_id = t.id) AND said.words @@ asked.words
    ORDER BY 2 DESC, 1 DESC
    LIMIT recall_turns.lim
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION recall_turns IS 'The tenant''s past turns that hold any of the words, best first.';

-- +goose StatementBegin
CREATE FUNCTION recall_names(source regclass, key_column name, owner_column name, name_column name, query text, lim integer)
RETURNS TABLE (row_key text, likeness real)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = alfred, public, pg_temp
AS $$
DECLARE
    words text[] := ARRAY(
        SELECT DISTINCT w.word FROM regexp_split_to_table(lower(recall_names.query), '[^[:alnum:]]+') AS w (word)
        WHERE char_length(w.word) >= 3 AND to_tsvector('english', w.word) <> '' LIMIT 20);
BEGIN
    RETURN QUERY EXECUTE format(
        'SELECT r.%2$I::text, sum(strict_word_similarity(w.word, r.%4$I::text))::real
         FROM unnest($1) AS w (word) JOIN %1$s AS r ON r.%4$I %%>> w.word
         WHERE r.%3$I = $2 GROUP BY r.%2$I ORDER BY 2 DESC, 1 LIMIT $3',
        recall_names.source, recall_names.key_column, recall_names.owner_column, recall_names.name_column)
    USING words, tenant_id(), recall_names.lim;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION recall_names IS 'The tenant''s rows of a table whose name is like any of the words, best first; a trigram index on the name serves it. The role that owns this function must be able to read the table.';

-- +goose Down
DROP FUNCTION recall_names(regclass, name, name, name, text, integer);
DROP FUNCTION recall_turns(text, uuid, integer);
DROP FUNCTION embedding_models();
DROP TABLE embeddings;
