package e2e_test

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"alfred/internal/domain"
	"alfred/internal/llm"
	"alfred/internal/llm/offline"
	"alfred/internal/llm/script"
	"alfred/internal/tour"
)

// claims matches a reply's claims that rows were changed.
var claims = regexp.MustCompile(`(?i)\b(?:i've|i have|i) (?:saved|deleted|removed|stored)\b|\b(?:has|have) been (?:saved|deleted)\b|^(?:saved|deleted)\b|\beverything was (?:saved|deleted)\b|(?:done|ok)! (?:saved|deleted)`)

// The demo's conversation, with errors in one answer in six: whatever a model does wrong, the rows end correctly or the
// user was told; nothing is claimed that did not happen, and no draft is lost. `make disturbed` plays it 500 times.
func TestDisturbedConversationsEndRightOrAreTold(t *testing.T) {
	t.Parallel()
	var bad *script.Disturbed
	h := openHouse(t, fixtures{model: func(d *domain.Domain) llm.Model {
		bad = script.Disturb(offline.New(d), 0, 1.0/6)

		return bad
	}})
	defer http.DefaultClient.CloseIdleConnections()
	times, err := strconv.Atoi(cmp.Or(os.Getenv("DISTURBED"), "4"))
	require.NoError(t, err)
	counts := map[string]int{}
	for seed := range times {
		bad.Seed(uint64(seed))
		played := &lockedBuffer{}
		trip := &tour.Tour{API: h.url, Pool: h.pool, Out: played}
		fault := trip.Play(t.Context())
		wrong := h.shared(t).untruths(trip.Session())
		switch {
		case len(wrong) > 0:
			counts["wrong"]++
			t.Errorf("seed %d: %v\n%s", seed, wrong, played)
		case fault != nil:
			counts["told"]++
		default:
			counts["right"]++
		}
		if (seed+1)%50 == 0 { // a long run that is interrupted has reported something
			t.Logf("after %d: %v", seed+1, counts)
		}
	}
	t.Logf("of %d conversations: %v", times, counts)
	made := bad.Counts()
	for _, name := range slices.Sorted(maps.Keys(made)) {
		t.Logf("%s: %d", name, made[name])
	}
}

// untruths are what must never occur, whatever the models did.
func (h *house) untruths(session string) []string {
	h.t.Helper()
	var wrong []string
	rows, err := h.pool.Query(h.t.Context(), `
		SELECT t.number, t.status::text, coalesce(t.reply, ''),
		       EXISTS (SELECT FROM entity_events AS v WHERE v.session_id = t.session_id AND v.turn_number = t.number
		               AND v.action IN ('created', 'updated', 'deleted', 'promoted') AND v.ref NOT LIKE 'gen%' OR
		               v.session_id = t.session_id AND v.turn_number = t.number AND v.action = 'promoted')
		FROM turns AS t WHERE t.session_id = $1 ORDER BY t.number`, session)
	require.NoError(h.t, err)
	var (
		number        int
		status, reply string
		wrote         bool
	)
	for rows.Next() {
		require.NoError(h.t, rows.Scan(&number, &status, &reply, &wrote))
		switch {
		case reply == "":
			wrong = append(wrong, fmt.Sprintf("turn %d (%s) has no reply", number, status))
		case !wrote && claims.MatchString(reply):
			wrong = append(wrong, fmt.Sprintf("turn %d claims what was not done: %q", number, reply))
		case reply[0] == '{':
			wrong = append(wrong, fmt.Sprintf("turn %d replies with JSON: %q", number, reply))
		case refInReply.MatchString(reply):
			wrong = append(wrong, fmt.Sprintf("turn %d shows a ref: %q", number, reply))
		}
	}
	require.NoError(h.t, rows.Err())
	var lost int
	require.NoError(h.t, h.pool.QueryRow(h.t.Context(), `
		SELECT count(*) FROM entity_refs AS e
		WHERE e.session_id = $1 AND e.ref LIKE 'gen\_recipe\_%' AND (e.state NOT IN ('pending', 'promoted')
		   OR (SELECT jsonb_array_length(coalesce(a.content -> 'recipe_ingredients', '[]')) FROM artifacts AS a
		       WHERE a.session_id = e.session_id AND a.ref = e.ref ORDER BY a.version DESC LIMIT 1) < 3)`, session).Scan(&lost))
	if lost > 0 {
		wrong = append(wrong, fmt.Sprintf("%d drafts are lost", lost))
	}

	return wrong
}

var refInReply = regexp.MustCompile(`(?i)\b(?:gen_)?(?:recipe|ri|ing|inv|shop|meal|task|pref|log)_\d+\b`)
