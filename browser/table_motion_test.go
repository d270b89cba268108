package browser

import (
	"testing"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/routine"
)

// Rows in which the page changes while an element is waited for, judged or
// pressed.
func TestClickOnAMovingPage(t *testing.T) {
	t.Parallel()
	moving := func(a *attempt) error { // else it may be clicked where it was at first
		ctx := a.ctx
		a.want(`x > 0`, `true`)
		if ctx.Err() != nil {
			ctx = untilJudged(a.t, a.p, 1)
		}
		_, err := a.p.Click(ctx, click("#b"))
		return err
	}
	// A busy renderer draws frames at a time that is not after the last one's. Here
	// the time of animations stands still for 20 frames.
	stalled := func(a *attempt) error {
		if _, err := cdp.Call[any](a.ctx, a.p, proto.AnimationSetPlaybackRate{PlaybackRate: 0}); err != nil {
			return err
		}
		clicked := make(chan error, 1)
		go func() { clicked <- a.click("#b") }()
		eval(a.t, a.p, `(async () => { for (let i = 0; i < 20; i++) await new Promise(requestAnimationFrame) })()`)
		if _, err := cdp.Call[any](a.ctx, a.p, proto.AnimationSetPlaybackRate{PlaybackRate: 1}); err != nil {
			return err
		}
		return <-clicked
	}
	const where = ` onclick="say(Math.round(this.getBoundingClientRect().left))"`
	no := routine.CodeElementNotActionable
	holds(t, []row{
		{name: "comes late", html: `<script>setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<button id=b onclick="say(2)">x</button>'), 300)</script>`, log: "2;"},
		{name: "enabled late", html: b + ` disabled>x</button><script>setTimeout(() => b.disabled = false, 300)</script>`, log: "b;"},
		{name: "the cover goes away", html: b + `>x</button><div id=c style="position:fixed;inset:0"></div><script>setTimeout(() => c.remove(), 300)</script>`, log: "b;"},
		{name: "fades in", html: `<style>@keyframes k{from{opacity:0}to{opacity:1}}#b{animation:k .3s}</style>` + b + `>x</button>`, log: "b;"},
		{name: "replaced by a twin again and again, then left alone", html: `<div id=d></div><script>let n = 0, t = setInterval(() => {
			d.innerHTML = '<button id=b onclick="say(' + n + ')"' + (n < 20 ? ' disabled' : '') + '>x</button>'; if (++n > 20) clearInterval(t) }, 10)</script>`, log: "20;"},
		{name: "moved by a CSS animation until it rests", log: "308;",
			html: `<style>@keyframes k{from{margin-left:0}to{margin-left:300px}} #b{animation:k .4s linear forwards}</style>
			<button id=b` + where + `>x</button>`},
		{name: "moved by a CSS animation while frames come and time does not", html: `<style>@keyframes k{from{margin-left:0}to{margin-left:300px}}
			#b{animation:k .4s linear forwards}</style><button id=b` + where + `>x</button>`, do: stalled, log: "308;"},
		{name: "in a shadow root, moved by a CSS animation", html: `<x-y></x-y><script>document.querySelector('x-y').attachShadow({mode:'open'}).innerHTML =
			'<style>@keyframes k{from{margin-left:0}to{margin-left:300px}}#b{animation:k .4s linear forwards}</style><button id=b' + ` + "`" + where + "`" + ` + '>x</button>'</script>`, log: "308;"},
		{name: "in a frame that a CSS animation moves", html: `<style>@keyframes k{from{margin-left:0}to{margin-left:300px}}#f{animation:k .4s linear forwards}</style>
			<iframe id=f srcdoc="<button id=b onclick='parent.say(parent.f.getBoundingClientRect().left)'>x</button>"></iframe>`, log: "308;"},
		{name: "moved by a CSS transition until it rests", html: `<style>#b{position:absolute;left:0;transition:left .3s}</style>
			<button id=b` + where + `>x</button><script>requestAnimationFrame(() => requestAnimationFrame(() => b.style.left = '200px'))</script>`,
			do: func(a *attempt) error { a.want(`b.style.left`, `"200px"`); return a.click("#b") }, log: "200;"},
		{name: "moved by a script frame by frame until it rests", html: `<button id=b style="position:absolute;left:0"` + where + `>x</button>
			<script>let x = 0; requestAnimationFrame(function f() { b.style.left = (x += 10) + 'px';
			if (x < 250) requestAnimationFrame(f) })</script>`, do: moving,
			log: "250;"},
		{name: "carried by an ancestor that a script moves", do: moving, log: "258;",
			html: `<div id=d style="position:absolute;top:50px"><button id=b` + where + `>x</button></div>
			<script>let x = 0, t = setInterval(() => { d.style.transform = 'translateX(' + (x += 10) + 'px)';
			if (x >= 250) clearInterval(t) }, 12)</script>`},
		{name: "in a shadow root, moved by a script", do: moving, log: "250px;",
			html: `<x-y></x-y><script>const r = document.querySelector('x-y').attachShadow({mode:'open'});
			r.innerHTML='<button id=b style="position:absolute;left:0" onclick="say(this.style.left)">x</button>';
			let x = 0;
			requestAnimationFrame(function f() { r.firstChild.style.left = (x += 10) + 'px'; if (x < 250) requestAnimationFrame(f) })</script>`},
		{name: "scrolled by a script until it rests", html: `<div style="height:2000px"></div><button id=b onclick="say(scrollY)">x</button>
			<div style="height:2000px"></div><script>let x = 0; requestAnimationFrame(function f() { scrollTo(0, x += 100);
			if (x < 1700) requestAnimationFrame(f) })</script>`, do: moving, log: "1700;"},
		{name: "something else that moves all the time does not matter", html: `<i id=i style="position:absolute;top:300px">x</i>
			<script>let x = 0; setInterval(() => i.style.left = (x += 3) % 200 + 'px', 5)</script>` + b + `>x</button>`, log: "b;"},
		{name: "never at rest", html: `<button id=b style="position:absolute" onclick="say('b')">x</button>
			<script>let x = 0; requestAnimationFrame(function f() { b.style.left = (x = (x + 9) % 300) + 'px'; requestAnimationFrame(f) })</script>`,
			do: moving, code: no, words: `"#b"`, then: `LOG`, is: `""`},

		{name: "moves away under the mouse once, is clicked where it went",
			log: "300;",
			html: `<div onclick="say('miss')" style="position:fixed;inset:0"></div>
			<button id=b style="position:absolute;left:0"` + where + ` onmouseover="this.style.left='300px'">x</button>`},
		{name: "covered when the mouse comes, until the cover goes", log: "b;",
			html: `<button id=b style="width:100px;height:50px" onclick="say('b')"
			onmouseover="if (!this.n) { this.n = 1; c.hidden = false; setTimeout(() => c.hidden = true, 200) }">x</button>
			<div id=c hidden style="position:fixed;inset:0" onmousedown="say('cover')" onclick="say('cover')"></div>`},
		{name: "covered from the moment that the mouse comes", html: b + ` style="width:100px;height:50px" onmouseover="c.hidden=false">x</button>
			<div id=c hidden style="position:fixed;inset:0" onclick="say('cover')"></div>`, code: no, words: "div#c", then: `LOG`, is: `""`},
		{name: "what covers it at the press is not clicked", html: b + ` style="width:100px;height:50px" onmouseover="c.hidden=false">x</button>
			<div id=c hidden style="position:fixed;inset:0" onpointerdown="say('down')" onmousedown="say('down')" onclick="say('cover')"></div>`,
			code: no, words: "div#c", then: `LOG`, is: `""`},
		{name: "flees for ever", html: `<div onclick="say('miss')" style="position:fixed;inset:0"></div>
			<button id=b style="position:absolute;left:0" onclick="say('b')"
			onmouseover="this.style.left=(this.n=(this.n||0)+150)%600+'px'">x</button>`,
			code: no, words: `"#b"`, then: `LOG`, is: `""`},
		{name: "in a frame that moves as soon as the mouse comes, until it rests", html: `<iframe id=f style="position:absolute;left:0"
			srcdoc="<body onmouseover='parent.go()'><button id=b style='width:150px'
			onpointerdown='parent.say(parent.x)' onclick='parent.say(parent.f.style.left)'>x</button>"></iframe><script>var x = 0; function go() { if (!x) step() }
			function step() { f.style.left = (x += 4) + 'px'; if (x < 60) requestAnimationFrame(step) }</script>`, log: "60;60px;"},
		{name: "removed by its own press", html: `<button id=b onmousedown="say('down');this.remove()">x</button>`, log: "down;"},
		{name: "a page that keeps presses from every listener", log: "b;",
			html: `<script>
			for (const n of ['pointerdown','mousedown']) addEventListener(n, e => e.stopImmediatePropagation(), true)
			</script>` + b + `>x</button>`},
	})
}
