-- Recall finds words by their stems, in the language of the database's users: English until recall_language names another.

-- +goose Up
CREATE TEXT SEARCH CONFIGURATION alfred.words (COPY = pg_catalog.english);
COMMENT ON TEXT SEARCH CONFIGURATION alfred.words IS 'How recall takes texts apart into words and stems. Change it with recall_language.';

-- +goose StatementBegin
DO $$
DECLARE
    f regprocedure;
BEGIN
    FOR f IN SELECT p.oid FROM pg_proc AS p WHERE p.pronamespace = 'alfred'::regnamespace AND p.prosrc LIKE '%to_tsvector(''english''%' LOOP
        EXECUTE replace(pg_get_functiondef(f), 'to_tsvector(''english''', 'to_tsvector(''alfred.words''');
    END LOOP;
END
$$;
-- +goose StatementEnd

-- The configuration itself stays, because statements that other connections have planned name it by its number. Nobody may
-- write words while it changes: they would be of the language before.
-- +goose StatementBegin
CREATE FUNCTION recall_language(language regconfig) RETURNS void
LANGUAGE plpgsql
SET search_path = alfred, public, pg_temp
AS $$
DECLARE
    kind text;
    uses text;
BEGIN
    IF (SELECT count(DISTINCT c.cfgparser) FROM pg_ts_config AS c WHERE c.oid IN (recall_language.language, 'alfred.words'::regconfig)) > 1 THEN
        RAISE EXCEPTION '% takes texts apart with a parser of its own; recall knows only languages of the default parser', recall_language.language
            USING ERRCODE = 'feature_not_supported';
    END IF;
    LOCK TABLE turn_summaries, embeddings, user_words IN SHARE ROW EXCLUSIVE MODE;
    FOR kind, uses IN
        SELECT t.alias, string_agg(m.mapdict::regdictionary::text, ', ' ORDER BY m.mapseqno)
        FROM pg_ts_config AS c
        CROSS JOIN LATERAL ts_token_type(c.cfgparser) AS t
        LEFT JOIN pg_ts_config_map AS m ON m.mapcfg = c.oid AND m.maptokentype = t.tokid
        WHERE c.oid = recall_language.language
        GROUP BY t.alias
    LOOP
        EXECUTE format('ALTER TEXT SEARCH CONFIGURATION alfred.words DROP MAPPING IF EXISTS FOR %I', kind);
        IF uses IS NOT NULL THEN
            EXECUTE format('ALTER TEXT SEARCH CONFIGURATION alfred.words ADD MAPPING FOR %I WITH ', kind) || uses;
        END IF;
    END LOOP;
    UPDATE turn_summaries SET goal = goal; -- its trigger writes the words
    DELETE FROM user_words;
    DELETE FROM embeddings WHERE owner_kind <> 'turn';
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION recall_language IS 'Makes recall find words by the stems of a language (spanish, german, or any text search configuration of the default parser), for all users of the database. The words of turns are written anew at once; those of rows, and their vectors, by a worker''s next sweep.';
REVOKE EXECUTE ON FUNCTION recall_language FROM PUBLIC;

-- It runs once a turn, for one turn: planning it anew took as long as the rest of it. A plan made once must not read whole tables
-- because they were small then.
ALTER FUNCTION user_words_list SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION user_words_list SET enable_seqscan = off;

COMMENT ON COLUMN embeddings.user_id IS 'Owner; null for rows that everybody has.';

-- +goose Down
ALTER FUNCTION user_words_list RESET enable_seqscan;
ALTER FUNCTION user_words_list RESET plan_cache_mode;
COMMENT ON COLUMN embeddings.user_id IS 'Owner; null for shared reference rows.';
DROP FUNCTION recall_language;

-- +goose StatementBegin
DO $$
DECLARE
    f regprocedure;
BEGIN
    FOR f IN SELECT p.oid FROM pg_proc AS p WHERE p.pronamespace = 'alfred'::regnamespace AND p.prosrc LIKE '%to_tsvector(''alfred.words''%' LOOP
        EXECUTE replace(pg_get_functiondef(f), 'to_tsvector(''alfred.words''', 'to_tsvector(''english''');
    END LOOP;
END
$$;
-- +goose StatementEnd
DROP TEXT SEARCH CONFIGURATION alfred.words;
