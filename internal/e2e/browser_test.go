package e2e_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
)

const (
	// browserDeadline bounds what one test does in the browser.
	browserDeadline = 4 * dbtest.Patience

	// pageDeadline bounds waiting for one condition on the page.
	pageDeadline = dbtest.Patience

	closeDeadline = 10 * time.Second
)

// tab is the page in a browser, with the errors that occurred in it.
type tab struct {
	t       *testing.T
	ctx     context.Context
	reading *sync.WaitGroup

	scheme string // light or dark, as the device prefers

	mu       sync.Mutex
	troubles []string
}

// theBrowser is started once for all tests of this process: each start costs a second of both cores. Tests share
// nothing in it, see browse.
var theBrowser browser

type browser struct {
	once    sync.Once
	ctx     context.Context
	stop    context.CancelFunc
	problem error
}

func (o *browser) start(path string) (context.Context, error) {
	o.once.Do(func() {
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
			chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
			// A renderer for each window's address bar, which nobody sees, takes a quarter of the time.
			chromedp.Flag("disable-features", "Translate,BlinkGenPropertyTrees,WebUIOmniboxPopup,WebUIOmniboxAimPopup"))
		allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
		o.ctx, _ = chromedp.NewContext(allocator) // close, below, does more
		o.stop = stop
		_, o.problem = chromedp.Run(o.ctx, chromedp.Evaluate[string]("''"))
	})

	return o.ctx, o.problem
}

// close waits for the browser, which otherwise writes to its directory while that is being removed.
func (o *browser) close() {
	if o.stop != nil {
		_ = chromedp.Cancel(o.ctx)
		o.stop()
	}
}

// browse opens a tab that shares nothing with other tests' tabs, or skips the test if there is no browser. With CI set,
// a missing browser is a failure: it would otherwise go unnoticed.
func browse(t *testing.T) *tab {
	t.Helper()
	dbtest.Whole(t)
	path := findBrowser()
	if path == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("no chromium or chrome on this machine")
		}
		t.Skip("no chromium or chrome on this machine: install one to test the page")
	}
	shared, err := theBrowser.start(path)
	require.NoError(t, err)
	deadline, cancel := context.WithTimeout(shared, browserDeadline)
	ctx, _ := chromedp.NewContext(deadline, chromedp.WithNewBrowserContext()) // Cancel, below, does more
	var reading sync.WaitGroup
	t.Cleanup(func() {
		late := time.AfterFunc(closeDeadline, cancel) // a loaded browser may never say that it has closed the tab
		_ = chromedp.Cancel(ctx)
		late.Stop()
		cancel()
		reading.Wait()
	})

	return (&tab{t: t, ctx: ctx, reading: &reading}).opened()
}

// another opens a second tab, which shares everything but the key with the first.
func (b *tab) another() *tab {
	b.t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	b.t.Cleanup(cancel)

	return (&tab{t: b.t, ctx: ctx, reading: b.reading}).opened()
}

func (b *tab) opened() *tab {
	b.t.Helper()
	require.NoError(b.t, chromedp.Listen(b.ctx, b.dialogs))
	messages := chromedp.Console(b.ctx)
	b.reading.Go(func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			// The page handles network refusals: a 401 asks for a key.
			if (m.Type == "error" || m.IsException()) && m.Source != "network" {
				b.trouble(m.String())
			}
		}
	})
	// All tabs consider themselves in front: otherwise a hidden one would wait, as pages do.
	_, err := chromedp.Call(b.ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	require.NoError(b.t, err)
	b.do(chromedp.EmulateViewport(1280, 800))
	b.prefers("light")

	return b
}

// findBrowser prefers those that have no windows: they need half the time for the same pages.
func findBrowser() string {
	for _, name := range []string{"chromium-headless-shell", "headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}

	return ""
}

func (b *tab) dialogs(event any) {
	if dialog, ok := event.(*page.EventJavascriptDialogOpening); ok {
		b.trouble("a dialog opened: " + dialog.Message)
	}
}

func (b *tab) trouble(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.troubles = append(b.troubles, text)
}

func (b *tab) requireNoTrouble() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	require.Empty(b.t, b.troubles)
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, pageDeadline)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.screenshot("failed")
		require.NoError(b.t, err)
	}
}

// run evaluates JavaScript, again if the page is just giving way to another.
func run[T any](ctx context.Context, action chromedp.Action[T]) (T, error) {
	for {
		value, err := chromedp.Run(ctx, action)
		if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "Cannot find context") {
			return value, err
		}
	}
}

// until waits for a JavaScript condition. An error means not yet.
func (b *tab) until(condition string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, pageDeadline+time.Second) // a page that navigates away takes its own timeout along
	defer cancel()
	_, err := run(ctx, chromedp.Poll[chromedp.Void]("(() => { try { return "+condition+" } catch { return false } })()",
		chromedp.WithPollingInterval(60*time.Millisecond), chromedp.WithPollingTimeout(pageDeadline)))
	if err != nil {
		b.screenshot("failed")
		require.NoError(b.t, err, condition)
	}
}

// eval returns the value of a JavaScript expression.
func (b *tab) eval(expression string) string {
	b.t.Helper()
	text, err := run(b.ctx, chromedp.Evaluate[string]("String("+expression+")"))
	require.NoError(b.t, err, expression)

	return text
}

// click clicks until the element receives it, because a click misses an element that moves. An element that disappears
// with the click counts as clicked.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.eval(fmt.Sprintf(`(() => {
		globalThis.unheard?.abort();
		globalThis.unheard = new AbortController();
		addEventListener("click", (e) => { if (e.target.closest(%q)) globalThis.unheard.abort(); }, { capture: true, signal: globalThis.unheard.signal });
	})()`, selector))
	for deadline := time.Now().Add(pageDeadline); ; {
		b.do(chromedp.Click(chromedp.CSS(selector)))
		if b.eval(`globalThis.unheard?.signal.aborted`) != "false" {
			return
		}
		require.True(b.t, time.Now().Before(deadline), "nothing hears a click on %s", selector)
	}
}

func (b *tab) keys(text string) {
	b.t.Helper()
	b.do(chromedp.SendKeys(chromedp.CSS("#message"), text))
}

func (b *tab) say(text string) {
	b.t.Helper()
	b.keys(text)
	b.enterKey()
}

// enterKey presses Enter like a keyboard: in one event, so that the page can prevent its default.
func (b *tab) enterKey() {
	b.t.Helper()
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeKeyDown, input.DispatchKeyEventTypeKeyUp} {
		_, err := chromedp.Call(b.ctx, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Key: "Enter", Code: "Enter", Text: "\r", WindowsVirtualKeyCode: 13})
		require.NoError(b.t, err)
	}
}

// lastReply waits until there are so many turns and the last one is answered.
func (b *tab) lastReply(turns int) string {
	b.t.Helper()
	b.until(fmt.Sprintf(`document.querySelectorAll(".turn").length === %d && !document.querySelector(".turn:last-child[aria-busy]")
		&& document.querySelector(".turn:last-child .reply").textContent !== ""`, turns))

	return b.text(".turn:last-child .reply")
}

// text is an element's text.
func (b *tab) text(selector string) string {
	b.t.Helper()

	return b.eval(fmt.Sprintf(`document.querySelector(%q).textContent`, selector))
}

// answers are the buttons for answering a question.
const answers = "#turns .options button"

func (b *tab) answers() string {
	b.t.Helper()

	return b.eval(fmt.Sprintf(`[...document.querySelectorAll(%q)].map((e) => e.textContent).join("|")`, answers))
}

// shows waits until an element contains a text.
func (b *tab) shows(selector, text string) {
	b.t.Helper()
	b.until(fmt.Sprintf(`document.querySelector(%q).textContent.includes(%q)`, selector, text))
}

// counts waits until so many elements match.
func (b *tab) counts(selector string, n int) {
	b.t.Helper()
	b.until(fmt.Sprintf(`document.querySelectorAll(%q).length === %d`, selector, n))
}

// fill replaces an input's content.
func (b *tab) fill(selector, text string) {
	b.t.Helper()
	b.until(fmt.Sprintf(`(e => { e.value = %q; return e.dispatchEvent(new Event("input", {bubbles: true})) && e.dispatchEvent(new Event("change", {bubbles: true})) })(document.querySelector(%q))`, text, selector))
}

var pictures = flag.Bool("pictures", false, "draw the README's pictures anew")

// picture updates one of the README's pictures, on request.
func (b *tab) picture(name string) {
	b.t.Helper()
	b.look(name)
	if !*pictures {
		return
	}
	b.eval(`[document.activeElement.blur(), document.querySelector("#notices").replaceChildren()]`)
	shot, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	require.NoError(b.t, err)
	require.NoError(b.t, os.WriteFile(filepath.Join("..", "..", "docs", "images", name+".png"), smaller(b.t, shot), 0o600))
}

// prefers emulates a device with a light or dark theme and reduced motion.
func (b *tab) prefers(scheme string) {
	b.t.Helper()
	b.scheme = scheme
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
	require.NoError(b.t, err)
}

// enter opens the page as a user with a key.
func (b *tab) enter(p *person, url string) {
	b.t.Helper()
	b.do(chromedp.Navigate(url))
	b.until(`document.activeElement.id === "key"`)
	_, err := chromedp.Call(b.ctx, input.InsertText, input.InsertTextParams{Text: p.key})
	require.NoError(b.t, err)
	b.enterKey()
	b.until(`document.activeElement.id === "message" && document.querySelector("#title").textContent !== "Alfred" && document.querySelector("#types li") !== null`)
}
