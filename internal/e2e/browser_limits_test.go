package e2e_test

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"alfred/internal/dbtest"
)

// Y01: each tab has its own conversation, and all of them are answered concurrently.
func TestY01TwentyTabs(t *testing.T) {
	t.Parallel()

	tabs := 8 // more than the six connections that a browser keeps to a host
	if dbtest.Nightly() {
		tabs = 20
	}
	h := offlineHouse(t)
	p := h.resident("ada")
	first := browse(t)
	first.enter(p, h.url)
	all := []*tab{first}
	for range tabs - 1 {
		b := first.another()
		b.enter(p, h.url+"/#new")
		all = append(all, b)
	}
	for _, b := range all {
		b.say("Show my recipes")
	}
	for _, b := range all {
		require.Contains(t, b.lastReply(1), "Butter Chicken")
		b.requireNoTrouble()
	}
	// Leaving and returning quickly continues.
	place := first.eval(`location.href`)
	first.do(chromedp.Navigate("about:blank"), chromedp.Navigate(place))
	first.lastReply(1)
	first.fill("#message", "Show my tasks")
	first.eval(`document.querySelector("#composer").requestSubmit()`)
	first.lastReply(2)
	h.requireRows(t, strconv.Itoa(tabs), `SELECT count(*) FROM sessions`)
}

const atEnd = `(e => e.scrollHeight - e.scrollTop - e.clientHeight < 2)(document.querySelector("#scroll"))`

// Y02: a growing conversation stays scrolled to its end until the reader scrolls up.
func TestY02EndStaysInView(t *testing.T) {
	t.Parallel()

	h := offlineHouse(t)
	b := browse(t)
	b.enter(h.resident("ada"), h.url)
	for i, text := range []string{"What is in my pantry?", "Show my recipes", "Draft a Thai basil chicken", "Make it vegetarian", "What is in my pantry?", "Show my tasks"} {
		b.say(text)
		b.lastReply(i + 1)
		b.until(atEnd)
	}
	b.eval(`(e => { e.dispatchEvent(new WheelEvent("wheel", { deltaY: -100 })); e.scrollTop = 100; })(document.querySelector("#scroll"))`)
	b.until(`!document.querySelector("#newest").hidden`)
	b.look("scrolled_up")
	b.eval(`document.querySelector(".turn:last-child .reply").append("more ".repeat(500))`)
	require.Equal(t, "100", b.eval(`Math.round(document.querySelector("#scroll").scrollTop)`), "the reader's place is left alone")
	b.click("#newest")
	b.until(atEnd)
	b.until(`document.querySelector("#newest").hidden`)

	b.eval(`(() => {
		document.querySelector(".turn:last-child .reply").append("more ".repeat(500));
		document.querySelector('[aria-label="Copy the message of turn 1"]').focus({ focusVisible: true });
	})()`)
	b.until(`!document.querySelector("#newest").hidden`)
	b.requireNoTrouble()
}

// Y02: if content shrinks and grows back before the scroll event arrives, that is not the reader's scrolling; nor is it
// if content above shrinks by as much as is added below.
func TestY02ShrinkingIsNoReader(t *testing.T) {
	t.Parallel()

	h := offlineHouse(t)
	b := browse(t)
	b.enter(h.resident("ada"), h.url)
	b.say("Show my recipes")
	b.lastReply(1)
	b.eval(`(() => {
		const block = (height) => Object.assign(document.createElement("div"), { style: "height: " + height });
		const turn = document.querySelector(".turn:last-child");
		turn.prepend(globalThis.above = block("900px"));
		turn.append(globalThis.below = block("900px"));
	})()`)
	b.until(atEnd)
	for _, change := range []string{
		`below.style.height = "100px"; const clamped = scroll.scrollTop; below.style.height = "900px";`,
		`above.style.height = "500px"; below.style.height = "1300px";`,
		`above.style.height = "700px"; const anchored = scroll.scrollTop; below.style.height = "1100px";`,
	} {
		b.eval(`(() => {
			const scroll = document.querySelector("#scroll");
			globalThis.painted = false;
			` + change + `
			const later = (frames) => requestAnimationFrame(() => { frames ? later(frames - 1) : painted = true; });
			later(4);
		})()`)
		b.until(`painted`)
		b.until(atEnd)
		require.Equal(t, "true", b.eval(`document.querySelector("#newest").hidden`), change)
	}
	b.requireNoTrouble()
}

// Y03: a message without a worker says so, and is answered once there is one.
func TestY03NoWorkerIsSaid(t *testing.T) {
	t.Parallel()

	h := offlineHouse(t)
	b := browse(t)
	b.enter(h.resident("ada"), h.url)
	h.stopWorker()
	b.say("Show my recipes")
	b.shows(".turn .trouble:not([hidden])", "No worker is answering")
	b.shows(".turn .trouble code", "worker run")
	b.look("no_worker")
	h.startWorker()
	require.Contains(t, b.lastReply(1), "Butter Chicken")
	require.Equal(t, "true", b.eval(`document.querySelector(".turn .trouble").hidden`))
	b.requireNoTrouble()
}

// Y13: a first visit takes a handful of requests, and a reload only the document. The delay applies to each response.
func TestY13FirstUse(t *testing.T) {
	t.Parallel()

	h := offlineHouse(t)
	p := h.resident("ada")
	b := browse(t)
	b.enter(p, h.url)
	var mu sync.Mutex
	var sent []string
	var bytes atomic.Int64
	_, err := chromedp.Call(b.ctx, network.Enable, network.EnableParams{})
	require.NoError(t, err)
	require.NoError(t, chromedp.Listen(b.ctx, func(event any) {
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			mu.Lock()
			defer mu.Unlock()
			sent = append(sent, e.Request.Method+" "+e.Request.URL)
		case *network.EventLoadingFinished:
			bytes.Add(int64(e.EncodedDataLength))
		}
	}))
	_, err = chromedp.Call(b.ctx, network.ClearBrowserCache, cdp.Empty{})
	require.NoError(t, err)
	slow := []*network.Conditions{{Latency: 150, DownloadThroughput: -1, UploadThroughput: -1}}
	_, err = chromedp.Call(b.ctx, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: slow})
	require.NoError(t, err)
	begun := time.Now()
	b.do(chromedp.Reload())
	b.until(`document.activeElement.id === "message"`)
	t.Logf("ready after %v", time.Since(begun)) // timing decides nothing here: the machine is shared
	b.shows("#empty", "What can I do for you?")
	mu.Lock()
	require.Less(t, len(sent), 10, "%v", sent)
	require.Less(t, bytes.Load(), int64(60_000), "%v", sent)
	t.Log(len(sent), bytes.Load(), sent)
	mu.Unlock()

	// The box accepts messages from the start, before the conversations are known.
	b.do(chromedp.Reload())
	b.until(`document.activeElement.id === "message"`)
	b.eval(`(() => {
		const box = document.querySelector("#message");
		box.value = "Show my recipes";
		box.dispatchEvent(new Event("input", {bubbles: true}));
		document.querySelector("#composer").requestSubmit();
	})()`)
	require.Contains(t, b.lastReply(1), "Butter Chicken")
	b.requireNoTrouble()
}
