package browser

import (
	"context"
	"testing"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
)

// frameTimes is how long a page has to draw what a row waits for.
const frameTimes = 10 * time.Second

// draws waits until the page of the operations is drawn, frame by frame, and an
// expression holds on it. It asks in the page's own world, which leaves its popups
// open, as a script would not.
func (a *attempt) draws(expression string) error {
	ctx, cancel := context.WithTimeout(a.ctx, frameTimes)
	defer cancel()
	_, err := cdp.Evaluate(ctx, a.p.tabs.current(ctx), proto.RuntimeEvaluate{AwaitPromise: true, ReturnByValue: true, Expression: `new Promise(done => {
		let frames = 0;
		const look = () => ++frames > 9 && (` + expression + `) ? done() : requestAnimationFrame(look);
		requestAnimationFrame(look) })`})
	return err
}

// popups waits until the run has n popups.
func (a *attempt) popups(n int) error {
	return a.p.waitFor(a.ctx, func(navState) (bool, error) { return len(a.p.openPopups()) == n, nil })
}

// A browser with windows shows one of a run's pages, and draws no other. The page
// of the operations is drawn and takes keys, whatever popups there are.
func TestCurrentPageIsRendered(t *testing.T) {
	t.Parallel()
	const long = `<div style="height:9000px"></div>`
	button := func(script string) string {
		return `<button id=b style="position:fixed;top:0" onclick="` + script + `">x</button>` + long
	}
	site := map[string]any{"next": `next`, "tall": long, "mid": button(`window.open('next')`),
		"frames": `<script>let n = 0; requestAnimationFrame(function f() { if (++n === 9) opener.say('drawn'); requestAnimationFrame(f) })</script>`,
		"inner":  `<script>let n = 0; requestAnimationFrame(function f() { if (++n > 9) parent.postMessage(n, '*'); requestAnimationFrame(f) })</script>`}
	type step = func(a *attempt) error
	click := func(a *attempt) error { return a.onTab("#b") }
	follow := func(a *attempt) error { return a.popup("#b") }
	key := func(key string) step {
		return func(a *attempt) error { return a.p.tabs.Press(a.ctx, key) }
	}
	draws := func(expression string) step { return func(a *attempt) error { return a.draws(expression) } }
	open := func(n int) step { return func(a *attempt) error { return a.popups(n) } }
	scrolled := draws(`scrollY > 500`)
	rows := []row{}
	for _, way := range []struct {
		name, html string
		steps      []step
	}{
		{"beside a popup", button(`window.open('next')`), []step{click, open(1), draws(`!document.hidden`), key("PageDown"), scrolled}},
		{"beside a popup that its opener gives the focus", button(`window.open('next').focus()`), []step{click, open(1), key("PageDown"), scrolled}},
		{"beside a popup without opener", button(`window.open('next', '_blank', 'noopener')`), []step{click, open(1), key("PageDown"), scrolled}},
		{"beside a popup that comes later", button(`setTimeout(() => window.open('next'), 50)`), []step{click, open(1), key("PageDown"), scrolled}},
		{"beside a popup that takes the focus again and again", button(`const w = window.open('next'); setInterval(() => w.focus(), 10)`),
			[]step{click, open(1), draws(`!document.hidden`)}},
		{"after a popup was refused", button(`for (let i = 0; i < 11; i++) window.open('next')`), []step{click, open(maxPopups), key("PageDown"), scrolled}},
		{"after its popup has closed", button(`window.w = window.open('next'); setTimeout(() => { w.close(); say('closed') }, 100)`),
			[]step{click, draws(`LOG === 'closed;'`), open(0), key("PageDown"), scrolled}},
		{"after one popup of two has closed", button(`window.open('next'); window.w = window.open('next'); setTimeout(() => { w.close(); say('closed') }, 100)`),
			[]step{click, draws(`LOG === 'closed;'`), open(1), key("PageDown"), scrolled}},
		{"a popup that is followed", button(`window.open('tall')`), []step{follow, draws(`!document.hidden`), key("PageDown"), scrolled}},
		{"a popup that is followed, beside its own popup", button(`window.open('mid')`), []step{follow, click, open(2), key("PageDown"), scrolled}},
		{"the opener after a followed popup was closed", button(`window.open('mid')`),
			[]step{follow, click, open(2), func(a *attempt) error { return a.p.tabs.ClosePopup(a.ctx) }, draws(`!document.hidden`), key("PageDown"), scrolled}},
		{"the popups beside it too", button(`window.open('frames')`), []step{click, open(1), draws(`LOG === 'drawn;'`)}},
		{"a frame of another site beside a popup", `<iframe src="CROSS/inner" width=100 height=100></iframe><script>
			onmessage = e => { if (window.opened) window.drawn = (window.drawn || 0) + 1 }</script>` + button(`window.open('next'); opened = true`),
			[]step{click, open(1), draws(`window.drawn > 9`)}},
	} {
		rows = append(rows, row{name: way.name, html: way.html, site: site, then: `1`, is: `1`, warns: "the page opened a popup",
			do: func(a *attempt) error {
				for _, do := range way.steps {
					if err := do(a); err != nil {
						return err
					}
				}
				a.p.warn("the page opened a popup") // also where each of them is followed
				return nil
			}})
	}
	holds(t, rows)
}
