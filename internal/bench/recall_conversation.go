package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"alfred/internal/llm/script"
	"alfred/internal/pg"
	"alfred/internal/recall"
)

// fact is something said once in a long conversation, and how it is asked for later, in each of the ways.
type fact struct {
	message, reply string
	asked          [5]string
}

// ways are those of asking.
var ways = [5]string{"same words", "other forms of the words", "one word misspelt", "all misspelt", "only words that the chatter has too"}

var (
	people  = []string{"grandmother", "neighbour", "brother", "daughter", "colleague", "uncle", "teacher", "cousin", "landlord", "dentist"}
	things  = []string{"casserole", "pancake", "dumpling", "marinade", "sourdough", "chutney", "lasagna", "meatball", "crumble", "omelette"}
	secrets = []string{"nutmeg", "anchovies", "buttermilk", "cardamom", "molasses", "tarragon", "horseradish", "pistachios", "marmalade", "juniper"}
	chatter = []string{"what shall we cook tonight", "add some onions to the shopping list", "how long does rice take", "show me the pantry", "something light for lunch",
		"is there any milk left", "plan dinners for the week", "remind me to buy bread", "which recipes are quick", "make it less spicy"}
)

// saidOnce are all combinations of a person and a thing, each with a secret.
func saidOnce() []fact {
	var list []fact
	for i, person := range people {
		for k, thing := range things {
			secret := secrets[(i*3+k)%len(secrets)]
			list = append(list, fact{
				message: fmt.Sprintf("my %s puts %s into the %s", person, secret, thing), reply: fmt.Sprintf("Noted: %s goes into that %s.", secret, thing),
				asked: [...]string{
					fmt.Sprintf("what does my %s put into the %s?", person, thing),
					fmt.Sprintf("what was it that my %ss were putting in their %ss?", person, thing),
					fmt.Sprintf("what does my %s put into the %s?", person, swap(thing)),
					fmt.Sprintf("wat did my %s put in %s %s", swap(person), swap("the"), swap(thing)),
					fmt.Sprintf("tell me again about those %ss of my %ss", thing, person),
				},
			})
		}
	}

	return list
}

// swap exchanges two letters in the middle of a word.
func swap(word string) string {
	letters := []byte(word)
	middle := len(letters) / 2
	letters[middle], letters[middle-1] = letters[middle-1], letters[middle]

	return string(letters)
}

// conversation measures a long session of one user.
func (b *bench) conversation(ctx context.Context, turns int) error {
	session, user, err := b.session(ctx, "bench")
	if err != nil {
		return err
	}
	said := saidOnce()
	places, err := b.talk(ctx, session, user, turns, said)
	if err != nil {
		return err
	}
	searcher := recall.New(b.domain, b.embedder)
	started := time.Now()
	if err := recall.NewIndex(searcher, b.pool).Sweep(ctx); err != nil {
		return err
	}
	swept := time.Since(started)
	if err := b.exec(ctx, `VACUUM ANALYZE turn_summaries, turns, embeddings`); err != nil {
		return err
	}
	if err := b.evidence(ctx, searcher, user, said, places, turns); err != nil {
		return err
	}
	b.embedding(ctx, turns, swept)

	return b.inTurns(ctx, session)
}

// session starts a session of a user, created if missing.
func (b *bench) session(ctx context.Context, name string) (session, user uuid.UUID, err error) {
	if err := b.pool.QueryRow(ctx, `SELECT start_session($1)`, name).Scan(&session); err != nil {
		return session, user, fmt.Errorf("start a session: %w", err)
	}
	if err := b.pool.QueryRow(ctx, `SELECT user_id FROM sessions WHERE id = $1`, session).Scan(&user); err != nil {
		return session, user, fmt.Errorf("read the user: %w", err)
	}

	return session, user, nil
}

// store writes a session's turns as workers would have left them, each with its time.
func (b *bench) store(ctx context.Context, session, user uuid.UUID, messages, replies []string, times []time.Time) error {
	err := b.exec(ctx, `INSERT INTO turns (session_id, user_id, number, message, reply, mode, status, created_at, started_at, replied_at, finished_at, summarized_at)
		SELECT $1, $2, n, m, r, 'plan', 'succeeded', a, a, a, a, a FROM unnest($3::text[], $4::text[], $5::timestamptz[]) WITH ORDINALITY AS t (m, r, a, n)`,
		session, user, messages, replies, times)
	if err != nil {
		return err
	}
	if err := b.exec(ctx, `UPDATE sessions SET last_turn = $2 WHERE id = $1`, session, len(messages)); err != nil {
		return err
	}

	return b.exec(ctx, `SELECT turn_summary_write_facts(id) FROM turns WHERE session_id = $1`, session)
}

// talk holds the conversation; the facts are scattered among chatter, at the places that it returns.
func (b *bench) talk(ctx context.Context, session, user uuid.UUID, turns int, said []fact) ([]int, error) {
	random := rand.New(rand.NewPCG(5, 6))
	places := random.Perm(turns)[:len(said)]
	messages, replies := make([]string, turns), make([]string, turns)
	for n := range turns {
		messages[n] = fmt.Sprintf("%s, for %d people", chatter[random.IntN(len(chatter))], random.IntN(9)+1)
		replies[n] = fmt.Sprintf("Here you go: %s with %s, as last %s.", things[random.IntN(len(things))], secrets[random.IntN(len(secrets))], people[random.IntN(len(people))])
	}
	for i, place := range places {
		messages[place], replies[place] = said[i].message, said[i].reply
	}

	return places, b.store(ctx, session, user, messages, replies, slices.Repeat([]time.Time{time.Now()}, turns))
}

// evidence measures whether the turn with the answer is among the five best.
func (b *bench) evidence(ctx context.Context, s *recall.Searcher, user uuid.UUID, said []fact, placeOf []int, turns int) error {
	b.printf("## Evidence in a conversation of %d turns\n\nEach of %d facts was said once, among chatter that uses the same words; the share of questions for which "+
		"the turn that said it is among the five best. Embedder: %s; the lexical one knows no synonyms.\n\n"+
		"| question | full text | vectors | hybrid |\n|---|---|---|---|\n", turns, len(said), b.embedder.Model())
	var times, wordTimes []time.Duration
	for way, name := range ways {
		var words, vectors, both int
		for i, f := range said {
			q := question{f.asked[way], []int{placeOf[i]}}
			found, took, err := b.finds(ctx, s, user, q, 5, false)
			if err != nil {
				return err
			}
			byWords, wordsTook, err := b.finds(ctx, s, user, q, 5, true)
			if err != nil {
				return err
			}
			byVector, err := b.nearestTurns(ctx, user, q.text, 5)
			if err != nil {
				return err
			}
			times, wordTimes = append(times, took), append(wordTimes, wordsTook)
			both += found
			words += byWords
			vectors += btoi(q.in(byVector))
		}
		share := func(n int) float64 { return float64(n) / float64(len(said)) }
		b.printf("| %s | %.2f | %.2f | %.2f |\n", name, share(words), share(vectors), share(both))
	}
	b.printf("\nOne search over it, embedding the question included: hybrid p50 %s ms, p95 %s ms; full text alone (as when the embedder is down) p50 %s ms, p95 %s ms; %d searches each, one client.\n\n",
		inMillis(times, 0.5), inMillis(times, 0.95), inMillis(wordTimes, 0.5), inMillis(wordTimes, 0.95), len(times))

	return nil
}

// nearestTurns are the places of the turns whose vectors are nearest to a text's.
func (b *bench) nearestTurns(ctx context.Context, user uuid.UUID, text string, limit int) ([]int, error) {
	vector, err := b.embedder.Embed(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	best, err := b.exact(ctx, user, b.embedder.Model(), vector[0], limit)
	if err != nil {
		return nil, err
	}

	return pg.Collect(ctx, b.pool, pgx.RowTo[int], "number turns", `SELECT number - 1 FROM turns WHERE id::text = ANY($1)`, best)
}

// embedding measures how fast texts are embedded.
func (b *bench) embedding(ctx context.Context, turns int, swept time.Duration) {
	texts := make([]string, 2000)
	for i := range texts {
		texts[i] = strings.Repeat(fmt.Sprintf("turn %d: %s. ", i, chatter[i%len(chatter)]), 8)
	}
	started := time.Now()
	_, err := b.embedder.Embed(ctx, texts)
	alone := time.Since(started)
	if err != nil {
		return
	}
	b.printf("## Embedding\n\nThe embedder makes %.0f vectors a second of texts of %d characters. A sweep, reading, hashing and storing included, took %.1f s for %d turns and the domain's rows: %.0f a second.\n\n",
		float64(len(texts))/alone.Seconds(), len(texts[0]), swept.Seconds(), turns, float64(turns)/swept.Seconds())
}

const pairs = 40 // turns with a search, and as many without

// inTurns measures what a search adds to a turn of that conversation.
func (b *bench) inTurns(ctx context.Context, session uuid.UUID) (err error) {
	var first int
	if err := b.pool.QueryRow(ctx, `SELECT last_turn FROM sessions WHERE id = $1`, session).Scan(&first); err != nil {
		return fmt.Errorf("read the last turn: %w", err)
	}
	model, err := script.Parse(searching(first))
	if err != nil {
		return err
	}
	r, err := startRig(ctx, b.address, equipment{model: model, embedder: b.embedder, lasting: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.stop(ctx)) }()
	var with, without []time.Duration
	for n := range 2 * pairs {
		took, err := r.turn(ctx, session, "what did we say about that?")
		if err != nil {
			return err
		}
		if (first+n)%2 == 0 {
			with = append(with, took.replied)
		} else {
			without = append(without, took.replied)
		}
	}
	b.printf("## In a turn\n\nTurns of that conversation whose message asks for the past, and turns that do not, in turn, with a model that answers at once (%d each): "+
		"p50 %s ms with the search, %s ms without; p95 %s and %s ms.\n\n", pairs, inMillis(with, 0.5), inMillis(without, 0.5), inMillis(with, 0.95), inMillis(without, 0.95))

	return nil
}

// searching is a script in which every other turn from one on searches the past.
func searching(first int) []byte {
	var yaml bytes.Buffer
	yaml.WriteString("turns:\n")
	for n := range first + 2*pairs {
		search := ""
		if n >= first && n%2 == 0 {
			search = ", recall: {query: \"" + saidOnce()[n%len(people)].asked[0] + "\"}"
		}
		yaml.WriteString("  - {understand: {intent: read" + search + "}, think: {goal: g, decision: plan, steps: []}, reply: yes it is, summarize: {response_summary: s}}\n")
	}

	return yaml.Bytes()
}
