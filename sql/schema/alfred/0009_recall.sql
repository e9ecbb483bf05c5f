-- Search by words. Under row-level security the operators of full text and trigrams cannot use an index, because they
-- are not leakproof; so both searches run as functions of the owner that filter by the tenant themselves.

-- +goose Up

-- A turn is found by what was said in it too, not only by its summary. The words stand beside the summary because a
-- running turn's row is rewritten at every decision.
ALTER TABLE turn_summaries DROP COLUMN search;
ALTER TABLE turn_summaries ADD COLUMN search tsvector;
COMMENT ON COLUMN turn_summaries.search IS 'Set by trigger: the words of message, goal, response_summary and reply, and the user''s id behind a blank.';

-- The user's id is a lexeme of its own, so that the index finds one user's turns without visiting everybody's. No word
-- that the parser makes begins with a blank.
-- +goose StatementBegin
CREATE FUNCTION turn_summary_words() RETURNS trigger
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
BEGIN
    SELECT array_to_tsvector(ARRAY[' ' || t.user_id])
        || to_tsvector('english', concat_ws(' ', left(NEW.user_message, 8000), left(NEW.goal, 8000), left(NEW.response_summary, 8000), left(t.reply, 8000)))
    INTO NEW.search FROM turns AS t WHERE t.id = NEW.turn_id;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION turn_summary_words IS 'Keeps turn_summaries.search.';

CREATE TRIGGER turn_summaries_words BEFORE INSERT OR UPDATE OF user_message, goal, response_summary ON turn_summaries
    FOR EACH ROW EXECUTE FUNCTION turn_summary_words();
UPDATE turn_summaries SET goal = goal;
CREATE INDEX turn_summaries_search_idx ON turn_summaries USING gin (search);

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

REVOKE EXECUTE ON FUNCTION embedding_models(), turn_summary_words(), recall_turns(text, uuid, integer), recall_names(regclass, name, name, name, text, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION recall_turns(text, uuid, integer), recall_names(regclass, name, name, name, text, integer) TO alfred_tenant;

-- +goose Down
DROP FUNCTION embedding_models();
DROP FUNCTION recall_names(regclass, name, name, name, text, integer);
DROP FUNCTION recall_turns(text, uuid, integer);
DROP TRIGGER turn_summaries_words ON turn_summaries;
DROP FUNCTION turn_summary_words();
ALTER TABLE turn_summaries DROP COLUMN search;
ALTER TABLE turn_summaries ADD COLUMN search tsvector
    GENERATED ALWAYS AS (to_tsvector('english', left(user_message, 8000) || ' ' || goal || ' ' || response_summary)) STORED;
CREATE INDEX turn_summaries_search_idx ON turn_summaries USING gin (search);
