package chaos_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// kitchenRows are all rows of a session's user except for what the database sets by itself.
const kitchenRows = `
	SELECT coalesce(string_agg(x.row::text, E'\n' ORDER BY x.row::text), '') FROM sessions AS s, LATERAL (
		SELECT to_jsonb(r) - 'updated_at' AS row FROM kitchen.recipes AS r WHERE user_id = s.user_id
		UNION ALL SELECT to_jsonb(r) - 'updated_at' FROM kitchen.recipe_ingredients AS r WHERE user_id = s.user_id
		UNION ALL SELECT to_jsonb(r) - 'updated_at' FROM kitchen.inventory AS r WHERE user_id = s.user_id
		UNION ALL SELECT to_jsonb(r) - 'updated_at' FROM kitchen.shopping_list AS r WHERE user_id = s.user_id
		UNION ALL SELECT to_jsonb(r) - 'updated_at' FROM kitchen.meal_plans AS r WHERE user_id = s.user_id
		UNION ALL SELECT to_jsonb(r) - 'updated_at' FROM kitchen.tasks AS r WHERE user_id = s.user_id) AS x WHERE s.id = $1`

var wishes = []string{
	"Add 12 eggs to the fridge", "Add milk to my shopping list", "Add 3 lemons to my shopping list", "Delete the shakshuka", "Delete the butter chicken",
	"Set the milk to 2 litres", "Move the butter to the freezer", "Remind me to call Ada", "Delete the butter", "Show my recipes",
}

// regret is a conversation whose user keeps changing their mind.
type regret struct {
	pool          *pgxpool.Pool
	session       uuid.UUID
	r             *rand.Rand
	done, refused *atomic.Int64
}

// hold says random things and undoes random turns, then everything that still stands, last first; the result is the
// initial rows.
func (c *regret) hold(ctx context.Context) error {
	start, err := c.rows(ctx)
	if err != nil {
		return err
	}
	for range 8 {
		if c.r.IntN(3) > 0 {
			err = c.play(ctx, `SELECT enqueue_turn($1, $2)`, c.session, wishes[c.r.IntN(len(wishes))])
		} else if turn, _, found := c.standing(ctx, math.MaxInt32, `random()`); found {
			err = c.undo(ctx, turn)
		}
		if err != nil {
			return err
		}
	}
	// What an undo restored comes before it: each is met once.
	for turn, number, found := c.standing(ctx, math.MaxInt32, `number DESC`); found; turn, number, found = c.standing(ctx, number, `number DESC`) {
		if err := c.undo(ctx, turn); err != nil {
			return err
		}
	}
	end, err := c.rows(ctx)
	if err == nil && end != start {
		err = fmt.Errorf("session %s: the rows are others than at the start:\n%s\n\nwere\n%s", c.session, end, start)
	}

	return err
}

func (c *regret) rows(ctx context.Context) (rows string, err error) {
	return rows, c.pool.QueryRow(ctx, kitchenRows, c.session).Scan(&rows)
}

// standing is a turn before another one that can be undone.
func (c *regret) standing(ctx context.Context, before int, order string) (turn uuid.UUID, number int, found bool) {
	err := c.pool.QueryRow(ctx, `SELECT id, number FROM turns WHERE session_id = $1 AND number < $2 AND undo = 'possible' ORDER BY `+order+` LIMIT 1`, c.session, before).Scan(&turn, &number)

	return turn, number, err == nil
}

// undo undoes a turn, and counts whether that was done.
func (c *regret) undo(ctx context.Context, turn uuid.UUID) error {
	if err := c.play(ctx, `SELECT undo_turn($1)`, turn); err != nil {
		return err
	}
	var undone bool
	if err := c.pool.QueryRow(ctx, `SELECT undone_by IS NOT NULL FROM turns WHERE id = $1`, turn).Scan(&undone); err != nil {
		return err
	}
	if undone {
		c.done.Add(1)
	} else {
		c.refused.Add(1)
	}

	return nil
}

// play enqueues a turn and waits until all its work is done.
func (c *regret) play(ctx context.Context, sql string, args ...any) error {
	var id uuid.UUID
	if err := c.pool.QueryRow(ctx, sql, args...).Scan(&id); err != nil {
		return err
	}
	for {
		var over bool
		var status, why string
		err := c.pool.QueryRow(ctx, `SELECT finished_at IS NOT NULL AND (status <> 'succeeded' OR summarized_at IS NOT NULL), status::text, coalesce(error_message, '')
			FROM turns WHERE id = $1`, id).Scan(&over, &status, &why)
		if err != nil {
			return err
		}
		if over && status != "succeeded" {
			return fmt.Errorf("turn %s %s: %s", id, status, why)
		}
		if over {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("turn %s is %s: %w", id, status, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Random conversations with random undos, while one of the workers is killed repeatedly: undone from last to first,
// every one restores the initial rows. A few, or ALFRED_UNDO_CONVERSATIONS.
func TestUndoUnderKill(t *testing.T) {
	t.Parallel()
	conversations := 6
	if n, err := strconv.Atoi(os.Getenv("ALFRED_UNDO_CONVERSATIONS")); err == nil {
		conversations = n
	}
	l := openLab(t)
	url, pool := l.database(t)
	worker := func() *process {
		return spawn(t, []string{"DATABASE_URL=" + url, "ALFRED_LLM=offline"}, filepath.Join(l.programs, "worker"), "run")
	}
	worker()
	var done, refused atomic.Int64
	held, ctx := errgroup.WithContext(t.Context())
	held.SetLimit(12)
	over := make(chan struct{})
	var failed error
	go func() {
		defer close(over)
		for seed := range conversations {
			held.Go(func() error {
				c := &regret{pool: pool, r: rand.New(rand.NewPCG(uint64(seed), 11)), done: &done, refused: &refused}
				if err := c.begin(ctx, seed); err != nil {
					return err
				}

				return c.hold(ctx)
			})
		}
		failed = held.Wait()
	}()
	kills := 0
	for ended := false; !ended; {
		victim := worker()
		select {
		case <-over:
			ended = true
		case <-time.After(2500 * time.Millisecond):
			victim.kill()
			kills++
		}
	}
	require.NoError(t, failed)
	require.Positive(t, done.Load())
	t.Logf("%d conversations, %d undos, %d refused, %d times kill -9: the rows of all are those of the start", conversations, done.Load(), refused.Load(), kills)
}

// begin creates a user with a kitchen and a conversation.
func (c *regret) begin(ctx context.Context, seed int) error {
	return pgx.BeginFunc(ctx, c.pool, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, `SELECT start_session($1)`, fmt.Sprintf("regret %d", seed)).Scan(&c.session); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `SELECT kitchen.seed_demo(user_id) FROM sessions WHERE id = $1`, c.session)

		return err
	})
}
