-- RecallChanges returns each table's write count, in the order given, and the horizon for the next check.
-- name: RecallChanges :many
SELECT c.changes::bigint AS changes, c.horizon::text AS horizon FROM recall_changes(@tables::text[]) AS c;

-- RecallOrder ranks the rows of a type by a question, best first: those that have embeddings. One array is read
-- faster than as many rows.
-- name: RecallOrder :one
SELECT ARRAY(
    SELECT o.owner_id
    FROM recall_order(@query::text, @kind::text, @shared::boolean, sqlc.narg(vector)::text, @model::text, @dimensions::int, @weight::float8, @lim::int) AS o
)::text[] AS keys;

-- RecallSearch returns what a question finds, best first. A turn comes with its neighbours' summaries, which are read of
-- those that are returned. Few rows are joined, by key: hence the limits, without which row-level security makes the
-- planner expect half of all turns. Days begin and end as they do for the user. A turn that is shown is no find, nor is the same turn
-- in a fork, or in what this is a fork of.
-- name: RecallSearch :many
SELECT h.kind, h.id, h.score,
       coalesce(h.session_id, '00000000-0000-0000-0000-000000000000')::uuid AS session_id, coalesce(h.number, 0)::int AS number,
       coalesce(h.created_at, 'epoch')::timestamptz AS created_at, coalesce(h.created_at, 'epoch')::date AS day,
       coalesce(h.message, '')::text AS message, coalesce(h.reply, '')::text AS reply, coalesce(s.response_summary, '')::text AS summary,
       coalesce(b.response_summary, '')::text AS before, coalesce(a.response_summary, '')::text AS after
FROM (SELECT f.kind, f.id, f.score, t.id AS turn_id, t.session_id, t.number, t.created_at, t.message, t.reply
      FROM (SELECT own.kind::text AS kind, own.id::text AS id, own.score::float8 AS score
            FROM recall_found(@query::text, @kinds::text[], (@since::date[])::timestamptz[], (@until::date[])::timestamptz[], sqlc.narg(session)::uuid, @shown_from::int,
                @named_kinds::text[], @named_sources::text[], @named_keys::text[], @named_owners::text[], @named_names::text[],
                sqlc.narg(vector)::text, @model::text, @dimensions::int, @compared_up_to::int, @meaning::float8, @beside::float8, @day::float8, sqlc.arg('found')::int) AS own
            UNION ALL
            SELECT shared.kind::text, shared.id::text, shared.score::float8
            FROM recall_found_shared(@query::text, @shared_kinds::text[], sqlc.narg(vector)::text, @model::text, @dimensions::int,
                @meaning::float8, sqlc.arg('found')::int) AS shared) AS f
      LEFT JOIN LATERAL (SELECT u.session_id, u.number, u.created_at, u.message, u.reply, u.id FROM turns AS u
                         WHERE u.id = CASE WHEN f.kind = 'turn' THEN f.id::uuid END AND u.user_id = @user_id::uuid LIMIT 1) AS t ON true
      WHERE f.kind <> 'turn'
         OR t.id <> @except_turn::uuid AND (t.number < @shown_from::int OR t.created_at IS DISTINCT FROM (
             SELECT own.created_at FROM turns AS own
             WHERE own.session_id = sqlc.narg(session)::uuid AND own.number = t.number AND own.user_id = @user_id::uuid LIMIT 1))
      ORDER BY f.score DESC, f.kind <> 'turn', f.id
      LIMIT @lim::int) AS h
LEFT JOIN LATERAL (SELECT u.response_summary FROM turn_summaries AS u WHERE u.turn_id = h.turn_id AND u.user_id = @user_id::uuid LIMIT 1) AS s ON true
LEFT JOIN LATERAL (SELECT u.response_summary FROM turn_summaries AS u
                   WHERE u.session_id = h.session_id AND u.turn_number = h.number - 1 AND u.user_id = @user_id::uuid LIMIT 1) AS b ON true
LEFT JOIN LATERAL (SELECT u.response_summary FROM turn_summaries AS u
                   WHERE u.session_id = h.session_id AND u.turn_number = h.number + 1 AND u.user_id = @user_id::uuid LIMIT 1) AS a ON true
ORDER BY h.score DESC, h.kind <> 'turn', h.id;
