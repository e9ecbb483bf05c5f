-- A title ends with a word.

-- +goose Up
CREATE OR REPLACE FUNCTION title_of(words text) RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = alfred, public, pg_temp
RETURN (SELECT CASE WHEN char_length(line.words) <= 60 THEN line.words ELSE regexp_replace(left(line.words, 59), '\s+\S*$', '') || '…' END
        FROM (SELECT btrim(regexp_replace(regexp_replace(title_of.words, '@\[([^]\n]*)\]\([^()\s]*\)', '\1', 'g'), '\s+', ' ', 'g')) AS words) AS line);
COMMENT ON FUNCTION title_of IS 'A conversation''s title from a message or goal: mentions by name, on one line, at most 60 characters and no part of a word.';

-- +goose Down
CREATE OR REPLACE FUNCTION title_of(words text) RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = alfred, public, pg_temp
RETURN left(btrim(regexp_replace(regexp_replace(title_of.words, '@\[([^]\n]*)\]\([^()\s]*\)', '\1', 'g'), '\s+', ' ', 'g')), 60);
COMMENT ON FUNCTION title_of IS 'A conversation''s title from a message or goal: mentions by name, on one line, at most 60 characters.';
