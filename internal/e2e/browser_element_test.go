package e2e_test

import (
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
	"alfred/internal/llm/offline"
)

// inChat addresses an element within <alfred-chat>.
func inChat(selector string) string {
	return fmt.Sprintf(`document.querySelector("alfred-chat").shadowRoot.querySelector(%q)`, selector)
}

func allInChat(selector string) string {
	return fmt.Sprintf(`[...document.querySelector("alfred-chat").shadowRoot.querySelectorAll(%q)]`, selector)
}

// tell writes a message as a user in the page's chat.
func (b *tab) tell(text string) {
	b.t.Helper()
	b.eval(inChat("textarea") + `.focus()`)
	b.do(chromedp.KeyEvent(text))
	b.enterKey()
}

// told waits for so many answered messages in <alfred-chat>.
func (b *tab) told(turns int) string {
	b.t.Helper()
	b.until(fmt.Sprintf(`%s.length === %d && !%s && %s.at(-1).textContent !== ""`, allInChat(".turn"), turns, inChat("[aria-busy]"), allInChat(".reply")))

	return b.eval(allInChat(".reply") + `.at(-1).textContent`)
}

// freeAddress is an address that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()

	return listener.Addr().String()
}

// openShop runs examples/web beside a house that accepts its tokens.
func openShop(t *testing.T, f fixtures) (*house, string) {
	t.Helper()
	dbtest.Whole(t)
	addr := freeAddress(t)
	f.host = "http://" + addr
	h := openHouse(t, f)
	program := filepath.Join(t.TempDir(), "web")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", program, "../../examples/web").CombinedOutput()
	require.NoError(t, err, string(out))
	shop := exec.CommandContext(t.Context(), program, "-addr", addr, "-alfred", h.url)
	require.NoError(t, shop.Start())
	t.Cleanup(func() {
		_ = shop.Process.Kill()
		_ = shop.Wait()
	})

	require.Eventually(t, func() bool {
		response, err := h.client.Get(f.host)

		return err == nil && response.Body.Close() == nil
	}, dbtest.Patience, 30*time.Millisecond)

	return h, f.host
}

// logIn logs in at the shop.
func (b *tab) logIn(host, name string) {
	b.t.Helper()
	b.do(chromedp.Navigate(host), chromedp.SendKeys(chromedp.CSS("#name"), name), chromedp.SendKeys(chromedp.CSS("#password"), "example"+kb.Enter),
		chromedp.WaitReady(chromedp.CSS("alfred-chat")))
	b.until(inChat("textarea") + ` !== null`)
}

// A shop's own page, with its own login, embeds Alfred: the shop's token is accepted, rows are cards, drafts are saved,
// writes are undone, all by keyboard; the conversation is still there after a reload, and another user sees none of it.
func TestElementInAShopsPage(t *testing.T) {
	t.Parallel()

	b := browse(t)
	h, host := openShop(t, fixtures{model: offline.New})
	h.resident("ada")
	b.logIn(host, "ada")
	b.tell("Show my recipes")
	require.Contains(t, b.told(1), "Butter Chicken")
	b.until(allInChat(".card") + `.length === 3`)
	b.eval(allInChat(".card summary") + `[0].focus()`)
	b.enterKey()
	b.until(inChat(".card[open] dd") + `.checkVisibility()`)
	b.look("cards")

	b.tell("Draft a Thai basil chicken")
	b.told(2)
	b.until(inChat(".draft summary") + `.textContent.includes("Thai Basil Chicken")`)
	require.Contains(t, b.eval(inChat(".draft")+`.textContent`), "Not saved")
	b.look("draft")
	b.tell("Save it")
	b.told(3)
	b.until(allInChat(".turn") + `.at(-1).textContent.includes("Saved · recipe")`)
	b.until(inChat(".draft") + ` === null`)
	h.requireRows(t, "1", `SELECT count(*) FROM kitchen.recipes WHERE name = 'Thai Basil Chicken'`)
	b.eval(allInChat(".after > button") + `.at(-1).click()`)
	b.told(4)
	h.requireRows(t, "0", `SELECT count(*) FROM kitchen.recipes WHERE name = 'Thai Basil Chicken'`)
	b.until(allInChat(".turn") + `[2].textContent.includes("Undone.")`)
	require.Equal(t, "rgb(122, 32, 72)", b.eval(`getComputedStyle(`+inChat("[type=submit]")+`).backgroundColor`), "the shop's colour")
	b.look("undone")

	said := allInChat(".said") + `.map((e) => e.textContent).join("|")`
	before := b.eval(said)
	b.do(chromedp.Reload())
	b.until(allInChat(".turn") + `.length === 4`)
	require.Equal(t, before, b.eval(said))
	b.prefers("dark")
	b.look("dark")
	b.do(chromedp.EmulateViewport(390, 780))
	b.look("phone")
	require.Equal(t, "true", b.eval(`document.documentElement.scrollWidth <= innerWidth`))
	b.requireNoTrouble()
}

// Questions' options are buttons; a broken connection is resumed; a message that cannot be sent waits and arrives once.
func TestElementAsksAndResumes(t *testing.T) {
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
  - understand: {intent: chat}
    think: {goal: Say, decision: plan, steps: []}
    reply: "Back again. **Bold** <img src=x onerror=alert(1)>"
`)
	p := h.resident("ada")
	road := roadTo(t, h)
	b := browse(t)
	b.do(chromedp.Navigate(road.URL + "/docs")) // any page of that origin
	b.eval(fmt.Sprintf(`(() => {
		const script = Object.assign(document.createElement("script"), {src: "/alfred.js"});
		script.onload = () => {
			const chat = document.createElement("alfred-chat");
			chat.setAttribute("token", %q);
			chat.addEventListener("alfred-turn", (event) => { document.title = event.detail.turn.status; });
			document.body.style.display = "block";
			document.body.innerHTML = "<main><h1>A page</h1></main>";
			document.querySelector("main").append(chat);
		};
		document.head.append(script);
	})()`, p.key))
	b.until(inChat("textarea") + ` !== null`)
	b.tell("List my recipes")
	b.told(1)
	b.tell("Delete one")
	b.told(2)
	b.until(allInChat(".options button") + `.length === 2`)
	require.Equal(t, "Which recipe?", strings.TrimSpace(b.eval(allInChat(".reply")+`.at(-1).textContent`)), "its options are buttons")
	b.look("question")
	b.eval(allInChat(".options button") + `[1].click()`)
	require.Equal(t, "Pad See Ew it is.", strings.TrimSpace(b.told(3)))
	require.Equal(t, "succeeded", b.eval(`document.title`))
	require.Equal(t, "0", b.eval(allInChat(".options button")+`.length`))
	require.Contains(t, b.eval(allInChat(".reply")+`[1].textContent`), "Butter Chicken", "what was offered can be read again")

	road.closed.Store(true)
	road.CloseClientConnections()
	b.tell("Are you there?")
	b.until(inChat(".list > ul") + `.textContent.includes("Not sent yet")`)
	b.look("unsent")
	road.away.Store(true)
	road.closed.Store(false)
	require.Eventually(t, func() bool { return road.refused.Load() > 0 }, pageDeadline, time.Millisecond, "it tries again")
	time.Sleep(time.Second)
	require.Contains(t, b.eval(inChat(".list > ul")+`.textContent`), "Not sent yet", "a server without its database is away as well")
	road.away.Store(false)
	require.Contains(t, b.told(4), "Back again. Bold <img", "markup is text")
	h.requireRows(t, "4", `SELECT count(*) FROM turns`)
	b.requireNoTrouble()

	// A rejected token: the page is notified and sets another one, and the rejected request is repeated.
	b.eval(fmt.Sprintf(`(() => {
		const chat = document.createElement("alfred-chat");
		chat.setAttribute("token", "alf_old");
		chat.setAttribute("session", document.querySelector("alfred-chat").getAttribute("session"));
		chat.addEventListener("alfred-token", () => setTimeout(() => chat.setAttribute("token", %q), 50));
		document.body.replaceChildren(chat);
	})()`, p.key))
	b.until(allInChat(".turn") + `.length === 4`)
}

// The script is available under its own name, always the newest, and under its hash, forever; other sites' pages may
// load both, and no other file.
func TestElementsScript(t *testing.T) {
	t.Parallel()

	h := offlineHouse(t)
	get := func(name string) *http.Response {
		response, err := h.client.Get(h.url + name)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())

		return response
	}
	newest := get("/alfred.js")
	require.Equal(t, http.StatusOK, newest.StatusCode)
	require.Equal(t, "no-cache", newest.Header.Get("Cache-Control"))
	require.Equal(t, "cross-origin", newest.Header.Get("Cross-Origin-Resource-Policy"))
	names, err := filepath.Glob("../httpapi/web/dist/assets/alfred-*.js")
	require.NoError(t, err)
	require.Len(t, names, 1)
	hashed := get("/assets/" + filepath.Base(names[0]))
	require.Contains(t, hashed.Header.Get("Cache-Control"), "immutable")
	require.Equal(t, newest.Header.Get("ETag"), hashed.Header.Get("ETag"))
	require.Equal(t, "same-origin", get("/").Header.Get("Cross-Origin-Resource-Policy"))
}
