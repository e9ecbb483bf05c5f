package e2e_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/llm/offline"
)

// K12: a message that names more things than a turn can add adds no unnamed ones, and says what was added.
func TestK12ThousandsOfThings(t *testing.T) {
	t.Parallel()

	h := openHouse(t, fixtures{model: offline.New})
	for _, n := range []int{60, 300, 2500} {
		c := h.guest("ada " + strconv.Itoa(n)).talk()
		things := make([]string, n)
		for i := range things {
			things[i] = "thing" + strconv.Itoa(i)
		}
		said := c.end(c.enqueue(message{"message": "Add " + strings.Join(things, ", ") + " to my shopping list"}))
		c.fact("0", `SELECT count(*)::text FROM kitchen.shopping_list WHERE user_id = $2 AND name !~ '^thing[0-9]+$'`)
		stored := c.one(`SELECT count(*)::text FROM kitchen.shopping_list WHERE user_id = $2`)
		t.Logf("%d: %s stored; %s: %.300s %+v", n, stored, said.Status, said.Reply, said.Error)
		require.Equal(t, "succeeded", said.Status, "%+v", said.Error)
		if stored != strconv.Itoa(n) {
			require.NotContains(t, said.Reply, "Saved "+strconv.Itoa(n))
			require.NotRegexp(t, `(?i)^(done|saved|added)[.!]`, said.Reply)
		}
	}
}
