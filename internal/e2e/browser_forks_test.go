package e2e_test

import (
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// Y08: editing a message and trying again are forks: what was said stays, the user can switch between versions, and
// later writes are undone first unless the user keeps them. An undo can be undone, and says so.
func TestY08EditingForks(t *testing.T) {
	t.Parallel()

	h := offlineHouse(t)
	b := browse(t)
	b.enter(h.resident("ada"), h.url)
	b.say("Show my recipes")
	b.lastReply(1)
	b.say("Draft a Thai basil chicken")
	b.lastReply(2)
	b.say("Save it")
	b.lastReply(3)
	b.until(`document.querySelector(".turn:last-child .undo") !== null`)
	saved := `SELECT count(*) FROM kitchen.recipes WHERE name = 'Thai Basil Chicken'`
	h.requireRows(t, "1", saved)
	first := b.eval(`location.hash`)

	// Edited: the rows saved since are undone first.
	b.click(`[aria-label="Edit the message of turn 2"]`)
	b.until(`document.querySelector("#message").value === "Draft a Thai basil chicken" && !document.querySelector("#editing").hidden`)
	b.look("editing")
	b.fill("#message", "Show my tasks")
	b.eval(`document.querySelector("#composer").requestSubmit()`)
	b.shows("dialog[open]", "Undo what was done since?")
	b.shows("dialog[open]", "Thai Basil Chicken")
	b.look("undo_first")
	b.click("dialog[open] .primary")
	b.until(`location.hash !== ` + "`" + first + "`")
	b.lastReply(2)
	require.Equal(t, "Show my tasks", b.text(".turn:last-child .said"))
	require.Equal(t, "true", b.eval(`document.querySelector("#editing").hidden`))
	h.requireRows(t, "0", saved)
	b.do(chromedp.Reload())
	b.shows(".turn:last-child .ways", "2 of 2")
	require.Equal(t, "false", b.eval(`document.querySelector(".turn:first-child .ways") !== null`))
	b.look("branch")

	// Back to the original, where the undo is a turn that can itself be undone.
	b.click(".ways a")
	b.lastReply(4)
	require.Equal(t, first, b.eval(`location.hash`))
	b.shows(".turn:nth-child(2) .ways", "1 of 2")
	b.shows(".turn:last-child .undo", "Redo")
	b.click(".turn:last-child .undo")
	b.lastReply(5)
	h.requireRows(t, "1", saved)

	// Tried again, keeping the rows: a third version.
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('[aria-label="Try turn 1 again"]').click()`))
	b.until(`location.hash !== ` + "`" + first + "`" + ` || document.querySelector("dialog[open]") !== null`)
	b.eval(`[...document.querySelectorAll("dialog[open] button")].find((e) => e.textContent === "Keep the rows")?.click()`)
	b.lastReply(1)
	h.requireRows(t, "1", saved)
	h.requireRows(t, "3", `SELECT count(*) FROM sessions`)
	b.do(chromedp.Reload())
	b.shows(".turn .ways", "of 2")
	b.requireNoTrouble()
}

// A fork is marked in the list, says what it is a version of, and which rows are no longer as they were then.
func TestForksAreMarked(t *testing.T) {
	t.Parallel()

	h := offlineHouse(t)
	p := h.resident("ada")
	b := browse(t)
	b.enter(p, h.url)
	b.say("Show my recipes")
	b.lastReply(1)
	b.say("Show my tasks")
	b.lastReply(2)
	b.counts("#sessions li .icon-branch", 0)
	var made struct{ ID string }
	require.Equal(t, http.StatusCreated, p.call(http.MethodPost, "/v1/sessions/"+b.eval(`location.hash.slice(1)`)+"/fork", map[string]int{"turn": 1}, &made))
	_, err := h.pool.Exec(t.Context(), `UPDATE kitchen.recipes SET description = 'hotter' WHERE name = 'Butter Chicken' AND user_id = $1`, p.user)
	require.NoError(t, err)
	var listed struct {
		Items []struct {
			ID           string `json:"id"`
			ParentID     string `json:"parent_id"`
			ForkedAtTurn *int   `json:"forked_at_turn"`
		} `json:"items"`
	}
	require.Equal(t, http.StatusOK, p.call(http.MethodGet, "/v1/sessions", nil, &listed))
	require.Len(t, listed.Items, 2)
	for _, item := range listed.Items {
		require.Equal(t, item.ID == made.ID, item.ParentID != "" && item.ForkedAtTurn != nil)
	}

	b.eval(`location.hash = "` + made.ID + `"`)
	b.shows(".origin", "From here on it is a version of Show my recipes.")
	b.shows(".origin summary", "Since then 1 row changed")
	b.shows(".origin li", "Butter Chicken recipe · changed")
	require.Equal(t, "1", b.eval(`document.querySelector(".origin").previousElementSibling.dataset.number`), "it stands where the two part")
	b.do(chromedp.Reload())
	b.counts("#sessions li .icon-branch", 1)
	b.shows(`#sessions li a[aria-current]`, "A version of another conversation")
	b.shows(".origin summary", "Since then 1 row changed")
	b.eval(`document.querySelector(".origin summary").click()`)
	b.look("fork")
	b.say("Show my tasks")
	b.lastReply(2)
	require.Equal(t, "true", b.eval(`document.querySelector(".origin").nextElementSibling.matches(".turn:last-child")`))
	b.requireNoTrouble()
}
