package e2e_test

import (
	"os"
	"path/filepath"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// nameless are the controls in sight that have no name for those who hear the page.
const nameless = `[...document.querySelectorAll("a[href], button, input, select, textarea, summary, [role=tab], [role=option], [tabindex='0']")]
	.filter((e) => e.checkVisibility() && ![e.ariaLabel, e.title, document.getElementById(e.getAttribute("aria-labelledby"))?.textContent,
		...[...e.labels ?? []].map((l) => l.textContent), e.matches("input, select, textarea") ? "" : e.textContent].some((name) => name?.trim()))
	.map((e) => e.outerHTML.slice(0, 150)).join("\n")`

// look checks what has to hold of all that is ever shown, and leaves pictures of it.
func (b *tab) look(name string) {
	b.t.Helper()
	require.Empty(b.t, b.eval(nameless), "%s: controls without a name", name)
	was := b.scheme
	b.pictures(name)
	if b.scheme != was {
		b.prefers(was)
	}
}

// sizes of screens: a telephone, a tablet, a desk.
var sizes = []struct {
	name          string
	width, height int64
}{{"phone", 390, 780}, {"tablet", 1024, 768}, {"desktop", 1280, 800}}

// pictures leaves pictures of what is shown in ALFRED_SCREENSHOTS, if that is set, in both themes and all sizes. What a smaller screen
// closes is opened on it.
func (b *tab) pictures(name string) {
	b.t.Helper()
	if os.Getenv("ALFRED_SCREENSHOTS") == "" {
		return
	}
	inspector := `document.querySelector("#inspector")?.hidden === false`
	open := b.eval(inspector)
	width := b.eval(`innerWidth`)
	for _, size := range sizes {
		if width == "390" && size.name != "phone" {
			continue
		}
		b.do(chromedp.EmulateViewport(size.width, size.height))
		b.eval(`new Promise(requestAnimationFrame)`)
		if open != b.eval(inspector) {
			b.eval(`document.querySelector("#toggle-inspector").click()`)
		}
		for _, scheme := range []string{"light", "dark"} {
			b.prefers(scheme)
			b.screenshot(name + "_" + size.name + "_" + scheme)
		}
	}
	if width == "390" {
		return
	}
	if open != b.eval(inspector) {
		b.eval(`document.querySelector("#toggle-inspector").click()`)
	}
}

// screenshot leaves a picture in ALFRED_SCREENSHOTS, if that is set.
func (b *tab) screenshot(name string) {
	b.t.Helper()
	dir := os.Getenv("ALFRED_SCREENSHOTS")
	if dir == "" {
		return
	}
	shot, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Log("no screenshot:", err)

		return
	}
	require.NoError(b.t, os.WriteFile(filepath.Join(dir, b.t.Name()+"_"+name+".png"), shot, 0o600))
}
