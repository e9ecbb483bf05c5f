package e2e_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// Y04, Y05: a conversation is titled by what was said, never by a token, then by a turn's goal, and then by what the
// user enters.
func TestY04TitlesSayWhatItWasAbout(t *testing.T) {
	t.Parallel()

	c := converse(t, `
turns:
  - understand: {intent: chat}
    think: {goal: Plan a week of dinners, decision: plan, steps: []}
    reply: Gladly.
  - understand: {intent: chat}
    think: {goal: Something else, decision: plan, steps: []}
    reply: Of course.
`)
	made := c.enqueue(message{"message": "Cook @[Pad See Ew](recipe:0190aaaa-0000-7000-8000-000000000000) on  Friday"})
	title := func() string {
		var got struct {
			Title string `json:"title"`
		}
		require.Equal(t, 200, c.call("GET", c.path(""), nil, &got))

		return got.Title
	}
	first := title()
	require.Contains(t, []string{"Cook Pad See Ew on Friday", "Plan a week of dinners"}, first)
	c.end(made)
	require.Equal(t, "Plan a week of dinners", title())
	require.Equal(t, 200, c.call("PATCH", c.path(""), map[string]string{"title": "Dinners"}, nil))
	c.say("And more")
	require.Equal(t, "Dinners", title())
}

// A goal titles its conversation, so it names rows as people do.
func TestTitlesNameRowsByTheirLabels(t *testing.T) {
	t.Parallel()

	c := converse(t, `
turns:
  - understand: {intent: chat}
    think: {goal: Praise recipe_1, decision: plan, steps: []}
    reply: Gladly.
`)
	c.say("@[Butter Chicken](recipe:" + c.one(`SELECT id::text FROM kitchen.recipes WHERE user_id = $2 AND name = 'Butter Chicken'`) + ") is good")
	c.fact("Praise Butter Chicken", `SELECT title FROM sessions WHERE id = $1`)
}

// A goal in the words of the first message titles the conversation as much as any other: "No" does not replace it.
func TestTitlesAreOfTheFirstGoal(t *testing.T) {
	t.Parallel()

	c := converse(t, `
turns:
  - understand: {intent: chat}
    think: {goal: Clear the pantry, decision: plan, steps: []}
    reply: Really?
  - understand: {intent: chat}
    think: {goal: "No", decision: plan, steps: []}
    reply: All right.
`)
	c.say("Clear the pantry")
	c.say("No")
	c.fact("Clear the pantry", `SELECT title FROM sessions WHERE id = $1`)
}

// A look-up is a goal, which its message says: what comes after it titles no conversation. A greeting is none.
func TestTitlesAreOfTheFirstMessageThatWantsSomething(t *testing.T) {
	t.Parallel()
	const look = `
  - understand: {intent: read}
    think: {goal: "", decision: plan, steps: [], calls: [{tool: db_read, table: recipes}]}
    reply: There they are.`
	const hello, praise = `
  - understand: {intent: chat}
    think: {goal: "", decision: plan, steps: []}
    reply: Hello!`, `
  - understand: {intent: chat}
    think: {goal: Praise the first, decision: plan, steps: []}
    reply: Gladly.`
	for first, want := range map[string]string{look: "Show my recipes", hello: "Praise the first"} {
		c := converse(t, "\nturns:"+first+praise+"\n")
		c.say("Show my recipes")
		c.say("the first is good")
		c.fact(want, `SELECT title FROM sessions WHERE id = $1`)
	}
}

// Y07: replies are CommonMark with tables, sanitized; a named row opens, and so does the rest of a long list. Y08:
// actions on messages and conversations. Y10: right-to-left text, and forms that keep their content.
func TestY07Y08Y10Replies(t *testing.T) {
	t.Parallel()

	h := scripted(t, `
turns:
  - understand: {intent: read, quick: {entity_type: recipe, why: all}}
    act: {calls: [{tool: db_read, args: {table: recipes}}]}
  - understand: {intent: chat}
    think: {goal: Show off, decision: plan, steps: []}
    reply: |
      # Butter Chicken

      | what | how much |
      |------|---------:|
      | rice | 2        |

      - one
        - nested, [a link](https://example.com/x) and ~~not this~~

      > quoted … and 152 more

      مرحبا بالعالم

      ![x](https://example.com/x.png)
`)
	b := browse(t)
	b.enter(h.resident("ada"), h.url)
	b.say("List my recipes")
	b.lastReply(1)
	b.say("Show off")
	b.lastReply(2)
	b.until(`document.querySelector(".turn:last-child .reply table td") !== null`)
	reply := ".turn:last-child .reply "
	require.Equal(t, "nested, a link and not this", strings.TrimSpace(b.text(reply+"li li")))
	require.Equal(t, "noopener noreferrer|_blank", b.eval(`(e => e.rel + "|" + e.target)(document.querySelector("`+reply+`a"))`))
	require.Equal(t, "0", b.eval(`document.querySelectorAll("`+reply+`img").length`))
	require.Equal(t, "rtl", b.eval(`[...document.querySelectorAll("`+reply+`> p")].map((e) => e.textContent.includes("مرحبا") ? (getComputedStyle(e).unicodeBidi === "plaintext" ? "rtl" : "ltr") : "").join("")`))
	b.look("markdown")

	b.click(reply + ".row-link") // Butter Chicken
	b.shows("dialog[open] h2", "Butter Chicken")
	b.until(`document.activeElement.matches("dialog[open] input, dialog[open] textarea")`)
	b.fill(`dialog[open] [name="name"]`, "Butter Tofu")
	b.do(chromedp.KeyEvent(kb.Escape))
	b.shows("dialog[open]:last-of-type", "Discard your changes?")
	b.look("discard")
	b.click("dialog[open]:last-of-type .buttons button") // continue editing
	b.until(`document.querySelectorAll("dialog[open]").length === 1 && document.querySelector('dialog[open] [name="name"]').value === "Butter Tofu"`)
	b.do(chromedp.KeyEvent(kb.Escape))
	b.click("dialog[open]:last-of-type .danger")
	b.counts("dialog[open]", 0)
	b.click(reply + "blockquote .link")
	b.shows("dialog[open] h2", "What was read")
	b.do(chromedp.KeyEvent(kb.Escape))
	b.counts("dialog[open]", 0)

	b.click(`.turn:last-child [aria-label="Edit the message of turn 2"]`)
	b.until(`document.querySelector("#message").value === "Show off"`)
	b.fill("#message", "")
	b.keys(kb.ArrowUp)
	b.until(`document.querySelector("#message").value === "Show off"`)
	b.fill("#message", "")
	b.click("#shortcuts")
	b.shows("dialog[open]", "Stop the turn that runs")
	b.look("shortcuts")
	b.do(chromedp.KeyEvent(kb.Escape))
	b.fill("#theme", "dark")
	require.Equal(t, "rgb(20, 23, 22)", b.eval(`getComputedStyle(document.body).backgroundColor`))
	b.do(chromedp.Reload())
	b.until(`document.activeElement.id === "message"`)
	require.Equal(t, "dark", b.eval(`document.documentElement.dataset.theme`))
	b.click("#session-menu summary")
	require.Contains(t, b.text("#session-actions"), "Export as Markdown")
	b.click("#sessions .session .menu summary")
	b.shows("#sessions .session .menu-list", "Rename")
	b.look("session_menu")
	b.requireNoTrouble()
}

// Y09: the search field finds titles, messages and stored rows, with hits highlighted.
func TestY09SearchFindsEverything(t *testing.T) {
	t.Parallel()

	h := offlineHouse(t)
	b := browse(t)
	b.enter(h.resident("ada"), h.url)
	b.say("Show my recipes")
	b.lastReply(1)
	b.fill("#find-session", "recipes")
	b.shows("#sessions mark", "recipes")
	b.fill("#find-session", "zzzz")
	b.shows("#sessions", "No conversation is called “zzzz”.")
	b.look("search")
	b.requireNoTrouble()
}

// Y12: a turn's timing, each tool's arguments and rows, the difference between two prompts, and what a turn changed in
// view.
func TestY12Inspector(t *testing.T) {
	t.Parallel()

	h := offlineHouse(t)
	b := browse(t)
	b.enter(h.resident("ada"), h.url)
	b.say("Show my recipes")
	b.lastReply(1)
	b.say("Draft a Thai basil chicken")
	b.lastReply(2)
	b.say("A message that is so long that the list of turns has room for its beginning alone")
	b.lastReply(3)
	b.click(".turn:nth-child(2) .about-turn .quiet")
	b.shows("#panel .waterfall", "model")
	b.shows("#panel .timeline details", "Arguments and")
	b.look("waterfall")
	b.click("#panel .calls button")
	b.click(".compare")
	b.until(`document.querySelector(".differences ins, .differences del") !== null`)
	b.look("differences")
	b.do(chromedp.KeyEvent(kb.Escape))
	b.counts("dialog[open]", 0)
	b.click("#tab-entities")
	b.until(`document.querySelector("#against") !== null`)
	b.shows("#against", "of turns has room f…")
	b.fill("#against", "1")
	b.shows("#panel .changes .new", "Thai Basil Chicken")
	b.look("changes")
	b.requireNoTrouble()
}

// Y08: what a turn did to rows is shown below its reply from the rows, undone with a button, and rated with a thumb.
func TestY08UndoAndFeedback(t *testing.T) {
	t.Parallel()

	h := offlineHouse(t)
	b := browse(t)
	b.enter(h.resident("ada"), h.url)
	b.say("Draft a Thai basil chicken")
	b.lastReply(1)
	b.say("Save it")
	b.lastReply(2)
	b.shows(".turn:last-child .written", "Saved Thai Basil Chicken")
	b.look("wrote")
	h.requireRows(t, "1", `SELECT count(*) FROM kitchen.recipes WHERE name = 'Thai Basil Chicken'`)
	b.click(".turn:last-child .undo")
	b.lastReply(3)
	h.requireRows(t, "0", `SELECT count(*) FROM kitchen.recipes WHERE name = 'Thai Basil Chicken'`)
	b.shows(".turn:nth-child(2) .written", "Undone.")
	b.say("undo turn 3")
	b.lastReply(4)
	b.shows(".turn:nth-child(2) .undo", "Undo") // it stands again
	b.look("redone")
	b.click("#toggle-inspector")
	b.shows("#panel", "created by you")
	b.click("#toggle-inspector")
	b.say("undo that")
	b.lastReply(5)
	b.shows(".turn:nth-child(2) .written", "Undone.") // in words, too
	b.click(`[aria-label="The reply of turn 2 was not good"]`)
	b.shows("dialog[open]", "What was wrong?")
	b.fill("#ask-line", "Too hot")
	b.click("dialog[open] .primary")
	b.counts("dialog[open]", 0)
	b.shows("#announcer", "Thank you")
	b.do(chromedp.Reload())
	b.until(`document.querySelector('[aria-label="The reply of turn 2 was not good"]').ariaPressed === "true"`)
	h.requireRows(t, "Too hot", `SELECT text FROM v_feedback WHERE rating = 'down'`)
	b.look("undone")
	b.requireNoTrouble()
}

// Whether a turn can be undone stands once below its reply: as the button, or as the reason why not.
func TestUndoingIsSpokenOfOnce(t *testing.T) {
	t.Parallel()

	h := scripted(t, `
turns:
  - understand: {intent: write}
    think: {goal: Delete it, decision: plan, steps: [{type: write, subdomain: recipes, description: Delete the shakshuka}]}
    act: {calls: [{tool: db_delete, args: {table: recipes, filters: [{field: name, op: "=", value: Shakshuka}]}}, {tool: step_complete, args: {summary: deleted}}]}
    reply: The Shakshuka Classic is gone.
`)
	b := browse(t)
	b.enter(h.resident("ada"), h.url)
	b.say("delete the shakshuka")
	b.lastReply(1)
	b.shows(".turn .written", "Undo")
	once := func(reply, below string) {
		b.shows(".turn:first-child .reply", "The Shakshuka Classic is gone.")
		require.Equal(t, reply, strings.TrimSpace(b.text(".turn:first-child .reply")))
		b.shows(".turn:first-child .written", below)
	}
	once("The Shakshuka Classic is gone.", "Undo")
	h.requireRows(t, "The Shakshuka Classic is gone.\n\nThis can be undone.", `SELECT reply FROM turns`)
	b.look("once")
	b.click(".turn .undo")
	b.lastReply(2)
	once("The Shakshuka Classic is gone.", "Undone.")

	_, err := h.pool.Exec(t.Context(), `UPDATE turns SET undo = 'impossible', undo_reason = 'Delete cannot be taken back.', reply = E'The Shakshuka Classic is gone.\n\nDelete cannot be taken back.' WHERE number = 1`)
	require.NoError(t, err)
	b.do(chromedp.Reload())
	b.until(`document.querySelectorAll(".turn").length === 2`)
	b.shows(".turn:first-child .written", "Delete cannot be taken back.")
	once("The Shakshuka Classic is gone.", "Delete cannot be taken back.")
}

// After another declaration is run, conversations of the earlier one say that their rows are out of reach.
func TestPageTellsConversationsOfOtherDeclarations(t *testing.T) {
	t.Parallel()

	h := offlineHouse(t)
	p := h.resident("ada")
	b := browse(t)
	b.enter(p, h.url)
	b.say("Show my recipes")
	b.lastReply(1)
	require.Equal(t, "true", b.eval(`document.querySelector("#elsewhere").hidden`))
	_, err := h.pool.Exec(t.Context(), `UPDATE sessions SET domain = 'retail'`)
	require.NoError(t, err)
	b.do(chromedp.Reload())
	b.shows("#elsewhere", "other tables (retail) than those that are here now (kitchen)")
	b.look("elsewhere")
	b.click("#new-session")
	b.until(`document.querySelector("#elsewhere").hidden`)
}
