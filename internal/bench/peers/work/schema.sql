-- The rows that a turn reads and writes.
CREATE TABLE IF NOT EXISTS shopping (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, owner text NOT NULL, name text NOT NULL);
CREATE INDEX IF NOT EXISTS shopping_owner ON shopping (owner, id DESC);

-- What is kept of a turn besides the framework's record, see keep.sql. As in Alfred, what is long is compressed, with lz4 if the server
-- has it, and stays in its row.
CREATE TABLE IF NOT EXISTS kept_parts (session text, hash uuid, text text NOT NULL, PRIMARY KEY (session, hash));
CREATE TABLE IF NOT EXISTS kept_parts_shared (hash uuid PRIMARY KEY, text text NOT NULL);
CREATE TABLE IF NOT EXISTS kept_calls (
    session text, turn integer, n integer, node text NOT NULL, outline text NOT NULL, parts uuid[] NOT NULL, response jsonb NOT NULL,
    PRIMARY KEY (session, turn, n)
) WITH (toast_tuple_target = 256);
CREATE TABLE IF NOT EXISTS kept_results (
    session text, turn integer, step integer, call integer, tool text NOT NULL, params jsonb NOT NULL, rows jsonb NOT NULL,
    PRIMARY KEY (session, turn, step, call)
);
CREATE TABLE IF NOT EXISTS kept_events (session text, turn integer, seq integer, type text NOT NULL, data jsonb NOT NULL, PRIMARY KEY (session, turn, seq));
DO $$
DECLARE
    c record;
BEGIN
    FOR c IN SELECT a.attrelid::regclass AS relation, a.attname FROM pg_attribute AS a
             WHERE a.attrelid IN ('kept_parts'::regclass, 'kept_parts_shared'::regclass, 'kept_calls'::regclass, 'kept_results'::regclass, 'kept_events'::regclass)
               AND a.attname IN ('text', 'outline', 'response', 'rows', 'data') LOOP
        IF EXISTS (SELECT FROM pg_settings AS s WHERE s.name = 'default_toast_compression' AND 'lz4' = ANY (s.enumvals)) THEN
            EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET COMPRESSION lz4', c.relation, c.attname);
        END IF;
        IF c.attname IN ('text', 'outline', 'response') THEN
            EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STORAGE MAIN', c.relation, c.attname);
        END IF;
    END LOOP;
END
$$;
