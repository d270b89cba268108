package browser

import (
	"context"
	"testing"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/routine"
)

// Rows in which the element goes away while it is waited for. The search for it
// scrolls, and that sets the page going: the element was there when it began.
func TestElementsThatDisappearWhileWaitedFor(t *testing.T) {
	t.Parallel()
	const absent = routine.CodeElementNotFound
	const far = `<div style="height:3000px"></div><p style="height:100px"><button id=b style="position:absolute;left:0">x</button></p>`
	const cover = `<div id=c style="position:fixed;inset:0"></div>`
	frame := func(rest string) string {
		return `<div style="height:3000px"></div><p style="height:200px">` +
			`<iframe id=f style="position:absolute;left:0" srcdoc="<button id=b>` + rest + `"></iframe></p>`
	}
	once := func(does string) string { return `<script>onscroll = () => { onscroll = null; ` + does + ` }</script>` }
	const runs = `let x = 0; requestAnimationFrame(function f() { b.style.left = (x += 9) % 300 + 'px'; if (x < 150) requestAnimationFrame(f); else `
	soon := func(does string) string { return once(`setTimeout(() => { ` + does + ` }, 150)`) }
	later := func(does string) string { return once(`setTimeout(() => { ` + does + ` }, 600)`) }
	const fieldFar = `<div style="height:3000px"></div><p style="height:100px"><input id=i style="position:absolute;left:0">`
	typing := func(a *attempt) error { return a.typed("#i", "abc") }
	next := map[string]any{"next": `there`}
	// ending does an operation whose time is over as soon as the page has said so.
	ending := func(do func(a *attempt) error) func(a *attempt) error {
		return func(a *attempt) error {
			own, cancel := context.WithCancel(testContext(a.t))
			defer cancel()
			did := make(chan error, 1)
			go func() { did <- do(&attempt{a.t, a.p, own, a.site}) }()
			a.want(`LOG`, `"gone;"`)
			cancel()
			return <-did
		}
	}
	press := func(a *attempt) error { return a.click("#b") }
	rows := []row{
		{name: "a click whose time is over right after that", html: far + cover + later(`b.remove(); say('gone')`), do: ending(press), code: absent,
			words: `"#b" was removed from the page while it was waited for`},
		{name: "input_text whose time is over right after that", html: fieldFar + cover + later(`i.remove(); say('gone')`), do: ending(typing), code: absent,
			words: `"#i" was removed from the page while it was waited for`},
		{name: "a click, while it moves", html: far + once(runs+`b.remove() })`), code: absent,
			words: `"#b" was removed from the page`},
		{name: "a click, while its frame moves", html: frame(`x</button>`) +
			once(`const b = f; `+runs+`b.remove() })`),
			code: absent, words: `"#b" was removed from the page`},
		{name: "a click, in a frame that is removed while it is judged", html: frame(`x</button>`) + once(`f.remove()`),
			code: absent, words: `"#b" was removed from the page`},
		{name: "a click, while it is covered", html: far + cover + soon(`b.remove()`), code: absent, words: `last seen: is covered by div#c`},
		{name: "a click, with all that is around it", html: far + cover + soon(`document.body.innerHTML = ''`), code: absent,
			words: `"#b" was removed from the page`},
		{name: "a click, when the mouse comes", html: `<button id=b onmouseover="this.remove()">x</button>`, code: absent,
			words: `"#b" was removed from the page before the button went down`},
		{name: "a click, when the mouse comes and it is renamed",
			html: `<button id=b onmouseover="this.id = ''; this.style.marginTop = '200px'">x</button>`, code: absent,
			words: `"#b" was removed from the page before the button went down`},
		{name: "a click, on a page that leaves", html: far + cover + soon(`location = 'next'`), site: next, code: absent,
			words: `the page left for`, url: "next"},
		{name: "a click, in a frame that leaves", html: frame(`x</button><div id=c style='position:fixed;inset:0'></div>`) +
			soon(`f.src = 'next'; f.removeAttribute('srcdoc')`), site: next, code: absent, words: `"#b" was removed from the page`},
		{name: "a click, in a frame of another site that is removed", html: `<iframe src="CROSS/in" style="margin-top:3000px"></iframe>` +
			soon(`document.querySelector('iframe').remove()`), site: map[string]any{"in": `<button id=b>x</button>` + cover}, code: absent,
			words: `"#b" was removed from the page`},
		{name: "input_text, while it moves", html: fieldFar + once(`const b = i; `+runs+`b.remove() })`), do: typing, code: absent,
			words: `"#i" was removed from the page`},
		{name: "input_text, when it gets the focus", html: `<input id=i onfocus="this.remove()">`, do: typing, code: absent,
			words: `"#i" was removed from the page when it got the focus`},
		{name: "input_text, when it is pressed", html: `<input id=i onmousedown="this.remove()">`, do: typing, code: absent,
			words: `"#i" was removed from the page`},
		{name: "input_text, when the mouse comes", html: `<input id=i onmouseover="this.remove()">`, do: typing, code: absent,
			words: `"#i" was removed from the page before the button went down`},
		{name: "input_text, on a page that leaves", html: fieldFar + cover + soon(`location = 'next'`), site: next, do: typing, code: absent,
			words: `the page left for`, url: "next"},
		{name: "x-hover, while it is covered", html: far + `<button id=a>x</button>` + cover + soon(`b.remove(); c.remove()`), do: over("#a", "#b"), code: absent,
			words: `x-hover: "#b" was removed from the page while it was waited for`},
		{name: "what comes back is clicked", html: far + cover + soon(`const p = b.parentNode; b.remove(); c.remove();
			setTimeout(() => { p.innerHTML = '<button id=b onclick="say(1)">x</button>' }, 100)`), log: "1;"},
	}
	for i, r := range rows {
		do := r.do
		if do == nil {
			do = press
		}
		// On a slow machine it is done again, on the page as it was: with the mouse over nothing, which
		// would otherwise reach the element as soon as it is there.
		away := proto.InputDispatchMouseEvent{Type: proto.InputDispatchMouseEventTypeMouseMoved, Button: proto.InputMouseButtonNone}
		rows[i].do = func(a *attempt) error {
			again, err := cdp.Evaluate(a.ctx, a.p, proto.RuntimeEvaluate{
				Expression: `(() => { const again = name; name = 'tried'; return again })()`, ReturnByValue: true})
			if err != nil {
				return err
			}
			if string(again.Value) != `""` {
				if err := cdp.CallAll(a.ctx, a.p, away); err != nil {
					return err
				}
				if _, err := a.p.Navigate(a.ctx, a.site); err != nil {
					return err
				}
			}
			return do(a)
		}
	}
	holds(t, rows)
}

// An element that is found and read or scrolled next is looked for again when it goes
// in between, with its document or alone.
func TestReadingElementsThatDisappear(t *testing.T) {
	t.Parallel()
	read := func(a *attempt) error {
		for range 12 {
			if _, err := a.p.HTML(a.ctx, "#p"); err != nil {
				return err
			}
			if err := a.p.Scroll(a.ctx, routine.Scroll{Selector: "#p", DeltaY: new(10.0)}); err != nil {
				return err
			}
		}
		return nil
	}
	holds(t, []row{
		{name: "a page that loads itself again and again", html: `<p id=p>x</p><script>let n = +sessionStorage.n || 0;
			if (n < 12) setTimeout(() => { sessionStorage.n = n + 1; location.reload() }, 5 + n)</script>`, do: read, then: `1`, is: `1`},
		{name: "an element that is replaced again and again",
			html: `<div id=d></div><script>setInterval(() => d.innerHTML = d.innerHTML ? '' : '<p id=p>x</p>', 5)</script>`,
			do:   read, then: `1`, is: `1`},
	})
}
