package alfred_test

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"alfred"
)

// parrot is a model. A request with a schema wants JSON that fits it, one with tools may be answered with calls of them,
// any other wants prose.
type parrot struct{}

func (parrot) Generate(_ context.Context, req *alfred.Request) (*alfred.Response, error) {
	text := "You said it."
	if req.Schema != nil { // understand: small talk, with its reply
		text = `{"intent": "chat", "say": "Nice to meet you, too."}`
	}
	if req.OnDelta != nil {
		req.OnDelta(text) // piece by piece, where it comes so
	}

	return &alfred.Response{Text: text, Model: "parrot", Provider: "own", Usage: alfred.Usage{Input: req.EstimateTokens(), Output: 10}}, nil
}

// A program's own model answers for every node. What its tokens cost, the program says.
func ExampleModel() {
	ctx := context.Background()
	pool, session, shut := shop(ctx)
	defer shut()

	assistant, err := alfred.Open(ctx, alfred.Config{
		URL: pool.Config().ConnString(), Logger: slog.New(slog.DiscardHandler),
		Worker: &alfred.Worker{Model: parrot{}, Prices: map[string]alfred.Price{"parrot": {Input: 1, Output: 4}}},
	})
	if err != nil {
		fmt.Println(err)

		return
	}
	defer func() { _ = assistant.Close() }()
	turn, err := assistant.Wait(ctx, say(ctx, pool, session, "Nice to meet you"))
	if err != nil {
		fmt.Println(err)

		return
	}
	fmt.Println(turn.Status, turn.Text())
	fmt.Println("for less than a cent:", turn.Usage.CostUSD > 0 && turn.Usage.CostUSD < 0.01)
	// Output:
	// succeeded Nice to meet you, too.
	// for less than a cent: true
}

// The reply is shown as it is written. A reply.reset takes back what came so far, and reply has the whole text.
func ExampleAssistant_Follow() {
	ctx := context.Background()
	pool, session, shut := shop(ctx)
	defer shut()

	assistant, err := alfred.Open(ctx, alfred.Config{
		URL: pool.Config().ConnString(), Logger: slog.New(slog.DiscardHandler), Worker: &alfred.Worker{Model: parrot{}},
	})
	if err != nil {
		fmt.Println(err)

		return
	}
	defer func() { _ = assistant.Close() }()
	for event, err := range assistant.Follow(ctx, say(ctx, pool, session, "Nice to meet you")) {
		if err != nil {
			fmt.Println(err)

			return
		}
		switch event.Type {
		case "turn.started", "turn.finished":
			fmt.Println(event.Type)
		case "reply":
			var reply struct{ Text string }
			fmt.Println(event.Type, event.Decode(&reply), reply.Text)
		}
	}
	// Output:
	// turn.started
	// reply <nil> Nice to meet you, too.
	// turn.finished
}

// say enqueues a message in a transaction of its own.
func say(ctx context.Context, pool *pgxpool.Pool, session uuid.UUID, message string) (turn uuid.UUID) {
	err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		enqueued, err := alfred.Enqueue(ctx, tx, alfred.EnqueueParams{SessionID: session, Message: message})
		if err == nil {
			turn = enqueued.TurnID
		}

		return err
	})
	if err != nil {
		panic(err)
	}

	return turn
}
