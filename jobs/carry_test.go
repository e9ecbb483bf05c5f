package jobs_test

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"alfred/db"
	"alfred/internal/crud"
	"alfred/internal/llm"
	"alfred/internal/pg"
	"alfred/internal/prompt"
	"alfred/internal/vocab"
	"alfred/jobs"
	"alfred/registry"
)

const readOnce = `turns:
  - understand: {intent: read}
    think: {goal: g, decision: plan, steps: [{type: read, subdomain: recipes, description: Read}]}
    act: [{calls: [{tool: db_read, args: {table: recipes}}]}, {calls: [{tool: step_complete, args: {summary: read}}]}]
    reply: There.
    summarize: {response_summary: s}
`

// The comparison that all tests run under detects a commit that writes without reporting it to the view.
func TestCarriedIsHeldToLoaded(t *testing.T) {
	t.Parallel()
	h := setup(t, readOnce)
	h.tools.execute = func(ctx context.Context, tx pgx.Tx, s registry.Scope, _ []vocab.Call) (crud.Outcome, error) {
		_, err := tx.Exec(ctx, `INSERT INTO constraints (user_id, session_id, text, kind, value, scope, source_turn)
			VALUES ($1, $2, 'no cod', 'other', 'null', 'session', 1)`, s.UserID, s.SessionID)

		return crud.Outcome{Results: []crud.Result{{Call: 1, Tool: vocab.ToolRead, EntityType: "recipe", RowCount: 2}}}, err
	}
	h.start()
	turn := h.ended(h.enqueue(jobs.EnqueueParams{}).TurnID)

	require.Equal(t, db.TurnStatusFailed, turn.Status)
	require.Equal(t, "internal", *turn.ErrorCode)
}

// What others write to a session or its user shows in the next decision, by their versions.
func TestCarriedViewFollowsOthers(t *testing.T) {
	t.Parallel()
	const lasting = `INSERT INTO constraints (user_id, session_id, text, kind, value, scope, source_turn)
		SELECT user_id, id, 'no cod', 'other', 'null', 'lasting', 1 FROM sessions WHERE id = $1`
	for name, told := range map[string]string{
		"Session": `UPDATE sessions SET version = version + 1 WHERE id = $1`,
		"User":    `UPDATE users SET version = version + 1 WHERE id = (SELECT user_id FROM sessions WHERE id = $1)`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := setup(t, readOnce)
			write := func() {
				h.exec(lasting, h.session)
				h.exec(told, h.session)
			}
			h.model.before = func(_ context.Context, req *llm.Request) error {
				if req.Node == "understand" {
					write()
				}

				return nil
			}
			h.start()
			h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
			held := h.prompts.constraints()
			require.Zero(t, held[0])
			require.Equal(t, slices.Repeat([]int{1}, len(held)-1), held[1:])
		})
	}
}

// A commit that raises the user's version itself does not hide that somebody else raised it while the model was asked.
func TestCarriedViewFollowsOthersWhoWriteMeanwhile(t *testing.T) {
	t.Parallel()
	h := setup(t, readOnce)
	write := sync.OnceFunc(func() {
		h.exec(`INSERT INTO constraints (user_id, session_id, text, kind, value, scope, source_turn)
			SELECT user_id, id, 'no cod', 'other', 'null', 'lasting', 1 FROM sessions WHERE id = $1`, h.session)
		h.exec(`UPDATE users SET version = version + 1 WHERE id = (SELECT user_id FROM sessions WHERE id = $1)`, h.session)
	})
	h.model.before = func(_ context.Context, req *llm.Request) error {
		if req.Node == "act" {
			write()
		}

		return nil
	}
	h.tools.execute = func(context.Context, pgx.Tx, registry.Scope, []vocab.Call) (crud.Outcome, error) {
		changed := crud.Result{Call: 1, Tool: vocab.ToolUpdate, EntityType: "recipe", RowCount: 1, Changes: []crud.Change{{}}}

		return crud.Outcome{Results: []crud.Result{changed}}, nil
	}
	h.start()
	h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)

	require.Equal(t, []int{0, 0, 0, 1}, h.prompts.constraints()[:4])
}

// What holds for all of a user's conversations raises the user's version, for those that are under way.
func TestLastingConstraintsAreToldToTheUsersTurns(t *testing.T) {
	t.Parallel()

	for name, curates := range map[string]string{
		"Constraint": `constraints: [{text: no cod, kind: exclude, value: null, scope: lasting, replaces: ""}]`,
		"FreshStart": `curation: {clear_all: true}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := setup(t, `turns: [{understand: {intent: chat, `+curates+`}, think: {goal: g, decision: plan, steps: []}, reply: Right.}]`)
			h.start()
			h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
			require.Equal(t, []int64{1}, column[int64](h, `SELECT u.version FROM users AS u JOIN sessions AS s ON s.user_id = u.id WHERE s.id = $1`, h.session))
		})
	}
}

// A lasting constraint that ends in one conversation also ends what it excluded in others, whose turns may be under way.
func TestExpiredConstraintsAreToldToTheUsersTurns(t *testing.T) {
	t.Parallel()

	h := setup(t, readOnce)
	other := column[uuid.UUID](h, `SELECT start_session(u.name) FROM users AS u JOIN sessions AS s ON s.user_id = u.id WHERE s.id = $1`, h.session)[0]
	h.exec(`WITH over AS (
			INSERT INTO constraints (user_id, session_id, text, kind, scope, source_turn, expires_at)
			SELECT user_id, id, 'no cod', 'exclude', 'lasting', 1, clock_timestamp() - interval '1 hour' FROM sessions WHERE id = $2 RETURNING id)
		INSERT INTO entity_refs (session_id, ref, entity_type, entity_id, state, action, label, turn_created, turn_last_ref, excluded_reason, excluded_constraint_id)
		SELECT $1, 'recipe_1', 'recipe', 'x', 'stored', 'read', 'Cod', 1, 1, 'no cod', id FROM over`, h.session, other)
	end := sync.OnceFunc(func() { h.summarized(h.enqueue(jobs.EnqueueParams{SessionID: other}).TurnID) })
	first := h.enqueue(jobs.EnqueueParams{Message: "first"})
	h.model.before = func(_ context.Context, req *llm.Request) error {
		if req.Node == "think" && strings.Contains(req.Messages[0].Content, "first") {
			end()
		}

		return nil
	}
	h.start()
	require.Equal(t, db.TurnStatusSucceeded, h.summarized(first.TurnID).Status, "carried is as loaded")
}

// A text may name what has left the window: the next decision sees it, as it would in a loaded view.
func TestWhatATextNamesIsInView(t *testing.T) {
	t.Parallel()

	h := late(t, `{understand: {intent: read}, think: {goal: g, decision: plan, steps: [{type: read, subdomain: recipes, description: Compare recipe_1}]}, act: [`+readCall+`, `+completed+`], reply: There.}`)
	h.exec(`INSERT INTO entity_refs (session_id, ref, entity_type, entity_id, state, action, label, turn_created, turn_last_ref)
		VALUES ($1, 'recipe_1', 'recipe', '0198c0de-0000-7000-8000-000000000000', 'stored', 'read', 'Soup', 1, 1)`, h.session)
	h.start()
	require.Equal(t, db.TurnStatusSucceeded, h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID).Status)
}

// What the domain's queries say about the user is read again once the turn has changed rows.
func TestSnapshotFollowsTheTurnsOwnWrites(t *testing.T) {
	t.Parallel()

	plan := `{goal: save, decision: plan, steps: [{type: write, subdomain: inventory, description: save it}]}`
	h := setup(t, actScript(`think: [`+plan+`, {goal: g, decision: plan, steps: []}]`, `{calls: [{tool: db_create, args: {table: inventory, data: {name: milk}}}]}`,
		`{calls: [{tool: blocked, args: {code: plan_invalid, details: cannot, next: replan}}]}`))
	config := prompt.DefaultConfig()
	config.Apart = true
	h.config.Prompts = prompt.New(h.config.Domain, config)
	h.tools.execute = func(context.Context, pgx.Tx, registry.Scope, []vocab.Call) (crud.Outcome, error) {
		h.exec(`INSERT INTO kitchen.inventory (user_id, name, location) SELECT user_id, 'milk', 'fridge' FROM sessions WHERE id = $1`, h.session)
		changed := crud.Result{Call: 1, Tool: vocab.ToolCreate, EntityType: "inv", RowCount: 1, Changes: []crud.Change{{}}}

		return crud.Outcome{Results: []crud.Result{changed}}, nil
	}
	var said []string
	h.model.before = func(_ context.Context, req *llm.Request) error {
		if req.Node == "think" {
			said = append(said, regexp.MustCompile(`\*\*Inventory:\*\* .*`).FindString(req.Messages[0].Content))
		}

		return nil
	}
	h.start()
	h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID)
	require.Equal(t, []string{"**Inventory:** empty", "**Inventory:** 1 items (fridge 1)"}, said)
}

// What a call's results have put into the registry is not in view if another call's results cannot be recorded.
func TestCarriedViewHasNothingOfAFailedRecord(t *testing.T) {
	t.Parallel()

	h := setup(t, readOnce)
	failed := errors.New("a draft was changed meanwhile")
	h.tools.execute = func(ctx context.Context, tx pgx.Tx, s registry.Scope, _ []vocab.Call) (crud.Outcome, error) {
		err := pg.InTx(ctx, tx, func(tx pgx.Tx) error {
			_, err := registry.New(tx, h.config.Domain, s).TranslateRows(ctx, []registry.Result{{
				Entity: h.config.Domain.ByType("recipe"), Rows: []map[string]any{{"id": uuid.NewString(), "name": "Soup"}}, Action: registry.ActionRead,
			}}, nil)
			if err == nil {
				_, err = tx.Exec(ctx, `SELECT`)
			}

			return cmp.Or(err, failed)
		})
		require.ErrorIs(t, err, failed)

		return crud.Outcome{Results: []crud.Result{{Call: 1, Tool: vocab.ToolRead, EntityType: "recipe", ErrorCode: crud.CodeStale, ErrorMessage: failed.Error()}}}, nil
	}
	h.start()
	require.Equal(t, db.TurnStatusSucceeded, h.summarized(h.enqueue(jobs.EnqueueParams{}).TurnID).Status)
}
