-- name: TurnCancel :one
SELECT cancel_turn(@turn_id::uuid)::boolean AS cancelled;

-- TurnEnqueue locks the session's row until the caller's transaction ends.
-- name: TurnEnqueue :one
SELECT e.turn_id::uuid AS turn_id, e.number::int AS number, e.status::turn_status AS status, e.existing::boolean AS existing
FROM turn_enqueue(@session_id::uuid, @message::text, sqlc.narg(idempotency_key)::text, sqlc.narg(mode)::text, @if_busy::text,
                  @ui_changes::jsonb, @mentioned_entities::jsonb) AS e;
