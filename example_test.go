package alfred_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred"
	"alfred/internal/dbtest"
)

// shop stands for a program with its own tables: a pool on Alfred's database, and a customer's session.
func shop(ctx context.Context) (pool *pgxpool.Pool, session uuid.UUID, shut func()) {
	url, drop := dbtest.ExampleURL()
	pool, err := pgxpool.New(ctx, url)
	if err == nil {
		_, err = pool.Exec(ctx, `CREATE TABLE orders (item text NOT NULL)`)
	}
	if err == nil {
		err = pool.QueryRow(ctx, `SELECT alfred.start_session('ada', 'Orders')`).Scan(&session)
	}
	if err != nil {
		panic(err)
	}

	return pool, session, func() {
		pool.Close()
		drop()
	}
}

// One transaction, two effects: the order and the turn both exist, or neither does.
func ExampleEnqueue() {
	ctx := context.Background()
	pool, session, shut := shop(ctx)
	defer shut()

	err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `INSERT INTO orders (item) VALUES ('2 kg of rice')`); err != nil {
			return err
		}
		_, err := alfred.Enqueue(ctx, tx, alfred.EnqueueParams{SessionID: session, Message: "What can I cook with this order?"})

		return err
	})
	fmt.Println(err)

	var status string
	err = pool.QueryRow(ctx, `SELECT status FROM alfred.v_turns WHERE session_id = $1`, session).Scan(&status)
	fmt.Println(status, err)
	// Output:
	// <nil>
	// running <nil>
}

// A second message with the same key returns the first one's turn, however often it is sent.
func ExampleEnqueue_again() {
	ctx := context.Background()
	pool, session, shut := shop(ctx)
	defer shut()

	for range 2 {
		err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			turn, err := alfred.Enqueue(ctx, tx, alfred.EnqueueParams{SessionID: session, Message: "Where is my order?", IdempotencyKey: "mail-4711"})
			if err != nil {
				return err
			}
			fmt.Println("turn", turn.Number, "seen before:", turn.Existing)

			return nil
		})
		if err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// turn 1 seen before: false
	// turn 1 seen before: true
}

// A message that meets a running turn waits, unless the caller says otherwise.
func ExampleTurnRunningError() {
	ctx := context.Background()
	pool, session, shut := shop(ctx)
	defer shut()

	for _, ifBusy := range []string{alfred.IfBusyEnqueue, alfred.IfBusyEnqueue, alfred.IfBusyReject} {
		err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			turn, err := alfred.Enqueue(ctx, tx, alfred.EnqueueParams{SessionID: session, Message: "What can I cook?", IfBusy: ifBusy})
			if err != nil {
				return err
			}
			fmt.Println("turn", turn.Number, turn.Status)

			return nil
		})
		if _, busy := errors.AsType[*alfred.TurnRunningError](err); busy {
			fmt.Println("refused: a turn is running")
		}
	}
	// Output:
	// turn 1 running
	// turn 2 queued
	// refused: a turn is running
}

// A turn can be cancelled by whoever enqueued it; the session's next one starts.
func ExampleCancel() {
	ctx := context.Background()
	pool, session, shut := shop(ctx)
	defer shut()

	err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		turn, err := alfred.Enqueue(ctx, tx, alfred.EnqueueParams{SessionID: session, Message: "What can I cook?"})
		if err != nil {
			return err
		}
		cancelled, err := alfred.Cancel(ctx, tx, turn.TurnID)
		fmt.Println("cancelled:", cancelled)

		return err
	})
	fmt.Println(err)
	// Output:
	// cancelled: true
	// <nil>
}
