-- The query trees of views: those of a schema, and those given by oid.
SELECT r.ev_class, r.ev_action::text FROM pg_catalog.pg_rewrite AS r
JOIN pg_catalog.pg_class AS c ON c.oid = r.ev_class AND c.relkind = 'v'
WHERE r.rulename = '_RETURN' AND (r.ev_class = ANY ($2::oid[]) OR c.relnamespace = to_regnamespace(quote_ident($1)))
