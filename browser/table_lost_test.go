package browser

import (
	"testing"

	"rote/routine"
)

// An element that moves or is replaced while the mouse button is down gets no
// click: it is clicked again. What answers the press by itself is not.
func TestClickIsNotLost(t *testing.T) {
	t.Parallel()
	const shifts = `<input id=i onblur="if (!this.n) { this.n = 1; e.style.height = '90px' }"><div id=e></div>`
	from := func(a *attempt) error {
		if err := a.click("#i"); err != nil {
			return err
		}
		return a.click("#b")
	}
	no := routine.CodeElementNotActionable
	const away = ` style="position:absolute;left:0;top:0" onclick="say('b')"`
	holds(t, []row{
		{name: "moved by the press once", html: `<div onclick="say('miss')" style="position:fixed;inset:0"></div>
			<button id=b` + away + ` onmousedown="this.style.left = '300px'">x</button>`, log: "b;"},
		{name: "a row that counts its presses is pressed once when they reach it",
			html: `<button id=b onmousedown="say('down')" onclick="say('b')">x</button>`, log: "down;b;"},
		{name: "shifted because a field was left", html: shifts + b + `>x</button>`, do: from, log: "b;"},
		{name: "a label shifted because a field was left", html: shifts + `<label id=b><input type=checkbox onchange="say(this.checked)"> x</label>`,
			do: from, log: "true;"},
		{name: "replaced because a field was left", html: `<input id=i onblur="if (!this.n) { this.n = 1; d.innerHTML = d.innerHTML }"><div id=d>` + b +
			`>x</button></div>`, do: from, log: "b;"},
		{name: "replaced by the press once", html: `<div id=d onmousedown="if (!this.n) { this.n = 1; d.innerHTML = d.innerHTML }">` + b +
			`>x</button></div>`, log: "b;"},
		{name: "the middle button", html: `<button id=b style="position:absolute;left:0" onmouseup="say('up')" onmousedown="this.style.left = ` +
			`'300px'">x</button>`,
			do: func(a *attempt) error {
				_, err := a.p.Click(a.ctx, routine.Click{Selector: "#b", Button: "middle", Count: 1, EnsureVisible: true})
				return err
			}, log: "up;"},
		{name: "a double click after a loss", html: `<button id=b style="position:absolute;left:0" ondblclick="say('double')" onmousedown="this.style.left ` +
			`= '300px'">x</button>`,
			do: func(a *attempt) error {
				_, err := a.p.Click(a.ctx, routine.Click{Selector: "#b", Button: "left", Count: 2, EnsureVisible: true})
				return err
			}, log: "double;"},
		{name: "in a frame", html: `<iframe srcdoc="<button id=b style='position:absolute;left:0' onmousedown='this.style.left = 90' ` +
			`onclick='parent.say(1)'>x</button>"></iframe>`, log: "1;"},
		{name: "in a frame of another site", html: hear + `<iframe src="CROSS/in"></iframe>`, log: "b;",
			site: map[string]any{"in": tell + `<button id=b style="position:absolute;left:0" onmousedown="this.style.left = '90px'" onclick="tell('b')">x</button>`}},
		{name: "moved by every press", html: `<button id=b` + away + ` onmousedown="this.style.left = (this.n = (this.n || 0) + 120) % 600 + 'px'">x</button>`,
			code: no, words: "moved away between the press of the mouse button and its release", then: `LOG`, is: `""`},

		{name: "one that shrinks under the press is reached", html: `<style>#b:active { transform: scale(.8) translateY(2px) }</style>` + b +
			`>x</button>`, log: "b;"},
		{name: "a menu that the press opens over it is left open", html: `<button id=b onmousedown="m.hidden = false; say('open')">x</button>
			<div id=m hidden style="position:fixed;inset:0" onclick="say('cover')" onmouseup="say('up')"></div>`, log: "open;up;"},
		{name: "a suggestion that is taken by the press", html: `<input id=i onblur="s.innerHTML = ''"><div id=s>` +
			`<button id=b onmousedown="say('taken')">x</button></div>`, do: from, log: "taken;"},
		{name: "a suggestion that hides itself when it is pressed", html: `<button id=b onmousedown="say('taken'); this.hidden = true">x</button>`,
			log: "taken;"},
		{name: "the first of several that goes when it is pressed",
			html: `<button class=c onmousedown="say(this.id); this.remove()" id=b>x</button><button class=c onmousedown="say('second')">x</button>`,
			do:   func(a *attempt) error { return a.click(".c") }, log: "b;"},
		{name: "taken by the release", html: `<div id=d><button id=b onmouseup="say('up'); d.innerHTML = d.innerHTML">x</button></div>`, log: "up;"},
		{name: "an editor's button that keeps the press to itself",
			html: `<div id=d onmousedown="event.preventDefault(); say('down'); d.innerHTML = d.innerHTML"><button id=b>x</button></div>`, log: "down;"},
		{name: "a list that opens by the press", html: `<select id=b onmousedown="say('down')"><option>x<option>y</select>`, log: "down;"},
		{name: "a page that keeps clicks from every listener", html: `<script>addEventListener('click', e => { say('kept'); e.stopImmediatePropagation() ` +
			`}, true)</script>` + b + `>x</button>`, log: "kept;"},
	})
}

// An element that never stops moving is clicked where it pauses or comes back to.
func TestClickOnElementsThatNeverStopMoving(t *testing.T) {
	t.Parallel()
	const sways = `<style>@keyframes k{from{transform:translateX(0)}to{transform:translateX(30px)}}.sways{animation:k .3s infinite alternate}</style>`
	jumps := `<button id=b style="position:absolute;left:0" onclick="say('b')">x</button><script>
		let n = 0; setInterval(() => b.style.left = (n = 300 - n) + 'px', 400)</script>`
	const carried = `<style>@keyframes k{from{margin-left:0}to{margin-left:300px}}div{animation:k .5s ease-in forwards}</style>` +
		`<div><slot></slot></div>`
	holds(t, []row{
		{name: "sways for ever", html: sways + `<button id=b class=sways style="width:90px" onclick="say('b')">x</button>`, log: "b;"},
		{name: "pulses for ever", html: `<style>@keyframes k{to{transform:scale(1.3)}}#b{animation:k .4s infinite alternate;width:90px}</style>` + b +
			`>x</button>`, log: "b;"},
		{name: "on something that sways for ever", html: sways + `<div class=sways>` + b + ` style="width:90px">x</button></div>`, log: "b;"},
		{name: "a field that sways for ever", html: sways + `<input id=b class=sways oninput="say(this.value)">`,
			do: func(a *attempt) error { return a.typed("#b", "x") }, log: "x;"},
		{name: "jumps to and fro for ever", html: jumps, log: "b;"},
		{name: "slides by for ever, slowly", html: `<style>@keyframes k{from{left:0}to{left:600px}}#b{position:absolute;animation:k 9s linear ` +
			`infinite;width:150px}</style>` + b + `>x</button>`, log: "b;"},
		{name: "slotted into what is moved until it rests", html: `<x-y>` +
			`<button id=b style="width:800px" onclick="say(Math.round(this.getBoundingClientRect().left))">x</button></x-y>` +
			shadow(carried), log: "308;"},
		{name: "slotted into what a transition moves until it rests",
			html: `<x-y><button id=b style="width:800px" onclick="say(Math.round(this.getBoundingClientRect().left))">x</button></x-y>` +
				shadow(`<div style="position:absolute;left:0;top:0;transition:left .5s ease-in"><slot></slot></div>`) +
				`<script>requestAnimationFrame(() => requestAnimationFrame(() => document.querySelector('x-y').shadowRoot.firstChild.style.left = '200px'))</script>`,
			do: func(a *attempt) error {
				a.want(`document.querySelector('x-y').shadowRoot.firstChild.style.left`, `"200px"`)
				return a.click("#b")
			}, log: "200;"},
		{name: "slotted twice into what is moved until it rests", html: `<x-y><x-z>` +
			`<button id=b style="width:800px" onclick="say(Math.round(this.getBoundingClientRect().left))">x</button></x-z></x-y>` +
			shadow(carried) +
			"<script>document.querySelector('x-z').attachShadow({mode:'open'}).innerHTML = `<slot></slot>`</script>", log: "308;"},
		{name: "slotted into a closed component that moves until it rests",
			html: `<x-y><button id=b style="width:800px" onclick="say(Math.round(this.getBoundingClientRect().left))">x</button></x-y>
			<script>customElements.define('x-y', class extends HTMLElement { constructor() { super(); this.attachShadow({mode:'closed'}).innerHTML =
			'` + carried + `' } })</script>`, log: "308;"},
		{name: "an arc", html: `<svg width=300 height=300><path id=b d="M10 150 A140 140 0 0 1 290 150" fill=none stroke=black stroke-width=4 ` +
			`onclick="say('b')"/></svg>`, log: "b;"},
		{name: "a group of shapes far apart", html: `<svg width=600 height=300><g id=b onclick="say('b')"><circle cx=30 cy=30 r=9 />` +
			`<circle cx=560 cy=260 r=9 /></g></svg>`, log: "b;"},
	})
}
