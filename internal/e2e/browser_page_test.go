package e2e_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"alfred/internal/llm/offline"
)

func offlineHouse(t *testing.T) *house {
	t.Helper()

	return openHouse(t, fixtures{model: offline.New})
}

// The README's conversation, and what the page shows beside it.
func TestPage(t *testing.T) {
	t.Parallel()

	b := browse(t)
	h := offlineHouse(t)
	b.enter(h.resident("ada"), h.url)
	b.shows("#empty", "What can I do for you?")
	b.look("empty")

	b.click("#empty .options button") // Show my recipes
	require.Contains(t, b.lastReply(1), "Butter Chicken")
	b.shows("#sessions a[aria-current]", "Show my recipes")
	b.say("Draft a Thai basil chicken")
	require.Contains(t, b.lastReply(2), "Thai Basil Chicken")
	b.shows("#drafts .card", "Not saved")

	b.click("#toggle-inspector")
	b.counts("#panel .tier-generated li", 1)
	b.click(`#panel [data-ref="recipe_1"] button`)
	b.until(`document.querySelector('#panel [data-ref="recipe_1"] button').ariaPressed === "true"`)
	b.shows(`#panel [data-ref="recipe_1"]`, "pinned by you")
	b.until(`document.activeElement.getAttribute("aria-label") === "Unpin Butter Chicken"`) // the focus stays
	b.picture("desktop")
	b.fill("#as-of", "1")
	b.until(`document.querySelector("#panel .tier-generated") === null && document.querySelector("#panel .tier-recent") !== null`)

	_, err := h.pool.Exec(t.Context(), `WITH e AS (INSERT INTO entity_events (session_id, user_id, ref, turn_number, action, actor, data)
			SELECT session_id, user_id, ref, 2, 'demoted', 'assistant', '{"label": "Butter Chicken"}' FROM entity_refs WHERE ref = 'recipe_1' RETURNING session_id, user_id)
		INSERT INTO decisions (session_id, user_id, turn_number, action, ref, reason, actor) SELECT session_id, user_id, 2, 'demote', 'recipe_1', 'not wanted', 'assistant' FROM e`)
	require.NoError(t, err)
	b.click(".turn:last-child .about-turn .quiet")
	b.shows("#panel .timeline", "generate recipe: 1 row")
	require.Contains(t, b.text("#panel .timeline"), "demoted recipe_1: Butter Chicken: not wanted")
	require.Equal(t, 1, strings.Count(b.text("#panel .timeline"), "not wanted"), "what was decided and what became of it is one line")
	require.NotContains(t, b.text("#panel .timeline"), "demote recipe_1")
	b.look("timeline")
	b.click("#panel .calls li:nth-child(1) button")
	b.shows(".call-view", "## Current Task")
	require.Contains(t, b.text(".call-view .table"), "recipe_1")
	b.look("prompt")
	b.do(chromedp.KeyEvent(kb.Escape))
	b.counts("dialog[open]", 0)
	b.click("#tab-memory")
	b.shows("#panel", "Turn 2")
	b.look("memory")
	b.tabsAround(t, "message", "find-session", "toggle-inspector", "tab-memory", "close-inspector", "panel")
	b.onPhone(t)

	// What is saved equals what was shown: a card saves its draft unchanged, without a model.
	b.click("#drafts .card .primary")
	b.counts("#drafts .card", 0)
	h.requireRows(t, "1", `SELECT count(*) FROM kitchen.recipes WHERE name = 'Thai Basil Chicken'`)

	// Rows are mentioned with @ from the keyboard.
	b.keys("How do I make @pad")
	b.until(`document.querySelectorAll("#mentions li").length > 0 && !document.querySelector("#mentions").hidden`)
	b.look("mentions")
	b.keys(kb.Backspace + "d") // pictures close the list
	b.until(`document.querySelectorAll("#mentions li").length === 1 && !document.querySelector("#mentions").hidden`)
	b.keys(kb.Tab)
	b.say("?")
	require.NotEmpty(t, b.lastReply(3))
	require.Equal(t, "How do I make @Pad See Ew ?", b.text(".turn:last-child .said"))
	h.requireRows(t, "1", `SELECT count(*) FROM entity_events WHERE ref = 'recipe_2' AND action = 'mentioned:user'`)

	// Everything is still there after a reload, without asking for the key, also in dark mode.
	turns := `[...document.querySelectorAll(".said, .reply")].map((e) => e.innerText).join("|")`
	before := b.eval(turns)
	b.prefers("dark")
	b.do(chromedp.Reload())
	b.counts(".turn", 3)
	b.until(`[...document.querySelectorAll(".reply")].every((e) => e.querySelector("p"))`) // until the Markdown renderer is loaded, replies are plain
	require.Equal(t, before, b.eval(turns))
	b.counts("#panel .tier-recent", 1)
	b.picture("dark")
	b.requireNoTrouble()
}

// tabsAround moves through the page with the Tab key until it returns to the start: it passes the named controls and is
// trapped by none.
func (b *tab) tabsAround(t *testing.T, ids ...string) {
	t.Helper()
	seen := map[string]bool{}
	b.click("#message")
	for range 200 {
		b.do(chromedp.KeyEvent(kb.Tab))
		id := b.eval(`document.activeElement.id`)
		if seen[id] = true; id == "message" {
			break
		}
	}
	for _, id := range ids {
		require.Contains(t, seen, id, "reached with the Tab key")
	}
}

// onPhone checks the same page on a small screen.
func (b *tab) onPhone(t *testing.T) {
	t.Helper()
	b.do(chromedp.EmulateViewport(390, 780))
	b.until(`document.querySelector("#inspector").hidden`)
	b.picture("phone")
	fits := `document.documentElement.scrollWidth <= innerWidth && document.documentElement.scrollHeight <= innerHeight
		&& document.querySelector("#top").getBoundingClientRect().top === 0 && document.querySelector("#composer").getBoundingClientRect().bottom <= innerHeight`
	require.Equal(t, "true", b.eval(fits), "all of it fits on a phone")
	b.click("#toggle-sidebar")
	b.until(`document.querySelector("#sidebar").contains(document.activeElement) && document.querySelector("main").inert`)
	b.look("phone_conversations")
	b.do(chromedp.KeyEvent(kb.Escape))
	b.until(`document.activeElement.id === "toggle-sidebar" && !document.querySelector("main").inert`)
	b.click("#toggle-sidebar")
	b.click("#sidebar [aria-current=page]") // the conversation that is open
	b.until(`!document.querySelector("main").inert`)
	b.click("#toggle-inspector")
	b.shows("#panel", "Turn 2")
	b.look("phone_inspector")
	require.Equal(t, "true", b.eval(fits))
	b.click("#close-inspector")
	b.do(chromedp.EmulateViewport(1280, 800))
	b.click("#toggle-inspector")
}

func (h *house) requireRows(t *testing.T, want, sql string) {
	t.Helper()
	var got string
	require.NoError(t, h.pool.QueryRow(t.Context(), `SELECT (`+sql+`)::text`).Scan(&got))
	require.Equal(t, want, got, sql)
}

const hostile = `<img src=x onerror=alert(1)><script>alert(2)</script> @[<b onclick=alert(3)>](recipe:x) </li></ol>`

// What people, rows and models write is shown as text.
func TestPageShowsTextAsText(t *testing.T) {
	t.Parallel()

	b := browse(t)
	h := scripted(t, `
turns:
  - understand: {intent: chat}
    think: {goal: "<img src=x onerror=alert(5)>", decision: plan, steps: []}
    reply: "<img src=x onerror=alert(4)> **bold** [a](javascript:alert(6)) </div>"
`)
	p := h.resident("ada")
	c := p.talk()
	_, err := h.pool.Exec(t.Context(), `UPDATE sessions SET title = $2 WHERE id = $1`, c.session, hostile)
	require.NoError(t, err)
	_, err = h.pool.Exec(t.Context(), `INSERT INTO entity_refs (session_id, ref, entity_type, state, action, label, turn_created, turn_last_ref)
		VALUES ($1, 'gen_recipe_1', 'recipe', 'pending', 'generated', $2, 1, 1)`, c.session, hostile)
	require.NoError(t, err)
	_, err = h.pool.Exec(t.Context(), `UPDATE kitchen.recipes SET name = $2, description = $2 WHERE user_id = $1`, p.user, hostile)
	require.NoError(t, err)

	// An invalid key is asked for again.
	b.do(chromedp.Navigate(h.url), chromedp.SendKeys(chromedp.CSS("#key"), "alf_wrong"+kb.Enter))
	b.until(`!document.querySelector("#key-wrong").hidden && document.querySelector("#key-dialog").open`)
	b.do(chromedp.SendKeys(chromedp.CSS("#key"), p.key+kb.Enter))
	b.until(`document.activeElement.id === "message"`)

	b.say(hostile)
	b.lastReply(1)
	b.until(`document.querySelector(".reply strong") !== null`) // the Markdown renderer is loaded with the first reply
	require.Equal(t, "<img src=x onerror=alert(4)> bold a </div>", b.text(".reply p"))
	require.Equal(t, strings.ReplaceAll(hostile, "@[<b onclick=alert(3)>](recipe:x)", "@<b onclick=alert(3)>"), b.text(".said"))
	b.click("#toggle-inspector")
	b.shows("#panel .tier-generated", "<img src=x")
	b.click("#tab-timeline")
	b.shows("#panel .facts", "<img src=x")
	b.click("#tab-memory")
	b.shows("#panel", "<img src=x onerror=alert(4)>")
	b.look("hostile")
	b.click(`#types [data-type="recipe"]`)
	b.shows("#row-table", "<img src=x")
	b.click("#row-table tbody button")
	b.shows("dialog[open] h2", "<img src=x")
	b.look("hostile_rows")
	require.Equal(t, "0", b.eval(`document.querySelectorAll("main img, main script, main b, main a, aside img, aside b, dialog img, #sessions img").length`))
	b.requireNoTrouble()
}

// Y06: a question's options are buttons, each once, also after a reload, and disappear with an answer, by button or in
// words. A question without options is answered in words.
func TestPageQuestions(t *testing.T) {
	t.Parallel()

	h := scripted(t, `
turns:
  - understand: {intent: read, quick: {entity_type: recipe, why: one}}
    act: {calls: [{tool: db_read, args: {table: recipes}}]}
  - understand:
      intent: write
      mentions: [{text: one, resolution: ambiguous, candidates: [recipe_1, recipe_2]}]
      disambiguation: {question: Which recipe?, options: [recipe_1, recipe_2]}
  - understand: {intent: answer, answers_question: true, mentions: [{text: Pad See Ew, ref: recipe_2, resolution: exact}]}
    think: {goal: Settle it, decision: plan, steps: []}
    reply: Pad See Ew it is.
  - understand: {intent: explore}
    think: {goal: Plan dinners, decision: clarify, questions: ["For how many days?"], steps: []}
  - understand: {intent: answer, answers_question: true}
    think: {goal: Plan dinners, decision: propose, proposal: "Shall I draft two dinners?", steps: []}
  - understand: {intent: confirm, answers_question: true}
    think: {goal: Empty the pantry, decision: plan, steps: [{type: write, subdomain: inventory, description: Empty the pantry}]}
    act: {calls: [{tool: db_delete, args: {table: inventory, filters: [{field: location, op: "=", value: fridge}]}}]}
    reply: Shall I delete them?
  - understand: {intent: chat, answers_question: true}
    think: {goal: Leave it, decision: plan, steps: []}
    reply: Nothing was deleted.
  - understand: {intent: nonsense}
`)
	p := h.resident("ada")
	b := browse(t)
	b.enter(p, h.url)
	b.say("List my recipes")
	b.lastReply(1)
	b.say("Delete one")
	require.Equal(t, "Which recipe?", strings.TrimSpace(b.lastReply(2)), "its options are buttons")
	b.until(`document.querySelectorAll("` + answers + `").length === 2`)
	require.Equal(t, "Butter Chicken|Pad See Ew", b.answers())
	b.look("question")

	b.do(chromedp.Reload())
	b.counts(answers, 2)
	b.click(answers + ":last-child")
	require.Equal(t, "Pad See Ew it is.", b.lastReply(3))
	require.Equal(t, "Pad See Ew", b.text(".turn:last-child .said"))
	require.Empty(t, b.answers())
	asked := `document.querySelector(".turn:nth-child(2) .reply").innerText`
	b.until(asked + `.includes("Butter Chicken")`)
	said := b.eval(asked)
	b.do(chromedp.Reload())
	b.counts(".turn", 3)
	require.Equal(t, said, b.eval(asked), "what was offered stays to be read once its buttons are gone")

	// A question without known answers is answered in words, and focuses the input.
	b.say("Help me plan dinners")
	b.lastReply(4)
	b.until(`document.querySelectorAll("` + answers + `").length === 1`)
	b.eval(`document.activeElement.blur()`)
	b.click(answers)
	b.until(`document.activeElement.id === "message"`)
	b.say("Two days")
	b.lastReply(5)
	b.shows(answers, "Yes") // a proposal
	require.Equal(t, "Yes|No", b.answers())
	b.look("proposal")
	b.click(answers)
	b.lastReply(6)
	b.shows(answers, "Yes") // a deletion that has to be approved
	b.look("approval")
	b.click(answers + ":last-child")
	require.Equal(t, "Nothing was deleted.", b.lastReply(7))
	require.Equal(t, "No", b.text(".turn:last-child .said"))
	h.requireRows(t, "12", `SELECT count(*) FROM kitchen.inventory WHERE user_id = '`+p.user.String()+`'`)

	// A failed turn says so and can be sent again.
	b.say("Break")
	require.NotEmpty(t, b.lastReply(8))
	require.Equal(t, "Send again", b.answers())
	b.look("failed_turn")
	b.requireNoTrouble()
}
