package e2e_test

import (
	"context"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"alfred/domain"
	"alfred/llm"
	"alfred/llm/offline"
)

func offlineHouse(t *testing.T) *house {
	t.Helper()

	return openHouse(t, fixtures{model: offline.New})
}

func TestPage(t *testing.T) {
	t.Parallel()

	b := browse(t)
	h := offlineHouse(t)
	b.enter(h.resident("ada"), h.url)
	b.screenshot("empty")

	b.say("What is in my pantry?")
	require.Contains(t, b.lastReply(1), "Basmati rice")
	b.until(`document.querySelector("#sessions").selectedOptions[0].textContent === "What is in my pantry?"`)

	b.say("Draft a Thai basil chicken")
	require.Contains(t, b.lastReply(2), "Thai Basil Chicken")
	b.until(`document.querySelectorAll("#drafts .card").length === 1`)
	b.click("#toggle-inspector")
	b.until(`document.querySelector("#rows table") !== null`)
	b.screenshot("draft")

	// A draft is saved by its card, and is a row then.
	b.click("#drafts .card button")
	b.lastReply(3)
	b.until(`document.querySelectorAll("#drafts .card").length === 0`)
	b.until(`document.querySelector("#rows").textContent.includes("Thai Basil Chicken")`)
	b.click(`#entities li button`)
	b.until(`document.querySelector("#entities").textContent.includes("pinned")`)

	// Rows are named with @ from the keyboard.
	b.keys("How do I make @pad")
	b.until(`document.querySelectorAll("#mentions li").length > 0 && !document.querySelector("#mentions").hidden`)
	b.screenshot("mentions")
	b.keys(kb.Tab + "?" + kb.Enter)
	require.NotEmpty(t, b.lastReply(4))
	require.Equal(t, "How do I make @Pad See Ew ?", b.eval(`document.querySelector(".turn:last-child .said").textContent`))
	b.screenshot("conversation")

	// All of it is there again after a reload, without asking for the key.
	turns := `document.querySelector("#turns").innerText`
	before := b.eval(turns)
	b.do(chromedp.Reload())
	b.until(`document.querySelectorAll(".turn").length === 4`)
	require.Equal(t, before, b.eval(turns))

	b.do(chromedp.EmulateViewport(390, 780))
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
	require.NoError(t, err)
	b.screenshot("phone_dark")
	fits := `document.documentElement.scrollWidth <= innerWidth && document.documentElement.scrollHeight <= innerHeight
		&& document.querySelector("header").getBoundingClientRect().top === 0 && document.querySelector("#composer").getBoundingClientRect().bottom <= innerHeight`
	require.Equal(t, "true", b.eval(fits), "all of it fits on a phone")
	b.click("#toggle-inspector")
	b.until(`document.querySelector("#rows table") !== null`)
	b.screenshot("phone_inspector")
	require.Equal(t, "true", b.eval(fits))
	b.requireNoTrouble()
}

const hostile = `<img src=x onerror=alert(1)><script>alert(2)</script> @[<b onclick=alert(3)>](recipe:x) </li></ol>`

// What people, rows and models write is shown as they wrote it.
func TestPageShowsTextAsText(t *testing.T) {
	t.Parallel()

	b := browse(t)
	h := scripted(t, `
turns:
  - understand: {intent: chat}
    think: {goal: greet, decision: plan, steps: []}
    reply: "<img src=x onerror=alert(4)> **bold** </div>"
    summarize: {response_summary: greeted, conversation_phase: exploring, tone: collaborative}
`)
	p := h.resident("ada")
	c := p.talk()
	_, err := h.pool.Exec(t.Context(), `UPDATE sessions SET title = $2 WHERE id = $1`, c.session, hostile)
	require.NoError(t, err)
	_, err = h.pool.Exec(t.Context(), `INSERT INTO entity_refs (session_id, ref, entity_type, state, action, label, turn_created, turn_last_ref)
		VALUES ($1, 'gen_recipe_1', 'recipe', 'pending', 'generated', $2, 1, 1)`, c.session, hostile)
	require.NoError(t, err)
	_, err = h.pool.Exec(t.Context(), `UPDATE kitchen.recipes SET name = $2 WHERE user_id = $1`, p.user, hostile)
	require.NoError(t, err)

	b.enter(p, h.url)
	b.click("#toggle-inspector")
	b.until(`document.querySelector("#rows").textContent.includes("<img src=x")`)
	b.say(hostile)
	require.Equal(t, "<img src=x onerror=alert(4)> **bold** </div>", b.lastReply(1))
	require.Equal(t, strings.ReplaceAll(hostile, "@[<b onclick=alert(3)>](recipe:x)", "@<b onclick=alert(3)>"), b.eval(`document.querySelector(".said").textContent`))
	b.screenshot("hostile")
	require.Equal(t, "0", b.eval(`document.querySelectorAll("main img, main script, main b").length`))
	b.requireNoTrouble()
}

// gate lets a model's calls through one by one.
type gate struct {
	llm.Model

	open chan struct{}
}

func (g *gate) Generate(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	select {
	case <-g.open:
	case <-ctx.Done():
		return nil, ctx.Err()
	}

	return g.Model.Generate(ctx, req)
}

// A lost connection is taken up where it broke; what waits is seen to wait, and
// may be cancelled.
func TestPageWhileWorking(t *testing.T) {
	t.Parallel()

	g := &gate{open: make(chan struct{})}
	release := sync.OnceFunc(func() { close(g.open) })
	h := openHouse(t, fixtures{model: func(d *domain.Domain) llm.Model {
		g.Model = offline.New(d)

		return g
	}})
	target, err := url.Parse(h.url)
	require.NoError(t, err)
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target); r.Out.Host = r.In.Host },
		FlushInterval: -1,
	})
	t.Cleanup(func() {
		release() // else a failed test's worker waits for its calls
		proxy.CloseClientConnections()
		proxy.Close()
	})
	b := browse(t)

	b.enter(h.resident("ada"), proxy.URL)
	b.say("What is in my pantry?")
	b.until(`document.querySelector(".progress").textContent.includes("Reading your message")`)
	b.say("Show my recipes")
	b.until(`document.querySelectorAll(".progress")[1].textContent.includes("Waiting for the answer before")`)
	b.screenshot("waiting")

	proxy.CloseClientConnections()
	b.until(`document.querySelector(".progress").textContent.includes("trying again")`)
	b.until(`document.querySelector(".progress").textContent.includes("Reading your message")`)
	b.click(".turn:last-child .progress button")
	b.until(`document.querySelector(".turn:last-child .reply").textContent === "You cancelled this request."`)
	release()
	b.until(`document.querySelector(".turn .progress").hidden`)
	require.Equal(t, 1, strings.Count(b.eval(`document.querySelector(".turn .reply").textContent`), "Basmati rice"), "a resumed stream says nothing twice")
	b.requireNoTrouble()
}

// A question's options are buttons, also after a reload; an answer, by button or
// in words, takes them away.
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
    reply: Which recipe, Butter Chicken or Pad See Ew?
  - understand: {intent: answer, answers_question: true, mentions: [{text: Pad See Ew, ref: recipe_2, resolution: exact}]}
    think: {goal: Settle it, decision: plan, steps: []}
    reply: Pad See Ew it is.
  - understand: {intent: nonsense}
`)
	p := h.resident("ada")
	b := browse(t)
	b.enter(p, h.url)
	b.say("List my recipes")
	b.lastReply(1)
	b.say("Delete one")
	require.Equal(t, "Which recipe, Butter Chicken or Pad See Ew?", b.lastReply(2))
	buttons := `[...document.querySelectorAll(".options button")].map((b) => b.textContent).join()`
	require.Equal(t, "Butter Chicken,Pad See Ew", b.eval(buttons))
	b.screenshot("question")

	b.do(chromedp.Reload())
	b.until(buttons + ` === "Butter Chicken,Pad See Ew"`)
	b.click(".options button:last-child")
	require.Equal(t, "Pad See Ew it is.", b.lastReply(3))
	require.Equal(t, "Pad See Ew", b.eval(`document.querySelector(".turn:last-child .said").textContent`))
	require.Empty(t, b.eval(buttons))

	// A failed turn says so and may be sent again.
	b.say("Break")
	require.NotEmpty(t, b.lastReply(4))
	require.Equal(t, "Send again", b.eval(buttons))
	b.screenshot("failed_turn")
	b.requireNoTrouble()
}
