package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"alfred/internal/pg"
)

// Fault is an expectation that was not met.
type Fault struct {
	Turn  int    `json:"turn,omitempty"` // the turn's number; 0 for the whole conversation
	Check string `json:"check"`          // what was checked
	Want  string `json:"want"`
	Got   string `json:"got"`
	// Broken: it could not be checked, because the case itself is wrong.
	Broken bool `json:"broken,omitempty"`
}

func (f Fault) String() string {
	where := "in the end"
	if f.Turn > 0 {
		where = fmt.Sprintf("turn %d", f.Turn)
	}
	if f.Broken {
		return fmt.Sprintf("%s: %s: %s", where, f.Check, f.Got)
	}

	return fmt.Sprintf("%s: %s: want %s, got %s", where, f.Check, f.Want, f.Got)
}

func (t *trial) fault(turn int, check, want, got string) {
	t.faults = append(t.faults, Fault{Turn: turn, Check: check, Want: want, Got: got})
}

// checkExpectations checks what must be true after a turn or, if turn has only writes, at the end.
func (t *trial) checkExpectations(ctx context.Context, e *Expect, turn *Played) error {
	n := turn.Number
	if n > 0 || e.Status != "" {
		if want := cmp.Or(e.Status, "succeeded"); turn.Status != want {
			t.fault(n, "status", want, strings.TrimSpace(turn.Status+" "+turn.Error))
		}
	}
	if e.Asks != nil && !questionMatches(*e.Asks, turn.Asks) {
		t.fault(n, "question", *e.Asks, cmp.Or(turn.Asks, "none"))
	}
	t.checkWords(n, &e.Reply, turn.Reply)
	if e.Writes != nil {
		want := slices.Sorted(slices.Values(*e.Writes))
		if got := tables(turn.writes); !slices.Equal(got, want) {
			t.fault(n, "tables written", list(want), list(got))
		}
	}
	if err := t.checkRefs(ctx, n, e.Refs); err != nil {
		return err
	}
	for i := range e.SQL {
		if err := t.checkSQL(ctx, n, &e.SQL[i]); err != nil {
			return err
		}
	}

	return nil
}

// questionMatches accepts "any" for every kind of question and "none" for no question.
func questionMatches(want, got string) bool {
	switch want {
	case "any":
		return got != ""
	case "none":
		return got == ""
	}

	return want == got
}

func (t *trial) checkWords(turn int, w *Words, reply string) {
	low := strings.ToLower(reply)
	for _, word := range w.Has {
		if !strings.Contains(low, strings.ToLower(word)) {
			t.fault(turn, "reply", "the words "+word, oneLine(reply))
		}
	}
	for _, word := range w.Lacks {
		if strings.Contains(low, strings.ToLower(word)) {
			t.fault(turn, "reply", "no word of "+word, oneLine(reply))
		}
	}
	if w.Matches != "" && !regexp.MustCompile("(?is)"+w.Matches).MatchString(reply) {
		t.fault(turn, "reply", "something like "+w.Matches, oneLine(reply))
	}
}

// checkRefs compares states, or last actions.
func (t *trial) checkRefs(ctx context.Context, turn int, want map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		got, state, action := "no such ref", "none", "none"
		err := t.pool.QueryRow(ctx, `SELECT state::text, action FROM alfred.entity_refs WHERE session_id = $1 AND ref = $2`, t.session, name).Scan(&state, &action)
		switch {
		case err == nil:
			got = state + " " + action
		case !errors.Is(err, pgx.ErrNoRows):
			return fmt.Errorf("read refs: %w", err)
		}
		if want[name] != state && want[name] != action {
			t.fault(turn, "ref "+name, want[name], got)
		}
	}

	return nil
}

// checkSQL runs a statement, as the user unless it says otherwise. A statement that fails is the case's fault, not the
// assistant's.
func (t *trial) checkSQL(ctx context.Context, turn int, q *Query) error {
	var got [][]*string
	read := func(tx pgx.Tx) (err error) {
		if err = t.findTables(ctx, tx); err != nil {
			return err
		}
		got, err = texts(ctx, tx, q.SQL)

		return err
	}
	run := t.reader.Read
	if q.As == "owner" {
		run = func(ctx context.Context, work func(tx pgx.Tx) error) error { return pg.InReadTx(ctx, t.pool, work) }
	}
	if err := run(ctx, read); err != nil {
		if ctx.Err() != nil {
			return err
		}
		t.faults = append(t.faults, Fault{Turn: turn, Check: oneLine(q.SQL), Got: err.Error(), Broken: true})

		return nil
	}
	want := q.Rows
	if want == nil {
		want = [][]any{{q.Is}}
	}
	if !same(want, got) {
		t.fault(turn, oneLine(q.SQL), shown(want, yamlText), shown(got, sqlText))
	}

	return nil
}

// findTables has a transaction find the domain's tables by their names alone, and the owner's triggers and functions theirs.
func (t *trial) findTables(ctx context.Context, tx pgx.Tx) error {
	schemas := []string{t.bound.Schema}
	for _, e := range t.bound.Entities {
		if !slices.Contains(schemas, e.Stored[0]) {
			schemas = append(schemas, e.Stored[0])
		}
	}
	_, err := tx.Exec(ctx, `SELECT set_config('search_path', current_setting('search_path') || ', ' || $1, true)`, quoted(schemas))

	return err
}

// texts returns a query's rows in Postgres's text format.
func texts(ctx context.Context, tx pgx.Tx, sql string) ([][]*string, error) {
	rows, _ := tx.Query(ctx, sql, pgx.QueryExecModeSimpleProtocol)

	return pgx.CollectRows(rows, func(row pgx.CollectableRow) ([]*string, error) {
		var values []*string
		for _, raw := range row.RawValues() {
			var value *string
			if raw != nil {
				value = new(string(raw))
			}
			values = append(values, value)
		}

		return values, nil
	})
}

func same(want [][]any, got [][]*string) bool {
	return slices.EqualFunc(want, got, func(w []any, g []*string) bool { return slices.EqualFunc(w, g, equal) })
}

// equal compares a YAML value with Postgres's text of a value.
func equal(want any, got *string) bool {
	switch w := want.(type) {
	case nil:
		return got == nil
	case bool:
		name := strconv.FormatBool(w)
		return got != nil && (*got == name || *got == name[:1])
	}
	if got == nil {
		return false
	}
	text := fmt.Sprint(want)
	if text == *got {
		return true
	}
	if _, isText := want.(string); isText {
		return false
	}
	a, okA := new(big.Rat).SetString(text)
	b, okB := new(big.Rat).SetString(*got)

	return okA && okB && a.Cmp(b) == 0
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}

	return strings.Join(names, ", ")
}

// shown formats rows as a suite does.
func shown[V any](rows [][]V, text func(V) string) string {
	if len(rows) == 0 {
		return "no rows"
	}
	lines := make([]string, len(rows))
	for i, row := range rows {
		values := make([]string, len(row))
		for j, value := range row {
			values[j] = text(value)
		}
		lines[i] = strings.Join(values, " | ")
	}

	return strings.Join(lines, "; ")
}

// yamlText formats a suite's value.
func yamlText(value any) string {
	if value == nil {
		return "null"
	}

	return fmt.Sprint(value)
}

// sqlText formats Postgres's text of a value.
func sqlText(text *string) string {
	if text == nil {
		return "null"
	}

	return *text
}
