package browser

import (
	"fmt"
	"net/http"
	"testing"

	"rote/routine"
)

// tell sends what happens in a frame of any origin to the page's log.
const tell = `<script>var tell = s => top.postMessage(s, '*')</script>`

// hear is the page's side of tell.
const hear = `<script>addEventListener('message', e => say(e.data))</script>`

const inner = tell + `<button id=b onclick="tell('b')">x</button><input id=i oninput="tell(this.value)"><p id=p>text</p>`

// Frames of the page's process and of another one behave alike. The headless
// shell and full Chromium draw the line between them differently.
func TestFrames(t *testing.T) {
	t.Parallel()
	for _, origin := range []string{"", "CROSS/"} {
		site := map[string]any{
			"in":   inner,
			"deep": `<div style="height:40px"></div><iframe src="` + origin + `in" style="width:90%"></iframe>`,
			"far":  tell + `<div style="height:3000px"></div><button id=b onclick="tell('b')">x</button>`,
			"move": tell + `<button id=b style="position:absolute;left:0" onclick="tell(this.style.left)">x</button>
				<script>let x = 0; requestAnimationFrame(function f() { x || tell('moving'); b.style.left = (x += 5) + 'px';
				if (x < 150) requestAnimationFrame(f) })</script>`,
		}
		frame := func(path, style string) string {
			return hear + fmt.Sprintf(`<iframe id=f src="%s%s" style="%s"></iframe>`, origin, path, style)
		}
		kind := "same origin"
		if origin != "" {
			kind = "another site"
		}
		no := routine.CodeElementNotActionable
		t.Run(kind, func(t *testing.T) {
			holds(t, []row{
				{name: "a button", site: site, html: `<div style="height:70px"></div>` + frame("in", "margin-left:50px;border:7px solid"), log: "b;"},
				{name: "in a frame below the fold", site: site, html: `<div style="height:4000px"></div>` + frame("in", ""), log: "b;"},
				{name: "far down in a frame", site: site, html: frame("far", "height:200px"), log: "b;"},
				{name: "far down in a tall frame", site: site, html: frame("far", "height:3200px"), log: "b;"},
				{name: "a frame in a frame", site: site, html: `<div style="height:50px"></div>` + frame("deep", "height:300px"), log: "b;"},
				{name: "moved by a transformation", site: site, html: frame("in", "transform:translate(100px,50px)"), log: "b;"},
				{name: "with a padding", site: site, html: frame("in", "padding:90px"), log: "b;"},
				{name: "made smaller", site: site, html: frame("deep", "width:800px;height:600px;transform:scale(.4)"), log: "b;"},
				{name: "made larger", site: site, html: frame("in", "transform:scale(2.5);transform-origin:0 0"), log: "b;"},
				{name: "turned", site: site, html: frame("in", "margin:240px;padding:10px 50px;transform:rotate(90deg) scale(1.5)"), log: "b;"},
				{name: "mirrored and skewed", site: site, html: `<div style="width:400px;margin:200px;rotate:-30deg;scale:-1 1.2">` + frame("in", "margin:60px;transform:skew(20deg)") + `</div>`, log: "b;"},
				{name: "moved by a script until it rests", site: site, html: frame("move", ""), do: func(a *attempt) error { a.want(`LOG`, `"moving;"`); return a.click("#b") }, log: "moving;150px;"},
				{name: "in a shadow root", site: site,
					html: hear + `<x-y></x-y><script>document.querySelector('x-y').attachShadow({mode:'open'}).innerHTML='<iframe src="` + origin +
						`in"></iframe>'</script>`, log: "b;"},
				{name: "comes late", site: site, html: hear + `<div id=d></div><script>setTimeout(() => d.innerHTML='<iframe src="` + origin + `in"></iframe>', 200)</script>`, log: "b;"},
				{name: "replaced while it is waited for", site: site, html: hear + `<iframe id=f src="` + origin + `far"></iframe>
					<script>f.onload = () => { f.onload = null; setTimeout(() => f.src='` + origin + `in', 200) }</script>`,
					do: func(a *attempt) error { return a.typed("#i", "x") }, log: "x;"},
				{name: "typing", site: site, html: frame("in", ""), do: func(a *attempt) error { return a.typed("#i", "añ") }, log: "a;añ;"},
				{name: "keys after typing", site: site, html: frame("in", ""), do: func(a *attempt) error {
					if err := a.typed("#i", "ab"); err != nil {
						return err
					}
					return a.press("Backspace")
				}, log: "a;ab;a;"},
				{name: "its HTML", site: site, html: frame("in", ""), do: func(a *attempt) error {
					html, err := a.p.HTML(a.ctx, "#p")
					if html != `<p id="p">text</p>` {
						a.t.Error(html)
					}
					return err
				}, then: `1`, is: `1`},
				{name: "in a frame that is not displayed", site: site, html: frame("in", "visibility:hidden"), code: no, words: "is in a frame that is invisible"},
				{name: "in a frame that is covered", site: site, html: frame("in", "") + `<div id=veil style="position:fixed;inset:0"></div>`, code: no, words: "covered by div#veil"},
				{name: "in a frame that goes away", site: site, html: frame("in", "") + `<script>setTimeout(() => f.remove(), 150)</script>`, do: func(a *attempt) error {
					a.want(`!!document.querySelector('iframe')`, `false`)
					a.ctx = untilJudged(a.t, a.p, 1)
					return a.click("#b")
				}, code: routine.CodeElementNotFound, words: "no element matches"},
				{name: "the page's own match comes first", site: site, html: frame("in", "") + b + `>x</button>`, log: "b;", then: `LOG`},
				{name: "a link for the whole page", site: map[string]any{"in": `<a id=b href="next" target=_top>x</a>`, "next": `there`},
					html: frame("in", ""), then: `location.pathname.split("/").pop()`, is: `"next"`},
				{name: "a dialog in it is dismissed", site: map[string]any{"in": tell + `<button id=b onclick="tell(confirm('sure?'))">x</button>`},
					html: frame("in", ""), log: "false;", warns: `dialog (confirm), which was dismissed: "sure?"`},
				{name: "a frame that never loads holds nothing up", site: map[string]any{"in": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }},
					html: hear + b + `>x</button><script>setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<iframe src="` + origin + `in"></iframe>'), 20)</script>`, do: func(a *attempt) error {
						a.want(`!!document.querySelector('iframe')`, `true`)
						return a.click("#b")
					}, log: "b;"},
			})
		})
	}
	holds(t, []row{
		{name: "a page in an object", site: map[string]any{"in": inner}, html: hear + `<object type=text/html data=in></object>`, log: "b;"},
		{name: "a page of another site in an object", site: map[string]any{"in": inner}, html: hear + `<object type=text/html data=CROSS/in></object>`, log: "b;"},
		{name: "a sandboxed frame", site: map[string]any{"in": inner}, html: hear + `<iframe sandbox=allow-scripts src=in></iframe>`, log: "b;"},
		{name: "a frame in a sandboxed frame", site: map[string]any{"out": `<iframe src=in></iframe>`, "in": inner}, html: hear + `<iframe sandbox=allow-scripts src=out></iframe>`, log: "b;"},
		{name: "a written frame in a sandboxed one", site: map[string]any{"out": `<iframe srcdoc="<script>onclick = e => top.postMessage(e.target.id, '*')</script><button id=b>x"></iframe>`},
			html: hear + `<iframe sandbox=allow-scripts src=out></iframe>`, log: "b;"},
		{name: "in a frame, in the shadow root of a transparent element", html: `<iframe id=f srcdoc="<x-y style='opacity:.05'></x-y>"></iframe>
			<script>f.onload = () => {
				f.contentDocument.querySelector('x-y').attachShadow({mode: 'open'}).innerHTML = '<button id=b>x</button>'
			}</script>`,
			code: routine.CodeElementNotActionable, words: "is transparent"},
		{name: "a frame of another site whose script hangs holds up no page", site: map[string]any{"in": tell + `<script>
			onload = () => setTimeout(() => { tell('hangs'); setTimeout(() => { for (;;); }) }, 20)</script>`},
			html: hear + `<iframe src="CROSS/in"></iframe>` + b + `>x</button>`, do: func(a *attempt) error {
				a.want(`LOG`, `"hangs;"`)
				return a.click("#b")
			}, log: "hangs;b;"},
	})
}
