package browser

import (
	"testing"

	"rote/routine"
)

// shadow adds an open shadow root with this HTML to the first x-y of the page. The
// HTML must not contain backquotes.
func shadow(html string) string {
	return "<script>document.querySelector('x-y').attachShadow({mode:'open'}).innerHTML = `" + html + "`</script>"
}

// far is a stretch of page that has to be scrolled over.
const far = `<div style="height:3000px"></div>`

// Elements that cannot be clicked in the middle of their own box: those without a
// box, and those in or around a button or link.
func TestClickReachesWithoutABox(t *testing.T) {
	t.Parallel()
	scrolled := func(a *attempt) error { return a.p.Scroll(a.ctx, routine.Scroll{Selector: "#b"}) }
	holds(t, []row{
		{name: "in a shadow root in a button", html: `<button onclick="say('b')"><x-y></x-y></button>` + shadow(`<i id=b>x</i>`), log: "b;"},
		{name: "a button in a shadow root around slotted text", html: `<x-y>some text</x-y>` +
			shadow(`<button id=b onclick="say('b')"><slot></slot></button>`), log: "b;"},
		{name: "a link in a shadow root around slotted text", html: far + `<x-y>some text</x-y>` +
			shadow(`<a id=b href="#x" onclick="say('b')"><slot></slot></a>`), log: "b;"},
		{name: "the slot of a text", html: `<x-y>some text</x-y>` + shadow(`<button onclick="say('b')"><slot id=b></slot></button>`), log: "b;"},
		{name: "the slot of an element", html: far + `<x-y><p>some text</p></x-y>` + shadow(`<div onclick="say('b')"><slot id=b></slot></div>`), log: "b;"},
		{name: "text that is slotted twice", html: `<x-y>some text</x-y>` + shadow(`<x-z><slot></slot></x-z>`) +
			"<script>document.querySelector('x-y').shadowRoot.querySelector('x-z').attachShadow({mode:'open'}).innerHTML = `" +
			"<button id=b onclick=\"say('b')\"><slot></slot></button>`</script>", log: "b;"},
		{name: "an icon that lets the pointer through to its button",
			html: `<button onclick="say('b')"><svg id=b style="pointer-events:none" width=20 height=20><rect width=20 height=20 /></svg></button>`, log: "b;"},
		{name: "text under what decorates its link", html: `<a href="#x" onclick="say('b')" style="position:relative;display:block"><span id=b>x</span>` +
			`<i style="position:absolute;inset:0"></i></a>`, log: "b;"},
		{name: "the image of a card whose link covers all of it", html: `<div style="position:relative;width:200px"><div role=button onclick="say('b')">` +
			`<p id=b style="pointer-events:none">x</p><p>y</p></div></div>`, log: "b;"},
		{name: "display contents around text", html: `<button id=b style="display:contents" onclick="say('b')">some text</button>`, log: "b;"},
		{name: "display contents around text far down", html: far + `<p><button id=b style="display:contents" onclick="say('b')">some text</button></p>` +
			far, log: "b;"},
		{name: "display contents around text in a scroller", html: far + `<div style="height:90px;overflow:auto">` + far +
			`<button id=b style="display:contents" onclick="say('b')">some text</button>` + far + `</div>`, log: "b;"},
		{name: "display contents around an element", html: far + `<a id=b style="display:contents" href="#x" onclick="say('b')"><img width=40 height=40>` +
			`</a>`, log: "b;"},
		{name: "display contents in display contents", html: far +
			`<a id=b style="display:contents" href="#x" onclick="say('b')"><i style="display:contents"><i>x</i></i></a>`, log: "b;"},
		{name: "the opacity of what has no box counts for nothing", html: `<div style="display:contents;opacity:0">` + b + `>x</button></div>`, log: "b;"},
		{name: "a component that is display contents", html: far + `<x-y id=b onclick="say('b')" style="display:contents"></x-y>` + shadow(`<p>text</p>`),
			log: "b;"},
		{name: "a link around a block", html: far + `<a id=b href="#x" onclick="say('b')"><div style="height:90px">x</div></a>`, log: "b;"},
		{name: "a link around blocks in blocks", html: `<a id=b href="#x" onclick="say('b')"><i><div><i><div style="height:90px;width:90px">x</div></i>` +
			`</div></i></a>`, log: "b;"},
		{name: "a link around what is placed elsewhere", html: far +
			`<a id=b href="#x" onclick="say('b')"><img style="position:absolute;left:300px" width=40 height=40></a>`, log: "b;"},
		{name: "a link around a component", html: far + `<a id=b href="#x" onclick="say('b')" style="display:contents"><x-y></x-y></a>` +
			shadow(`<p>text</p>`), log: "b;"},
		{name: "a block in a link", html: `<a href="#x" onclick="say('b')"><div id=b style="height:90px">x</div></a>`, log: "b;"},
		{name: "a straight line", html: `<svg width=90 height=90><line id=b x1=9 y1=50 x2=80 y2=50 stroke=black stroke-width=6 onclick="say('b')"/>` +
			`</svg>`, log: "b;"},
		{name: "scrolled to without a box", html: far + `<p id=b style="display:contents">some text</p>` + far, do: scrolled, then: `scrollY > 2000`,
			is: `true`},

		{name: "display contents around nothing", html: `<button id=b style="display:contents"></button>`, code: routine.CodeElementNotActionable, words: "#b"},
		{name: "display contents around what is hidden", html: `<button id=b style="display:contents"><i hidden>x</i></button>`,
			code: routine.CodeElementNotActionable, words: "#b"},
		{name: "display contents around invisible text", html: `<button id=b style="display:contents;visibility:hidden">x</button>`,
			code: routine.CodeElementNotActionable, words: "visibility: hidden"},
		{name: "covered by another button in its link", html: `<div role=link onclick="say('link')" style="position:relative"><i id=b>x</i>` +
			`<button style="position:absolute;inset:0" onclick="say('other')"></button></div>`,
			code: routine.CodeElementNotActionable, words: "covered by button", then: `LOG`, is: `""`},
	})
}

// Places that something lies over after the element was scrolled to, or of which
// little shows.
func TestClickReachesAFreePlace(t *testing.T) {
	t.Parallel()
	const bar = `background:#ddd;z-index:9;`
	fixed := func(style string) string {
		return `<div style="position:fixed;left:0;right:0;` + bar + style + `">bar</div>`
	}
	target := b + `>x</button>`
	holds(t, []row{
		{name: "under a bar in the middle", html: fixed(`top:30%;height:40%`) + far + target + far, log: "b;"},
		{name: "between a tall header and a tall footer", html: fixed(`top:0;height:45%`) + fixed(`bottom:0;height:30%`) + far + target + far, log: "b;"},
		{name: "free only near the top", html: fixed(`top:10%;height:90%`) + far + target + far, log: "b;"},
		{name: "free only near the foot", html: fixed(`top:0;height:90%`) + far + target + far, log: "b;"},
		{name: "at the end of the page under a tall footer", html: `<body style="padding-bottom:70vh">` + fixed(`bottom:0;height:60%`) + far + target,
			log: "b;"},
		{name: "at the end of the page behind a chat corner", html: far +
			`<button id=b onclick="say('b')" style="float:right;width:200px;height:60px">x</button>` +
			`<div style="position:fixed;right:0;bottom:0;width:190px;height:190px;` + bar + `"></div>`, log: "b;"},
		{name: "in view, but under the header", html: `<div style="height:100px"></div>` + target + far + fixed(`top:0;height:90px`) +
			`<script>scrollTo(0, 60)</script>`, log: "b;"},
		{name: "under the head of a table's scroller", html: `<div style="height:150px;overflow:auto"><div style="position:sticky;top:0;height:100px;` +
			bar + `">head</div>` + far + target + far + `</div>`, log: "b;"},
		{name: "under what lies over the middle of a scroller", html: `<div style="position:relative;width:400px">` +
			`<div style="height:300px;overflow:auto">` + far + target + far + `</div><div style="position:absolute;inset:30% 0;` + bar + `">bar</div></div>`,
			log: "b;"},
		{name: "in a frame that the page's bar covers", html: fixed(`top:20%;height:60%`) + far +
			`<iframe style="height:50px" srcdoc="<button id=b onclick='parent.say(1)'>x</button>"></iframe>` + far, log: "1;"},
		{name: "in a frame of another site that the page's bar covers",
			html: hear + fixed(`top:20%;height:60%`) + far + `<iframe style="height:50px" src="CROSS/in"></iframe>` + far, site: map[string]any{"in": inner},
			log: "b;"},
		{name: "a field under a bar in the middle", html: fixed(`top:30%;height:40%`) + far + `<input id=b oninput="say(this.value)">` + far,
			do: func(a *attempt) error { return a.typed("#b", "x") }, log: "x;"},

		{name: "larger than its scroller", html: `<div style="height:60px;width:90px;overflow:auto">` +
			`<div id=b onclick="say('b')" style="height:3000px;width:3000px"></div></div>`, log: "b;"},
		{name: "larger than its scroller, further down", html: far + `<div style="height:60px;width:90px;overflow:auto">` + far +
			`<div id=b onclick="say('b')" style="height:3000px;width:3000px"></div></div>`, log: "b;"},
		{name: "a row of a wide table", html: `<div style="width:150px;height:100px;overflow:auto"><table style="width:4000px">` +
			`<tr><td>a<td>b<td>c<tr id=b onclick="say('b')"><td>a<td>b<td>c` + `</table></div>`, log: "b;"},
		{name: "a row far down in a wide table", html: `<div style="width:150px;height:100px;overflow:auto"><table style="width:4000px">` +
			`<tr style="height:2000px"><td>a<td>b<td>c<tr id=b onclick="say('b')"><td>a<td>b<td>c</table></div>`, log: "b;"},
		{name: "a tall editor in a small box", html: `<div style="height:80px;overflow:auto">` +
			`<div id=b contenteditable style="height:5000px" oninput="say(this.textContent)"></div></div>`,
			do: func(a *attempt) error { return a.typed("#b", "x") }, log: "x;"},
		{name: "a tall editor is not scrolled away", html: `<div id=b contenteditable style="height:5000px" onclick="say(scrollY)"></div>`, log: "0;"},
		{name: "of which a corner shows", html: `<div style="position:relative;width:400px;height:300px">` +
			`<button id=b onclick="say('b')" style="position:absolute;inset:0">x</button><div style="position:absolute;inset:0 0 0 30px;` + bar +
			`"></div><div style="position:absolute;inset:30px 0 0 0;` + bar + `"></div></div>`, log: "b;"},
		{name: "clipped by something far above it", html: `<div style="width:90px;height:40px;overflow:hidden"><div>` +
			`<div id=b onclick="say('b')" style="width:4000px;height:900px"></div></div></div>`, log: "b;"},
		{name: "placed outside a box that clips others", html: `<div style="overflow:hidden;height:20px;width:20px">` +
			`<button id=b onclick="say('b')" style="position:absolute;left:300px;top:200px">x</button></div>`, log: "b;"},

		{name: "under a veil the page stays where it is", html: `<div style="height:300px"></div>` + target + far + fixed(`top:0;bottom:0`),
			code: routine.CodeElementNotActionable, words: "covered by div", then: `scrollY < 200`, is: `true`},
	})
}

// A click waits until a disabled element, or the disabled control that it belongs
// to, is enabled.
func TestClickWaitsUntilControlIsEnabled(t *testing.T) {
	t.Parallel()
	no := routine.CodeElementNotActionable
	enable := func(selector string) string {
		return `<script>setTimeout(() => document.querySelector('` + selector + `').disabled = false, 300)</script>`
	}
	holds(t, []row{
		{name: "a child of a disabled button", html: `<button disabled onclick="say('b')"><i id=b>x</i></button>`, code: no, words: "disabled"},
		{name: "a child of a button that is enabled late", html: `<button disabled onclick="say('b')"><i id=b>x</i></button>` + enable("button"), log: "b;"},
		{name: "the shadow root of a disabled button's child", html: `<button disabled onclick="say('b')"><x-y></x-y></button>` + shadow(`<i id=b>x</i>`),
			code: no, words: "disabled"},
		{name: "text slotted into a disabled button", html: `<x-y id=b>some text</x-y>` + shadow(`<button disabled><slot></slot></button>`), code: no,
			words: "disabled"},
		{name: "an element slotted into a disabled button", html: `<x-y><i id=b>some text</i></x-y>` + shadow(`<button disabled><slot></slot></button>`),
			code: no, words: "disabled"},
		{name: "a component all of which is a disabled button", html: `<x-y id=b onclick="say('b')"></x-y>` + shadow(`<button disabled>x</button>`),
			code: no, words: "disabled"},
		{name: "the label of a disabled field", html: `<label id=b for=c>x</label><input id=c type=checkbox disabled>`, code: no, words: "disabled"},
		{name: "the label of a field that is enabled late", html: `<label id=b for=c>x</label>` +
			`<input id=c type=checkbox disabled onchange="say(this.checked)">` + enable("#c"), log: "true;"},
		{name: "in the label of a disabled field", html: `<label><input type=checkbox disabled><i id=b>x</i></label>`, code: no, words: "disabled"},
		{name: "a hidden checkbox that is disabled", html: `<label for=b>x</label><input id=b type=checkbox style="opacity:0" disabled>`, code: no,
			words: "disabled"},
		{name: "a child of a button in a disabled fieldset", html: `<fieldset disabled><button><i id=b>x</i></button></fieldset>`, code: no, words: "disabled"},
		{name: "a child of a button in a fieldset that is enabled late",
			html: `<fieldset disabled><button onclick="say('b')"><i id=b>x</i></button></fieldset>` + enable("fieldset"), log: "b;"},
		{name: "a label in a disabled fieldset", html: `<fieldset disabled><label id=b><input type=checkbox>x</label></fieldset>`, code: no, words: "disabled"},
		{name: "aria-disabled of the host of its shadow root", html: `<x-y aria-disabled=true></x-y>` + shadow(`<button id=b>x</button>`), code: no,
			words: "aria-disabled"},
		{name: "aria-disabled around a slot", html: `<x-y>` + b + `>x</button></x-y>` + shadow(`<div aria-disabled=true><slot></slot></div>`), code: no,
			words: "aria-disabled"},
		{name: "a field in a disabled fieldset", html: `<fieldset disabled><input id=b></fieldset>`,
			do: func(a *attempt) error { return a.typed("#b", "x") }, code: no, words: "disabled"},

		{name: "a button in the legend of a disabled fieldset", html: `<fieldset disabled><legend>` + b + `>x</button></legend></fieldset>`, log: "b;"},
		{name: "a link in a disabled fieldset", html: `<fieldset disabled><a id=b href="#x" onclick="say('b')">x</a></fieldset>`, log: "b;"},
		{name: "a link in the label of a disabled field", html: `<label><input type=checkbox disabled><a id=b href="#x" onclick="say('b')">x</a></label>`,
			log: "b;"},
		{name: "a box with a disabled button in its middle", html: `<div id=b onclick="say('b')" style="padding:60px;width:90px">` +
			`<button disabled style="width:90px;height:30px">x</button></div>`, log: "b;"},
		{name: "a hidden checkbox whose label holds a link in its middle",
			html: `<label for=b style="display:inline-block;width:300px;text-align:center"><a href="#x" onclick="say('link')">the conditions</a></label>` +
				`<input id=b type=checkbox style="display:none" onchange="say(this.checked)">`, log: "true;"},
	})
}
