package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// axe looks for accessibility barriers. It is a dependency of the page's build; "" without npm, unless CI is set.
var axe = sync.OnceValues(func() (string, error) {
	if _, err := exec.LookPath("npm"); err != nil && os.Getenv("CI") == "" {
		return "", nil
	}
	if out, err := exec.Command("bash", "../../scripts/npm-ci", "../httpapi/web").CombinedOutput(); err != nil {
		return "", &installError{string(out), err}
	}
	source, err := os.ReadFile("../httpapi/web/node_modules/axe-core/axe.min.js")

	return string(source), err
})

// barriers are axe's findings for these rules, as JSON.
const barriers = `axe.run(document, {resultTypes: ["violations"]%s}).then(({violations}) => JSON.stringify(violations.map((v) => ({rule: v.id, help: v.help,
	where: v.nodes.slice(0, 5).map((n) => n.target.flat().join(" ") + ": " + n.html.slice(0, 160) + " " + n.any.map((c) => c.message).join(" ").slice(0, 200))}))))`

// look checks everything that is ever shown, in both themes, and saves screenshots.
func (b *tab) look(name string) {
	b.t.Helper()
	was := b.scheme
	for scheme, rules := range map[string]string{"light": "", "dark": `, runOnly: ["color-contrast"]`} { // everything else is the same in both
		b.prefers(scheme)
		if found := b.barriers(rules); found != "[]" {
			b.t.Errorf("in the state %q of the page, %s: %s", name, scheme, found)
		}
	}
	b.pictures(name)
	b.prefers(was)
}

func (b *tab) barriers(rules string) string {
	b.t.Helper()
	source, err := axe()
	require.NoError(b.t, err)
	if source == "" {
		return "[]"
	}
	if b.eval(`typeof axe`) == "undefined" {
		b.do(chromedp.Evaluate[chromedp.Void](source + `; undefined`))
	}
	found, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](fmt.Sprintf(barriers, rules), chromedp.EvalAwaitPromise))
	require.NoError(b.t, err)

	return found
}

// Screen sizes: a phone, a tablet, a desktop.
var sizes = []struct {
	name          string
	width, height int64
}{{"phone", 390, 780}, {"tablet", 820, 1100}, {"desktop", 1400, 900}}

// pictures saves screenshots in ALFRED_SCREENSHOTS, if that is set, in both themes and all sizes. Panels that a smaller
// screen closes are opened.
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

// screenshot saves a screenshot in ALFRED_SCREENSHOTS, if that is set.
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

// The browser tests look at many states, and axe finds barriers if there are any.
func TestLookFindsBarriers(t *testing.T) {
	t.Parallel()

	needNode(t)
	h := offlineHouse(t)
	b := browse(t)
	b.enter(h.resident("ada"), h.url)
	b.eval(`(() => {
		document.body.insertAdjacentHTML("beforeend", "<p id=pale><button></button>pale</p>");
		document.querySelector("#pale").style = "position: fixed; inset: 0; z-index: 99; color: #ccc; background: #fff";
	})()`)
	found := b.barriers("")
	require.Contains(t, found, "button-name")
	require.Contains(t, found, "color-contrast")
}
