package e2e_test

import (
	"context"
	"os"
	osexec "os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// shopsProgram is what the shop's own program does all day, and what it sees of its tables: rows of another customer
// than the one who talks, the shop's rules in their words, and what it may not do.
const shopsProgram = `
\d retail.*
\df+ retail.*
SELECT current_user, count(*) FROM retail.orders;
SELECT * FROM retail.orders WHERE order_id = '#W1267569';
SELECT i.line, p.name, i.price FROM retail.order_items AS i JOIN retail.items USING (item_id) JOIN retail.products AS p USING (product_id) WHERE order_id = '#W1267569' ORDER BY line;
BEGIN;
UPDATE retail.orders SET status = 'processed' WHERE order_id = '#W1267569' RETURNING order_id, status;
SAVEPOINT rules;
UPDATE retail.orders SET zip = '1' WHERE order_id = '#W1267569';
ROLLBACK TO rules;
SELECT order_id, was, is_now, by_role FROM retail.audit WHERE order_id = '#W1267569';
INSERT INTO retail.outbox (key, recipient, body) VALUES ('shipped #W1267569', 'x@example.com', 'On its way.') RETURNING key, sent_at;
INSERT INTO retail.users VALUES ('new_1', 'N', 'E', 'n@example.com', 'a', '', 'c', 's', 'USA', '1');
INSERT INTO retail.orders VALUES ('#W1', 'new_1', 'pending', 'a', '', 'c', 's', 'USA', '1');
DELETE FROM retail.users WHERE user_id = 'new_1';
ROLLBACK;
CREATE TABLE retail.mine (n integer);
TRUNCATE retail.orders;
`

// ownersProgram runs the shop's program with psql under its own role, and returns everything it saw.
func ownersProgram(t *testing.T, pool *pgxpool.Pool) string {
	t.Helper()

	psql, err := osexec.LookPath("psql")
	if err != nil {
		t.Skip("the owner's program runs in psql")
	}
	cmd := osexec.CommandContext(context.WithoutCancel(t.Context()), psql, "-X", "--echo-queries", pool.Config().ConnString())
	cmd.Env = append(os.Environ(), "PGOPTIONS=-c role=retail_app", "PAGER=cat")
	cmd.Stdin = strings.NewReader(shopsProgram)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("the owner's program: %v", err)
	}

	return string(out)
}

// whileTheOwnersProgramRuns repeats it and requires that it sees the same as before. The returned function ends that,
// and says how often it ran.
func whileTheOwnersProgramRuns(t *testing.T, pool *pgxpool.Pool, before string) (stop func() int) {
	t.Helper()

	require.Contains(t, before, "retail_app   |     7")
	require.Contains(t, before, "cannot be changed")
	require.Contains(t, before, "permission denied")
	var running sync.WaitGroup
	ended, times := make(chan struct{}), 0
	running.Go(func() {
		for {
			if now := ownersProgram(t, pool); now != before {
				t.Errorf("the owner's program saw\n%s\nand now sees\n%s", before, now)
			}
			times++
			select {
			case <-ended:
				return
			default:
			}
		}
	})

	return func() int {
		close(ended)
		running.Wait()

		return times
	}
}
