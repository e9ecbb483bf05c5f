package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"alfred/internal/domain"
	"alfred/internal/llm"
	"alfred/internal/llm/offline"
)

// gate lets a model's calls through one by one. A reply pauses at its first piece until released.
type gate struct {
	llm.Model

	open, speak chan struct{}
}

func (g *gate) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	select {
	case <-g.open:
	case <-ctx.Done():
		return nil, ctx.Err()
	}

	if tell := req.OnDelta; tell != nil && req.Node != "understand" {
		req.OnDelta = func(text string) {
			tell(text)
			select {
			case <-g.speak:
			case <-ctx.Done():
			}
		}
	}

	return g.Model.Generate(ctx, req)
}

// gated opens a house whose model is behind a closed gate.
func gated(t *testing.T) (*gate, *house) {
	t.Helper()
	g := &gate{open: make(chan struct{}), speak: make(chan struct{})}

	return g, openHouse(t, fixtures{model: func(d *domain.Domain) llm.Model {
		g.Model = offline.New(d)

		return g
	}})
}

// road is the network between a page and a house. It can be cut and closed.
type road struct {
	*httptest.Server

	closed  atomic.Bool
	away    atomic.Bool // the database
	refused atomic.Int64
	toll    func(*http.Request) // called before a request is forwarded
}

func roadTo(t *testing.T, h *house) *road {
	t.Helper()
	target, err := url.Parse(h.url)
	require.NoError(t, err)
	r := &road{toll: func(*http.Request) {}}
	through := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target); r.Out.Host = r.In.Host },
		FlushInterval: -1,
	}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if r.closed.Load() {
			panic(http.ErrAbortHandler) // the connection ends without an answer
		}
		if r.away.Load() && strings.HasPrefix(req.URL.Path, "/v1/") {
			r.refused.Add(1)
			http.Error(w, "", http.StatusServiceUnavailable)

			return
		}
		r.toll(req)
		through.ServeHTTP(w, req)
	}))
	t.Cleanup(func() {
		r.CloseClientConnections()
		r.Close()
	})

	return r
}

// The page sends two requests before it has a key. If the second is refused after the user has already entered a key,
// that key is not called wrong.
func TestLateRefusalDoesNotAskAgain(t *testing.T) {
	t.Parallel()

	h := offlineHouse(t)
	r := roadTo(t, h)
	given := make(chan struct{})
	give := sync.OnceFunc(func() { close(given) })
	t.Cleanup(give)
	r.toll = func(req *http.Request) {
		hasKey := req.Header.Get("Authorization") != ""
		switch {
		case req.URL.Path == "/v1/sessions" && hasKey:
			give()
		case req.URL.Path == "/v1/data" && !hasKey:
			<-given
		}
	}
	b := browse(t)
	b.enter(h.resident("ada"), r.URL)
	b.until(`document.querySelector("#types [data-type=recipe]") !== null`)
	require.Equal(t, "false", b.eval(`document.querySelector("#key-dialog").open`))
	b.say("Show my recipes")
	require.Contains(t, b.lastReply(1), "Butter Chicken")
	b.requireNoTrouble()
}

// The text of a stopped reply stays, also for clients that join later.
func TestStopKeepsWhatWasSaid(t *testing.T) {
	t.Parallel()

	g, h := gated(t)
	close(g.open)
	t.Cleanup(func() { close(g.speak) })
	b := browse(t)
	b.enter(h.resident("ada"), h.url)
	b.say("Draft a Thai basil chicken")
	b.until(`document.querySelector(".turn .reply.streaming").textContent.length > 0`)
	b.click(".turn .progress button")
	b.shows(".turn .stopped", "Stopped here.")
	b.until(`document.activeElement.id === "message"`) // who types goes on where they can be heard
	said := b.text(".turn .reply")
	b.do(chromedp.Reload())
	b.shows(".turn .stopped", "Stopped here.")
	require.Equal(t, strings.TrimSpace(said), strings.TrimSpace(b.text(".turn .reply")))
	b.look("stopped")
	b.requireNoTrouble()
}

// Answers can be clicked once the question is written out.
func TestAnswersWaitForTheirQuestion(t *testing.T) {
	t.Parallel()

	g, h := gated(t)
	close(g.open)
	b := browse(t)
	b.enter(h.resident("ada"), h.url)
	b.say("Delete everything in the freezer")
	b.until(`document.querySelector(".turn .reply.streaming").textContent.length > 0`)
	b.until(`document.querySelectorAll("` + answers + `").length === 2`)
	b.until(`document.querySelector(".turn .options").checkVisibility() === false`)
	close(g.speak)
	require.Contains(t, b.lastReply(1), "Shall I?")
	b.until(`document.querySelector(".turn .options").checkVisibility()`)
	b.requireNoTrouble()
}

// K02: while a model is silent after a write, the page says so and what to do. When the turn's time is up, it says what
// was saved, and the saved row is there.
func TestK02TheDeadlineOnThePage(t *testing.T) {
	t.Parallel()

	h := scripted(t, `
turns:
  - understand: {intent: write}
    think: {goal: Add, decision: plan, steps: [{type: write, subdomain: shopping, description: Add milk}, {type: write, subdomain: tasks, description: Add a task}]}
    act: [{calls: [{tool: db_create, args: {table: shopping_list, data: {name: milk}}}, {tool: step_complete, args: {summary: added}}]}, {text: late, delay: 1h}]
`)
	h.stopWorker()
	h.jobs.Deadline, h.jobs.SlowAfter = 8*time.Second, 100*time.Millisecond
	h.startWorker()
	b := browse(t)
	b.enter(h.resident("ada"), h.url)
	b.say("Milk, and call mum")
	b.shows(".turn .progress", "The model takes its time; you can stop it")
	b.shows(".turn .reply", "The model gave no answer within 8s, so I stopped here. Done before that, and it stays: saved milk.")
	b.look("deadline")
	b.do(chromedp.Reload())
	b.shows(".turn .reply", "Done before that, and it stays: saved milk.")
	require.Contains(t, b.text(".turn .facts-line"), "script", "the model that answered, not the call that had no answer")
	b.requireNoTrouble()
}

// The reason why a turn ended without a reply stays when the Markdown renderer arrives.
func TestWhyATurnEndedStays(t *testing.T) {
	t.Parallel()

	h := scripted(t, `
turns:
  - understand: {intent: chat}
    think: {goal: Talk, decision: plan, steps: []}
    reply: "- one\n- two"
  - understand: {intent: chat, delay: 1h}
`)
	b := browse(t)
	b.enter(h.resident("ada"), h.url)
	b.say("Count")
	b.lastReply(1)
	b.say("Go on")
	b.click(".turn:last-child .progress button")
	b.shows(".turn:last-child .reply", "You cancelled this request.")
	b.do(chromedp.Reload())
	b.counts(".turn:first-child .reply li", 2)
	b.shows(".turn:last-child .reply", "You cancelled this request.")
	b.requireNoTrouble()
}

// A lost connection resumes where it broke; waiting messages are shown as such and can be cancelled; messages that
// cannot be sent are kept and sent once, later.
func TestPageWhileWorking(t *testing.T) {
	t.Parallel()

	g, h := gated(t)
	release, speak := sync.OnceFunc(func() { close(g.open) }), sync.OnceFunc(func() { close(g.speak) })
	h.stopWorker()
	h.jobs.SlowAfter = time.Hour // on a loaded machine the test makes the model wait for longer than usual
	h.startWorker()
	road := roadTo(t, h)
	t.Cleanup(func() { // otherwise a failed test's worker waits for its calls
		release()
		speak()
	})
	b := browse(t)

	b.enter(h.resident("ada"), road.URL)
	b.say("Draft a Thai basil chicken")
	b.shows(".activity", "Reading your message")
	g.open <- struct{}{} // understand, and the plan with it
	b.counts(".plan li.now", 1)
	b.look("plan")
	b.say("Show my recipes")
	b.shows(".turn:last-child .activity", "Waiting for the answer before")
	b.look("waiting")

	road.closed.Store(true)
	road.CloseClientConnections()
	b.shows(".activity", "trying again")
	b.until(`!document.querySelector("#banner").hidden`)
	b.say("Show my tasks")
	b.shows("#outbox", "Not sent yet")
	require.Equal(t, b.eval(`document.querySelector("#turns .said").getBoundingClientRect().right`), b.eval(`document.querySelector("#outbox .said").getBoundingClientRect().right`), "it stands where it will stand once it is sent")
	b.keys("And this one is still being typed")
	b.look("away")
	road.closed.Store(false)
	b.until(`document.querySelector("#banner").hidden`)
	b.counts(".turn", 3)
	b.until(`!document.querySelector(".activity").textContent.includes("trying again")`)

	b.click(".turn:nth-child(2) .progress button")
	b.shows(".turn:nth-child(2) .reply", "You cancelled this request.")
	release()

	// A reply is shown as it streams, also to a client that joins in the middle.
	for range 2 {
		b.until(`document.querySelector(".turn[aria-busy] .reply.streaming").textContent.length > 0`)
		require.NotContains(t, b.text(".turn .reply"), "Chop the garlic", "that is still to come")
		b.shows(".activity", "Writing")
		b.look("streaming")
		b.do(chromedp.Reload())
	}
	speak()
	b.lastReply(3)
	b.counts(".streaming", 0)
	require.Equal(t, 1, strings.Count(b.text(".turn .reply"), "It is not saved yet"), "a resumed stream says nothing twice")
	b.counts("#outbox li", 0)
	h.requireRows(t, "3", `SELECT count(*) FROM turns`)

	// Typed text has survived the reloads; text that is too long is neither sent nor cut.
	b.until(`document.querySelector("#message").value === "And this one is still being typed"`)
	b.fill("#message", strings.Repeat("word ", 7000))
	b.shows("#message-size", "Too long by")
	require.Equal(t, "true", b.eval(`document.querySelector("#send").disabled && document.querySelector("#message").value.length === 35000`))
	b.look("too_long")
	b.requireNoTrouble()
}

// While the server is there and its database is not, the page says so, does not send its message in a hurry,
// and goes on by itself.
func TestPageWithoutTheDatabase(t *testing.T) {
	t.Parallel()

	h := offlineHouse(t)
	road := roadTo(t, h)
	b := browse(t)
	b.enter(h.resident("ada"), road.URL)
	b.say("Show my recipes")
	b.lastReply(1)

	road.away.Store(true)
	b.say("Show my tasks")
	b.shows("#outbox", "Not sent yet")
	time.Sleep(3 * time.Second)
	require.Less(t, road.refused.Load(), int64(20))
	require.Equal(t, "false", b.eval(`document.querySelector("#banner").hidden`))
	road.away.Store(false)
	b.lastReply(2)
	require.Equal(t, "true", b.eval(`document.querySelector("#banner").hidden`))

	road.away.Store(true)
	b.do(chromedp.Reload())
	b.until(`!document.querySelector("#banner").hidden`)
	b.say("Show my pantry")
	road.away.Store(false)
	b.lastReply(3)
}

// Two tabs show the same; what is deleted in one is reported gone in the other, which keeps what was typed.
func TestPageInTwoTabs(t *testing.T) {
	t.Parallel()

	h := offlineHouse(t)
	p := h.resident("ada")
	one := browse(t)
	one.enter(p, h.url)
	one.say("Show my recipes")
	require.Contains(t, one.lastReply(1), "Butter Chicken")
	two := one.another()
	two.enter(p, h.url+"/"+one.eval(`location.hash`))
	require.Contains(t, two.lastReply(1), "Butter Chicken")
	two.say("Show my tasks")
	two.lastReply(2)
	one.lastReply(2)

	// Archived and found again.
	one.click("#session-menu summary")
	one.click("#session-actions button:nth-child(5)")
	one.until(`document.querySelectorAll("#sessions li").length === 0`)
	one.click("#sessions > button") // Archived
	one.shows("#sessions li", "Show my recipes")
	two.keys("Half a")
	two.keys(" thought")
	one.click("#session-menu summary")
	one.click("#session-actions button:nth-child(6)")
	one.shows("dialog[open]", "Your stored rows stay")
	one.click("dialog[open] .danger")
	two.shows("#gone", "This conversation was deleted")
	two.shows("#gone blockquote", "Half a thought")
	two.look("gone")
	two.click("#gone button")
	two.until(`document.querySelector("#message").value === "Half a thought"`)
	require.Equal(t, "0", two.eval(`document.querySelectorAll(".turn").length`))
	one.requireNoTrouble()
	two.requireNoTrouble()
}

// Rows are viewed, created, changed and deleted by hand; Alfred learns of it.
func TestPageRows(t *testing.T) {
	t.Parallel()

	h := offlineHouse(t)
	p := h.resident("ada")
	b := browse(t)
	b.enter(p, h.url)
	b.say("Draft a Thai basil chicken")
	b.lastReply(1)

	// A draft is changed by hand, and stays a draft.
	b.click("#drafts .card .name")
	b.counts(`dialog[open] [name="name"]`, 9) // the dish and eight ingredients
	b.fill(`dialog[open] .field [name="name"]`, "Thai Basil Tofu")
	b.fill(`dialog[open] .parts [name="name"]`, "tofu")
	b.look("draft_form")
	b.click("dialog[open] [type=submit]")
	b.shows("#drafts .card .name", "Thai Basil Tofu")
	h.requireRows(t, "tofu", `SELECT content #>> '{recipe_ingredients,0,name}' FROM artifacts ORDER BY version DESC LIMIT 1`)
	b.click("#drafts .card .quiet")
	b.click("dialog[open] .danger")
	b.counts("#drafts .card", 0)

	b.click(`#types [data-type="inv"]`)
	b.shows("#row-count", "12 pantry items")
	b.counts("#sidebar [aria-current]", 1) // the table, not the conversation beside it
	b.picture("rows")
	b.fill("#find-row", "rice")
	b.shows("#row-count", "1 pantry item")
	b.click("#row-table tbody button")
	b.fill(`dialog[open] [name="quantity"]`, "-1")
	b.click("dialog[open] [type=submit]")
	b.until(`!document.querySelector("dialog[open] [role=alert]").hidden`)
	b.look("row_form")
	b.fill(`dialog[open] [name="quantity"]`, "7.5")
	b.click("dialog[open] [type=submit]")
	b.shows("#row-table", "7.5")

	// Somebody else's change in between is not overwritten.
	b.click("#row-table tbody button")
	b.until(`document.querySelector("dialog[open] [name=quantity]") !== null`)
	_, err := h.pool.Exec(t.Context(), `UPDATE kitchen.inventory SET quantity = 9 WHERE name = 'Basmati rice'`)
	require.NoError(t, err)
	b.fill(`dialog[open] [name="quantity"]`, "8")
	b.click("dialog[open] [type=submit]")
	b.shows("dialog[open] [role=alert]", "changed by somebody else")
	b.click("dialog[open] [role=alert] button")
	b.until(`document.querySelector("dialog[open] [name=quantity]").value === "9"`)
	b.click("dialog[open] .danger")
	b.until(`document.querySelectorAll("dialog[open]").length === 2`)
	b.click("dialog[open]:last-of-type .danger")
	b.shows("#row-count", "0 pantry items")

	b.fill("#find-row", "")
	b.shows("#row-count", "11 pantry items")
	b.click("#new-row")
	b.fill(`dialog[open] [name="name"]`, "Oat milk")
	b.click("dialog[open] [type=submit]")
	b.shows("#row-count", "12 pantry items")

	// Nor is one of a row's parts.
	b.click(`#types [data-type="recipe"]`)
	b.shows("#row-count", "3 recipes")
	require.Contains(t, b.text("#row-table tbody button"), "Butter Chicken")
	b.click("#row-table tbody button")
	b.until(`document.querySelector("dialog[open] .parts tbody tr") !== null`)
	_, err = h.pool.Exec(t.Context(), `UPDATE kitchen.recipe_ingredients SET name = 'another' WHERE id = (SELECT i.id FROM kitchen.recipe_ingredients AS i
		JOIN kitchen.recipes AS r ON r.id = i.recipe_id JOIN users AS u ON u.id = r.user_id WHERE u.name = 'ada' AND r.name = 'Butter Chicken' ORDER BY i.name LIMIT 1)`)
	require.NoError(t, err)
	b.eval(`document.querySelectorAll("dialog[open] .parts tbody button").forEach((e) => e.click())`)
	b.click("dialog[open] [type=submit]")
	b.shows("dialog[open] [role=alert]", "changed by somebody else")
	h.requireRows(t, "1", `SELECT count(*) FROM kitchen.recipe_ingredients WHERE name = 'another'`)
	b.click("dialog[open] [role=alert] button")
	b.until(`[...document.querySelectorAll("dialog[open] .parts [name=name]")].some((e) => e.value === "another")`)
	b.do(chromedp.KeyEvent(kb.Escape))
	b.counts("dialog[open]", 0)

	b.click("#sessions a")
	b.counts("#sidebar [aria-current]", 1)
	b.say("What is in my pantry?")
	require.Contains(t, b.lastReply(2), "Oat milk")
	// Typed text, also in a form, outlives the conversation.
	b.keys("Half a thought")
	b.click(`#types [data-type="inv"]`)
	b.click("#new-row")
	b.fill(`dialog[open] [name="name"]`, "Rye bread")
	for _, action := range []string{"created:user", "updated:user", "deleted:user"} {
		h.requireRows(t, "true", fmt.Sprintf(`SELECT count(*) > 0 FROM entity_events WHERE action = '%s' AND actor = 'user'`, action))
	}
	require.Equal(t, http.StatusNoContent, p.call(http.MethodDelete, "/v1/sessions/"+b.eval(`document.querySelector("#sessions a").dataset.id`), nil, nil))
	b.until(`!document.querySelector("#gone").hidden`)
	b.click("dialog[open] [type=submit]")
	b.shows("#row-count", "13 pantry items")
	b.click("#new-session")
	b.shows("#notices .notice", "is kept")
	b.click("#notices .notice button")
	b.until(`document.querySelector("#message").value === "Half a thought"`)
	b.requireNoTrouble()
}
