-- TurnEventListSessions is the stream of sessions for several readers, each with a session and its own position; n is the
-- reader's place in the list. A session's turns come one after another in the order in which they began, which differs from
-- their numbers if one interrupts. A turn cancelled while it waited appears where it ended; its event is held back while
-- another turn runs, so that a reader who resumes sees the same order as one who never left. A reader whose session is gone
-- has one row without an event.
-- name: TurnEventListSessions :many
SELECT w.n::integer AS n, (s.id IS NULL)::boolean AS gone, coalesce(e.number, 0)::integer AS number, coalesce(e.seq, 0)::integer AS seq,
       coalesce(e.type, '')::text AS type, coalesce(e.data, '{}')::jsonb AS data
FROM (SELECT i.n, i.session_id, (@after_numbers::integer[])[i.n] AS after_number, (@after_seqs::integer[])[i.n] AS after_seq
      FROM unnest(@session_ids::uuid[]) WITH ORDINALITY AS i (session_id, n)) AS w
LEFT JOIN sessions AS s ON s.id = w.session_id
LEFT JOIN LATERAL (
    SELECT v.seq, v.type, v.data, t.number, coalesce(t.started_at, t.finished_at) AS began
    FROM turns AS t
    JOIN turn_events AS v ON v.turn_id = t.id
    LEFT JOIN turns AS seen ON seen.session_id = t.session_id AND seen.number = w.after_number
    WHERE t.session_id = w.session_id
      AND (seen.id IS NULL
           OR (coalesce(t.started_at, t.finished_at), t.number, v.seq)
            > (coalesce(seen.started_at, seen.finished_at), seen.number, w.after_seq))
      AND NOT EXISTS (SELECT FROM turns AS r
                      WHERE r.session_id = t.session_id AND r.status = 'running'
                        AND r.started_at < coalesce(t.started_at, t.finished_at))
    ORDER BY coalesce(t.started_at, t.finished_at), t.number, v.seq
    LIMIT @page_size
) AS e ON true
WHERE s.id IS NULL OR e.seq IS NOT NULL
ORDER BY w.n, e.began, e.number, e.seq;

-- TurnEventReached reports whether a turn's events go as far as that one, or are no longer kept.
-- name: TurnEventReached :one
SELECT coalesce(max(seq) >= @seq::integer, true)::boolean AS reached FROM turn_events WHERE turn_id = @turn_id;

-- name: TurnEventListTurn :many
SELECT seq, type, data
FROM turn_events
WHERE turn_id = @turn_id AND seq > @after_seq
ORDER BY seq
LIMIT @page_size;
