-- A call's list of what its prompt contained is a fifth as long: items in a row that share section and reason are one text. A
-- short column is not moved out of a row whose long ones are compressed.

-- +goose Up

ALTER TABLE llm_calls DROP CONSTRAINT llm_calls_reasons_known;
ALTER TABLE llm_calls ADD CONSTRAINT llm_calls_reasons_known CHECK (
    jsonb_path_query_array(context, 'strict $[*] ? (@.size() == 3)[1]') <@ jsonb '["recent", "retained", "generated", "excluded", "linked",
        "mentioned", "recalled", "pinned", "current", "window", "summary", "constraint", "question", "profile", "snapshot", "schema"]') NOT VALID;
COMMENT ON COLUMN llm_calls.context IS 'Why each item was in the prompt, in order: [section, reason, "turn number:tokens:ref, ..."] for items in a row; older programs wrote [section, ref, turn number, reason, tokens] each. Read it as context_items.';
COMMENT ON COLUMN v_llm_calls.context IS 'Why each item was in the prompt, as in llm_calls.context. Read it as context_items.';
ALTER TABLE llm_calls ALTER COLUMN parts SET STORAGE MAIN;

CREATE OR REPLACE VIEW context_items WITH (security_invoker = true) AS
SELECT c.id AS llm_call_id, i.position::integer AS position, i.section::text AS section, i.ref::text AS ref,
       i.turn_number::integer AS turn_number, i.reason::text AS reason, i.tokens::integer AS tokens
FROM llm_calls AS c
CROSS JOIN LATERAL (
    SELECT row_number() OVER (ORDER BY g.n, m.n) AS position, g.items ->> 0 AS section, nullif(split_part(m.item, ':', 3), '') AS ref,
           nullif(split_part(m.item, ':', 1), '') AS turn_number, g.items ->> o.reason AS reason, split_part(m.item, ':', 2) AS tokens
    FROM jsonb_array_elements(c.context) WITH ORDINALITY AS g (items, n)
    CROSS JOIN LATERAL (SELECT CASE jsonb_array_length(g.items) WHEN 5 THEN 3 ELSE 1 END AS reason) AS o
    CROSS JOIN LATERAL string_to_table(CASE o.reason WHEN 1 THEN g.items ->> 2
        ELSE concat(g.items ->> 2, ':', g.items ->> 4, ':', g.items ->> 1) END, ', ') WITH ORDINALITY AS m (item, n)) AS i;
COMMENT ON VIEW context_items IS 'Public API. Why each item was in a prompt: llm_calls.context, item by item.';
COMMENT ON COLUMN context_items.llm_call_id IS 'llm_calls.id of the prompt that contained the item.';
COMMENT ON COLUMN context_items.position IS 'Order in the prompt, from 1.';
COMMENT ON COLUMN context_items.section IS 'The section''s heading.';
COMMENT ON COLUMN context_items.ref IS 'The entity; null for other items.';
COMMENT ON COLUMN context_items.turn_number IS 'The turn it comes from; null if it belongs to none.';
COMMENT ON COLUMN context_items.reason IS 'Why it was there.';
COMMENT ON COLUMN context_items.tokens IS 'Its size, estimated.';

-- +goose Down
ALTER TABLE llm_calls ALTER COLUMN parts SET STORAGE EXTENDED;
UPDATE llm_calls AS c
SET context = (SELECT coalesce(jsonb_agg(jsonb_build_array(i.section, i.ref, i.turn_number, i.reason, i.tokens) ORDER BY i.position), '[]')
               FROM context_items AS i WHERE i.llm_call_id = c.id)
WHERE jsonb_path_exists(c.context, 'strict $[*] ? (@.size() == 3)');
CREATE OR REPLACE VIEW context_items WITH (security_invoker = true) AS
SELECT c.id AS llm_call_id, i.position::integer AS position, (i.item ->> 0)::text AS section, (i.item ->> 1)::text AS ref,
       (i.item ->> 2)::integer AS turn_number, (i.item ->> 3)::text AS reason, (i.item ->> 4)::integer AS tokens
FROM llm_calls AS c
CROSS JOIN LATERAL jsonb_array_elements(c.context) WITH ORDINALITY AS i (item, position);
COMMENT ON COLUMN llm_calls.context IS 'Why each item was in the prompt, in order: [section, ref, turn number, reason, tokens] each. Read it as context_items.';
COMMENT ON COLUMN v_llm_calls.context IS 'Why each item was in the prompt, in order: [section, ref, turn number, reason, tokens] each. Read it as context_items.';
ALTER TABLE llm_calls DROP CONSTRAINT llm_calls_reasons_known;
ALTER TABLE llm_calls ADD CONSTRAINT llm_calls_reasons_known CHECK (jsonb_path_query_array(context, '$[*][3]') <@ jsonb '["recent", "retained", "generated",
    "excluded", "linked", "mentioned", "recalled", "pinned", "current", "window", "summary", "constraint", "question", "profile",
    "snapshot", "schema"]');
