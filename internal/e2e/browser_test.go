package e2e_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

const (
	// browserDeadline bounds one test's browser, its start included.
	browserDeadline = 2 * time.Minute

	// pageDeadline bounds one condition on the page.
	pageDeadline = 20 * time.Second
)

// tab is the page in a browser, with what went wrong in it.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	troubles []string
}

// browse opens a fresh browser, or skips the test where there is none. With CI
// set a missing browser is a failure: there it would go unnoticed.
func browse(t *testing.T) *tab {
	t.Helper()
	browser := findBrowser()
	if browser == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("no chromium or chrome on this machine")
		}
		t.Skip("no chromium or chrome on this machine: install one to test the page")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browser), chromedp.UserDataDir(t.TempDir()),
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	deadline, cancel := context.WithTimeout(context.Background(), browserDeadline)
	allocator, stop := chromedp.NewExecAllocator(deadline, options...)
	ctx, _ := chromedp.NewContext(allocator) // Cancel, below, does more
	b := &tab{t: t, ctx: ctx}
	var reading sync.WaitGroup
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // it waits for the browser, which else writes to its directory while that is removed
		stop()
		cancel()
		reading.Wait()
	})
	require.NoError(t, chromedp.Listen(ctx, b.dialogs))
	messages := chromedp.Console(ctx)
	reading.Go(func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			// What the network refuses, the page handles: a 401 asks for a key.
			if (m.Type == "error" || m.IsException()) && m.Source != "network" {
				b.trouble(m.String())
			}
		}
	})
	b.do(chromedp.EmulateViewport(1280, 800))

	return b
}

func findBrowser() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "headless-shell"} {
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

// until waits for a condition in the page's own language. What is not there yet is not an error.
func (b *tab) until(condition string) {
	b.t.Helper()
	_, err := chromedp.Run(b.ctx, chromedp.Poll[chromedp.Void]("(() => { try { return "+condition+" } catch { return false } })()",
		chromedp.WithPollingInterval(20*time.Millisecond), chromedp.WithPollingTimeout(pageDeadline)))
	if err != nil {
		b.screenshot("failed")
		require.NoError(b.t, err, condition)
	}
}

// eval returns what an expression says in the page.
func (b *tab) eval(expression string) string {
	b.t.Helper()
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("String("+expression+")"))
	require.NoError(b.t, err, expression)

	return text
}

func (b *tab) click(selector string) {
	b.t.Helper()
	b.do(chromedp.Click(chromedp.CSS(selector)))
}

func (b *tab) keys(text string) {
	b.t.Helper()
	b.do(chromedp.SendKeys(chromedp.CSS("#message"), text))
}

func (b *tab) say(text string) {
	b.t.Helper()
	b.keys(text + kb.Enter)
}

// lastReply waits until so many turns stand there and the last one is answered.
func (b *tab) lastReply(turns int) string {
	b.t.Helper()
	count, _ := json.Marshal(turns)
	b.until(`document.querySelectorAll(".turn").length === ` + string(count) + ` && document.querySelector(".turn:last-child .progress").hidden
		&& document.querySelector(".turn:last-child .reply").textContent !== ""`)

	return b.eval(`document.querySelector(".turn:last-child .reply").textContent`)
}

// screenshot leaves a picture in ALFRED_SCREENSHOTS, if that is set.
func (b *tab) screenshot(name string) {
	b.t.Helper()
	dir := os.Getenv("ALFRED_SCREENSHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Log("no screenshot:", err)

		return
	}
	require.NoError(b.t, os.WriteFile(filepath.Join(dir, b.t.Name()+"_"+name+".png"), png, 0o600))
}

// enter opens the page as a person who has a key.
func (b *tab) enter(p *person, url string) {
	b.t.Helper()
	b.do(chromedp.Navigate(url), chromedp.SendKeys(chromedp.CSS("#key"), p.key+kb.Enter))
	b.until(`document.activeElement.id === "message"`)
}
