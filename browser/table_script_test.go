package browser

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"rote/routine"
)

func TestJSEvaluateTable(t *testing.T) {
	t.Parallel()
	run := func(text string, want string, console ...string) func(*attempt) error {
		return func(a *attempt) error {
			e, err := a.p.Evaluate(a.ctx, script(text, testTime/2))
			if err == nil && string(e.JSON) != want {
				a.t.Errorf("%s, want %s", e.JSON, want)
			}
			if got := strings.Join(e.Console, "|"); got != strings.Join(console, "|") {
				a.t.Errorf("console %q", got)
			}
			return err
		}
	}
	// over runs a script past its limit; the page must answer afterwards.
	over := func(text string) func(*attempt) error {
		return func(a *attempt) error {
			start := time.Now()
			_, err := a.p.Evaluate(testContext(a.t), script(text, 300*time.Millisecond))
			if took := time.Since(start); took > testTime/2 {
				a.t.Errorf("took %v", took)
			}
			return err
		}
	}
	alive := func(r row) row { r.then, r.is = `1 + 1`, `2`; return r }
	bad, late := routine.CodeScriptError, routine.CodeTimeout
	rows := []row{
		{name: "a number", html: `-`, do: run(`(() => 1)()`, "1")},
		{name: "undefined", html: `-`, do: run(`(() => undefined)()`, "")},
		{name: "null", html: `-`, do: run(`(() => null)()`, "null")},
		{name: "a text with quotes and umlauts", html: `-`, do: run(`(() => 'ä"')()`, `"ä\""`)},
		{name: "a lone surrogate", html: `-`, do: run(`(() => '\ud800x')()`, "\"\ufffdx\"")},
		{name: "a large integer keeps its digits", html: `-`, do: run(`(() => 9007199254740993n)()`, "9007199254740993")},
		{name: "what has no number in JSON is null", html: `-`, do: run(`(() => [NaN, Infinity])()`, "[null,null]")},
		{name: "a function has no JSON", html: `-`, do: run(`(() => () => 1)()`, "")},
		{name: "dates and undefined members as JSON.stringify has them", html: `-`, do: run(`(() => ({d: new Date(0), u: undefined}))()`, `{"d":"1970-01-01T00:00:00.000Z"}`)},
		{name: "a promise is awaited", html: `-`, do: run(`(async () => { await new Promise(r => setTimeout(r, 20)); return 'then' })()`, `"then"`)},
		{name: "the page's globals are there", html: `<script>window.DATA = {a: [1, 2]}</script>`, do: run(`(() => DATA)()`, `{"a":[1,2]}`)},
		{name: "the document is there", html: `<p id=p>text</p>`, do: run(`(function() { return document.querySelector('#p').textContent })();`, `"text"`)},
		{name: "the console is kept", html: `-`, do: run(`(() => { console.log('n', 1, {a: 2}); console.error('bad') })()`, "", "log: n 1 {a: 2}", "error: bad")},
		{name: "an error, with its place", html: `-`, do: run("(() => {\n  missing()\n})()", ""), code: bad, words: "missing is not defined (line 2, column 3 of the script)"},
		{name: "anything thrown", html: `-`, do: run(`(async () => { throw 'plain' })()`, ""), code: bad, words: "plain"},
		{name: "declarations with using", html: `-`, do: run(`(async () => { const said = [];
			const open = n => ({ [Symbol.dispose]() { said.push(n) }, async [Symbol.asyncDispose]() { said.push(n) } });
			{ using a = open(1), b = open(2); await using c = open(3); } for (using d of [open(4)]) said.push(0); return said })()`, `[3,2,1,0,4]`)},
		{name: "a page that gives arrays a toJSON", html: `<script>Array.prototype.toJSON = () => 'page'</script>`,
			do: run(`(() => [1, [2], { a: [] }])()`, `[1,[2],{"a":[]}]`)},
		{name: "a page that gives objects and texts a toJSON", html: `<script>
			for (const c of [Object, String, Number, Boolean]) c.prototype.toJSON = () => 'page'</script>`,
			do: run(`(() => ({ a: 'x"', n: [1, NaN, -0], b: [true, null, undefined], o: Object('x'), d: new Date(0),
				own: { toJSON: k => k + '!' }, u: undefined, f() {} }))()`,
				`{"a":"x\"","n":[1,null,0],"b":[true,null,null],"o":"x","d":"1970-01-01T00:00:00.000Z","own":"own!"}`)},
		{name: "a page with a toJSON and a value in circles", html: `<script>Array.prototype.toJSON = () => 1</script>`,
			do: run(`(() => { const o = { a: [] }; o.a[0] = o; return o })()`, ""), code: bad, words: "circular"},
		{name: "a page that replaces JSON", html: `<script>window.JSON = { stringify: () => '"page"', parse: () => 1 }</script>`,
			do: run(`(() => [1])()`, `[1]`)},
		{name: "a page that replaces JSON.stringify", html: `<script>JSON.stringify = () => { throw 1 }</script>`, do: run(`(() => [1])()`, `[1]`)},
		{name: "a page that replaces all of it while the script runs",
			html: `<script>window.spoil = () => { JSON.stringify = () => 1; Array.prototype.toJSON = () => 2; window.JSON = 3;
				Object.keys = () => []; Reflect.get = () => 4; Array.isArray = () => false }</script>`,
			do: run(`(async () => { spoil(); await new Promise(r => setTimeout(r, 5)); return [{ a: [1] }] })()`, `[{"a":[1]}]`)},
		{name: "a page with setters on prototypes", html: `<script>
			for (const k of ['0', 'a', 'value', 'within', 'length2'])
			Object.defineProperty(Object.prototype, k, { set() {}, get: () => undefined, configurable: true }); Array.prototype.toJSON = () => 2</script>`,
			do: run(`(() => [[1, { b: 2 }]])()`, `[[1,{"b":2}]]`)},
		{name: "a value that goes in circles", html: `-`, do: run(`(() => { const o = {}; o.o = o; return o })()`, ""), code: bad, words: "circular"},
		{name: "an object too large does not leave the page", html: `-`, do: run(`(() => ['x'.repeat(40 << 20)])()`, ""), code: routine.CodeResultTooLarge, words: "characters of JSON"},
		{name: "an endless loop ends by its limit", html: `-`, do: over(`(() => { while (true) {} })()`), code: late, words: "timeout_seconds of 0.3"},
		{name: "a loop that catches its end", html: `-`, do: over(`(() => { for (;;) { try { for (;;) {} } catch {} } })()`), code: late, words: "timeout_seconds of 0.3"},
		{name: "a promise that never comes", html: `-`, do: over(`(() => new Promise(() => {}))()`), code: late, words: "timeout_seconds of 0.3"},
		{name: "a loop after a wait", html: `-`, do: over(`(async () => { await new Promise(r => setTimeout(r, 20)); while (true) {} })()`), code: late, words: "timeout_seconds of 0.3"},
		{name: "an endless chain of promises", html: `-`, do: over(`(async () => { for (;;) await 0 })()`), code: late, words: "timeout_seconds of 0.3"},
	}
	for i, r := range rows {
		rows[i] = alive(r)
	}
	holds(t, rows)
}

func TestReadingTable(t *testing.T) {
	t.Parallel()
	n := func(f float64) *float64 { return &f }
	scroll := func(s routine.Scroll) func(*attempt) error {
		return func(a *attempt) error { return a.p.Scroll(a.ctx, s) }
	}
	const tall = `<div id=s style="height:100px;overflow:auto"><div style="height:900px"></div></div><div style="height:5000px;width:3000px"></div>`
	at := `[scrollX, scrollY, s.scrollTop]`
	html := func(selector, want string) func(*attempt) error {
		return func(a *attempt) error {
			got, err := a.p.HTML(a.ctx, selector)
			if err == nil && !strings.HasSuffix(got, want) {
				a.t.Errorf("%q, want %q", got, want)
			}
			return err
		}
	}
	holds(t, []row{
		{name: "scroll to a place", html: tall, do: scroll(routine.Scroll{X: n(10), Y: n(700)}), then: at, is: "[10,700,0]"},
		{name: "scroll by a way", html: tall, do: scroll(routine.Scroll{DeltaX: n(5), DeltaY: n(100)}), then: at, is: "[5,100,0]"},
		{name: "a smooth scroll is awaited", html: tall, do: scroll(routine.Scroll{Y: n(1500), Smooth: true}), then: at, is: "[0,1500,0]"},
		{name: "out of range is no error", html: tall, do: scroll(routine.Scroll{Y: n(-50), X: n(99999)}), then: `scrollY`, is: "0"},
		{name: "scroll an element", html: tall, do: scroll(routine.Scroll{Selector: "#s", DeltaY: n(40)}), then: at, is: "[0,0,40]"},
		{name: "scroll waits for its element", html: tall + `<script>setTimeout(() => s.id = 't', 150)</script>`, do: scroll(routine.Scroll{Selector: "#t", DeltaY: n(40)}), then: `t.scrollTop`, is: "40"},
		{name: "scroll to what does not come", html: tall, do: scroll(routine.Scroll{Selector: "#none"}), code: routine.CodeElementNotFound, words: "#none"},
		{name: "HTML of the page", html: `<p>x</p>`, do: html("", `<p>x</p></body></html>`), then: `1`, is: `1`},
		{name: "HTML of an element, visible or not", html: `<p hidden id=p>x</p>`, do: html("#p", `<p hidden="" id="p">x</p>`), then: `1`, is: `1`},
		{name: "HTML waits for its element", html: `<script>setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<p id=p>x</p>'),
			150)</script>`, do: html("#p", `<p id="p">x</p>`), then: `1`, is: `1`},
		{name: "HTML in a shadow root",
			html: `<x-y></x-y><script>document.querySelector('x-y').attachShadow({mode:'open'}).innerHTML='<p id=p>x</p>'</script>`,
			do:   html("#p", `<p id="p">x</p>`), then: `1`, is: `1`},
		{name: "HTML of what does not come", html: `-`, do: html("#p", ""), code: routine.CodeElementNotFound, words: "#p"},
		{name: "a mirrored value is there for scripts, and on later pages of its origin", html: `-`,
			site: map[string]any{"next": `<script>say(sessionStorage.getItem('k'))</script>`}, do: func(a *attempt) error {
				if err := a.p.Mirror(a.ctx, "k", "v"); err != nil {
					return err
				}
				_, err := a.p.Navigate(a.ctx, a.site+"next")
				return err
			}, log: "v;"},
		{name: "another origin never sees it", html: `-`, site: map[string]any{"next": `<script>say(sessionStorage.length)</script>`}, do: func(a *attempt) error {
			if err := a.p.Mirror(a.ctx, "k", "v"); err != nil {
				return err
			}
			_, err := a.p.Navigate(a.ctx, strings.Replace(a.site, "127.0.0.1", "localhost", 1)+"next")
			return err
		}, log: "0;"},
		{name: "a full quota fails nothing", html: `<script>sessionStorage.x = 'x'.repeat((5 << 20) - 10)</script>`,
			do: func(a *attempt) error { return a.p.Mirror(a.ctx, "k", strings.Repeat("v", 1<<20)) }, then: `sessionStorage.getItem('k')`,
			is: `null`},
		{name: "cookies of the run, HttpOnly ones too", site: map[string]any{"x": setCookies}, do: func(a *attempt) error {
			if _, err := a.p.Navigate(a.ctx, a.site+"x"); err != nil {
				return err
			}
			all, err := a.p.Cookies(a.ctx)
			if len(all) != 2 || !all[0].HTTPOnly && !all[1].HTTPOnly {
				a.t.Errorf("%+v", all)
			}
			return err
		}, then: `document.cookie`, is: `"seen=1"`},
	})
}

// Not in the table, because reading so much takes seconds under the race detector,
// and pages that run at the same time would seem to hang.
func TestLongHTML(t *testing.T) {
	size := 4 << 20
	if *whole {
		size = 10 << 20
	}
	page := `<p id=p hidden></p><script>p.textContent = 'é'.repeat(` + strconv.Itoa(size) + `)</script>`
	holds(t, []row{
		{name: "HTML of many MiB comes whole", html: page, do: func(a *attempt) error {
			got, err := a.p.HTML(a.ctx, "#p")
			if len(got) != len(`<p id="p" hidden=""></p>`)+len("é")*size {
				a.t.Error(len(got))
			}
			return err
		}, then: `1`, is: `1`},
	})
}
