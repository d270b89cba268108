package browser

import (
	"context"
	"strings"
	"testing"
	"time"

	"rote/routine"
)

// b is the beginning of a button that logs its clicks.
const b = `<button id=b onclick="say('b')"`

// imageMap has a circle and the rest of an image to click on.
const imageMap = `<img usemap="#m" width=200 height=100 src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="><map name=m>
	<area id=b shape=circle coords="150,50,9" href="#" onclick="say('b')"><area id=rest shape=default href="#" onclick="say('rest')"></map>`

func TestClickReaches(t *testing.T) {
	t.Parallel()
	holds(t, []row{
		{name: "an ordinary button", html: b + `>x</button>`, log: "b;"},
		{name: "below the fold is scrolled to", html: `<div style="height:5000px"></div>` + b + `>x</button>`, log: "b;"},
		{name: "inside a scroller", html: `<div style="height:60px;overflow:auto"><div style="height:900px"></div>` + b + `>x</button></div>`, log: "b;"},
		{name: "under a sticky header after scrolling", html: `<div style="position:sticky;top:0;height:200px;background:#ddd">head</div>
			<div style="height:3000px"></div>` + b + `>x</button><div style="height:3000px"></div>`, log: "b;"},
		{name: "wider than the page", html: b + ` style="width:4000px">x</button>`, log: "b;"},
		{name: "a link without a box of its own", html: `<a id=b href="#x" onclick="say('b')" style="display:block;height:0"><i><span style="float:right">a card</span></i></a>`, log: "b;"},
		{name: "a link over two lines", html: `<p style="width:60px">some <a id=b href="#x" onclick="say('b')">words that wrap</a>`, log: "b;"},
		{name: "half covered", html: b + ` style="width:200px">x</button><div style="position:fixed;left:0;top:0;width:110px;height:300px;background:red"></div>`, log: "b;"},
		{name: "a child of the button counts as the button", html: b + `><span style="display:block;padding:9px">x</span></button>`, log: "b;"},
		{name: "a disabled-looking class is no proof", html: b + ` class=disabled>x</button>`, log: "b;"},
		{name: "aria-hidden alone is no proof", html: `<div aria-hidden=true>` + b + `>x</button></div>`, log: "b;"},
		{name: "tabindex -1 is no proof", html: b + ` tabindex=-1>x</button>`, log: "b;"},
		{name: "opacity just over the limit", html: `<div style="opacity:.5">` + b + ` style="opacity:.3">x</button></div>`, log: "b;"},
		{name: "two pixels are enough", html: b + ` style="width:2px;height:2px;padding:0;border:0">x</button>`, log: "b;"},
		{name: "in an open shadow root", html: `<x-y></x-y><script>document.querySelector('x-y').attachShadow({mode:'open'}).innerHTML='<button id=b onclick="say(1)">x</button>'</script>`, log: "1;"},
		{name: "in a shadow root in a shadow root", html: `<x-y></x-y><script>let r = document.querySelector('x-y').attachShadow({mode:'open'}); r.innerHTML='<i></i>';
			r = r.firstChild.appendChild(document.createElement('div')).attachShadow({mode:'open'}); r.innerHTML='<button id=b onclick="say(2)">x</button>'</script>`, log: "2;"},
		{name: "slotted into a shadow root",
			html: `<x-y>` + b + `>x</button></x-y>
			<script>document.querySelector('x-y').attachShadow({mode:'open'}).innerHTML='<div style="padding:9px"><slot></slot></div>'</script>`,
			log: "b;"},
		{name: "a checkbox hidden under its label", html: `<label for=b>pick</label><input id=b type=checkbox style="opacity:0;position:absolute;left:-99px" onchange="say(this.checked)">`, log: "true;"},
		{name: "a radio button without size in its label", html: `<label><input id=b type=radio style="appearance:none;width:0;height:0;margin:0" onchange="say(this.checked)"> pick</label>`, log: "true;"},
		{name: "a checkbox under its label's decoration", html: `<label style="position:relative;display:inline-block;padding:20px">
			<input id=b type=checkbox onchange="say(this.checked)"><span style="position:absolute;inset:0;background:#ccc"></span></label>`,
			log: "true;"},
		{name: "the second of two when the first is a trap", html: `<button id=b style="opacity:0" onclick="say('trap')">x</button><br>` + b + `>x</button>`, log: "b;"},
		{name: "behind many that are hidden", log: "c;", do: func(a *attempt) error { return a.click(".c") },
			html: strings.Repeat(`<a class=c style="display:none">x</a>`, 300) + `<a class=c onclick="say('c')">y</a>`},
		{name: "the matches and the traps among them are counted", html: `<a class=c style="display:none">x</a><a class=c onclick="say('c')">y</a><a class=c>z</a>`, log: "c;",
			do: func(a *attempt) error {
				found, err := a.p.Click(a.ctx, click(".c"))
				if found.Matches != 3 || found.Skipped != 1 || found.Final {
					a.t.Errorf("%+v", found)
				}
				return err
			}},
		{name: "in a form whose fields have the names of methods", html: `<form onsubmit="return false"><input name=matches><input name=getAttribute>
			<input name=closest><input name=id><button id=b type=button onclick="say('b')"><i>x</i></button></form>`, log: "b;"},
		{name: "an SVG shape", html: `<svg width=90 height=90><circle id=b cx=45 cy=45 r=30 onclick="say('b')"/></svg>`, log: "b;"},
		{name: "an area of an image", html: `<div style="height:3000px"></div>` + imageMap, log: "b;"},
		{name: "the rest of an image", html: imageMap, do: func(a *attempt) error { return a.click("#rest") }, log: "rest;"},
		{name: "rotated and scaled", html: b + ` style="transform:translate(200px,90px) rotate(40deg) scale(2)">x</button>`, log: "b;"},
		{name: "in a part of the page that is rendered when it is seen", html: strings.Repeat(`<div style="content-visibility:auto;contain-intrinsic-height:20px"><p style="height:400px">x</p></div>`, 20) +
			`<div style="content-visibility:auto">` + b + `>x</button></div>`, log: "b;"},
		{name: "on a page that zooms itself", html: `<style>body{zoom:1.7}</style><div style="height:1000px"></div>` + b + `>x</button>`, log: "b;"},
		{name: "in a modal dialog", html: b + `>under</button><dialog id=d><button id=m onclick="say('m')">x</button></dialog>
			<script>d.showModal()</script>`, do: func(a *attempt) error { return a.click("#m") }, log: "m;"},
	})
}

func TestClickSendsTheEventsOfAPerson(t *testing.T) {
	t.Parallel()
	times := func(button string, n int) func(*attempt) error {
		return func(a *attempt) error {
			_, err := a.p.Click(a.ctx, routine.Click{Selector: "#b", Button: button, Count: n, EnsureVisible: true})
			return err
		}
	}
	const tell = `<button id=b>x</button><script>for (const n of ['mousemove','pointerdown','mousedown','mouseup','click','auxclick','contextmenu','dblclick'])
		b.addEventListener(n, e => say(n + (n === 'click' || n === 'mousedown' ? e.detail : '') + (e.isTrusted ? '' : '!')))</script>`
	holds(t, []row{
		{name: "real mouse events: move, down, up", html: tell, log: "mousemove;pointerdown;mousedown1;mouseup;click1;"},
		{name: "a double click fires dblclick", html: tell, do: times("left", 2), log: "mousemove;pointerdown;mousedown1;mouseup;click1;pointerdown;mousedown2;mouseup;click2;dblclick;"},
		{name: "a triple click selects the paragraph", html: `<p id=b>some words</p>`, do: times("left", 3), then: `getSelection().toString().trim()`, is: `"some words"`},
		{name: "the right button fires contextmenu", html: tell, do: times("right", 1), log: "mousemove;pointerdown;mousedown1;contextmenu;mouseup;auxclick;"},
		{name: "the middle button fires auxclick", html: tell, do: times("middle", 1), log: "mousemove;pointerdown;mousedown1;mouseup;auxclick;"},
		{name: "hovers first, so that a menu opens", html: `<style>#m{display:none}#h:hover #m{display:block}</style>
			<div id=h style="width:200px">menu<div id=m><a id=i onclick="say('i')">item</a></div></div>`,
			do: func(a *attempt) error {
				if err := a.click("#h"); err != nil {
					return err
				}
				return a.click("#i")
			}, log: "i;"},
		{name: "focuses what it clicks", html: `<input id=b>`, then: `document.activeElement.id`, is: `"b"`},
		{name: "opens a details element", html: `<details id=d><summary id=b>s</summary>text</details>`, then: `d.open`, is: `true`},
		{name: "user activation: a window may open", html: `<button id=b onclick="say(navigator.userActivation.isActive)">x</button>`, log: "true;"},
	})
}

func TestClickRefuses(t *testing.T) {
	t.Parallel()
	no := routine.CodeElementNotActionable
	holds(t, []row{
		{name: "nothing matches", html: `-`, code: routine.CodeElementNotFound, words: `no element matches "#b"`},
		{name: "no selector at all", html: `-`, do: func(a *attempt) error { return a.click("#b >") }, code: routine.CodeElementNotFound, words: "is no CSS selector"},
		{name: "display none", html: b + ` style="display:none">x</button>`, code: no, words: "not displayed"},
		{name: "display none of an ancestor", html: `<div style="display:none">` + b + `>x</button></div>`, code: no, words: "not displayed"},
		{name: "an area of a hidden image", html: `<div style="display:none">` + imageMap + `</div>`, code: no, words: "not displayed"},
		{name: "an area of no image", html: `<map name=n><area id=b shape=default href="#"></map>`, code: no, words: "belongs to no image"},
		{name: "visibility hidden", html: b + ` style="visibility:hidden">x</button>`, code: no, words: "visibility: hidden"},
		{name: "opacity 0", html: b + ` style="opacity:0">x</button>`, code: no, words: "transparent"},
		{name: "opacities that multiply to little", html: `<div style="opacity:.3">` + b + ` style="opacity:.3">x</button></div>`, code: no, words: "opacity 0.09"},
		{name: "an opacity filter", html: b + ` style="filter:opacity(5%)">x</button>`, code: no, words: "transparent"},
		{name: "one pixel", html: b + ` style="width:1px;height:1px;padding:0;border:0;overflow:hidden">x</button>`, code: no, words: "too small"},
		{name: "a link without a box, in which nothing is seen", html: `<a id=b href="#x" style="display:block;height:0;overflow:hidden"><span>x</span></a>`, code: no, words: "clipped"},
		{name: "off screen", html: b + ` style="position:absolute;left:-9999px">x</button>`, code: no, words: "outside the visible page"},
		{name: "clipped away", html: b + ` style="clip-path:inset(100%)">x</button>`, code: no, words: "clipped"},
		{name: "in a box without size", html: `<div style="width:0;height:0;overflow:hidden">` + b + `>x</button></div>`, code: no, words: "#b"},
		{name: "in closed details", html: `<details>` + b + `>x</button></details>`, code: no, words: "not"},
		{name: "disabled", html: b + ` disabled>x</button>`, code: no, words: "is disabled"},
		{name: "in a disabled fieldset", html: `<fieldset disabled>` + b + `>x</button></fieldset>`, code: no, words: "is disabled"},
		{name: "aria-disabled", html: b + ` aria-disabled=true>x</button>`, code: no, words: "aria-disabled"},
		{name: "inert", html: `<div inert>` + b + `>x</button></div>`, code: no, words: "inert"},
		{name: "no pointer events", html: b + ` style="pointer-events:none">x</button>`, code: no, words: "pointer-events: none"},
		{name: "covered, and what covers it is named", html: b + `>x</button><div class="veil dark" style="position:fixed;inset:0"></div>`, code: no, words: "covered by div.veil.dark"},
		{name: "under a modal dialog", html: b + `>x</button><dialog id=d>hi</dialog><script>d.showModal()</script>`, code: no, words: "#b"},
		{name: "an option of a list", html: `<select class=size><option id=b>x</select>`, code: no, words: `is an option of select.size: choose it with input_text into that list`},
		{name: "a hidden field", html: `<input id=b type=hidden>`, code: no, words: "hidden field"},
		{name: "several matches, none actionable", html: `<i class=c style="display:none">x</i><i class=c hidden>x</i>`,
			do: func(a *attempt) error { return a.click(".c") }, code: no, words: "first of 2 matches"},
		{name: "outside the view without ensure_visible", html: `<div style="height:5000px"></div>` + b + `>x</button>`, code: no, words: "outside the visible page",
			do: func(a *attempt) error {
				_, err := a.p.Click(a.ctx, routine.Click{Selector: "#b", Button: "left", Count: 1})
				return err
			}},
		{name: "an element of a closed shadow root is not found",
			html: `<x-y></x-y><script>document.querySelector('x-y').attachShadow({mode:'closed'}).innerHTML='<button id=b>x</button>'</script>`,
			code: routine.CodeElementNotFound, words: `no element matches`},
		{name: "a page that hangs says so", html: b + `>x</button>`, do: func(a *attempt) error {
			eval(a.t, a.p, `(() => { setTimeout(() => { for (;;); }) })()`)
			ctx, cancel := context.WithTimeout(a.ctx, hangTime+100*time.Millisecond)
			defer cancel()
			_, err := a.p.Click(ctx, click("#b"))
			return err
		}, code: routine.CodeTimeout, words: "one of its scripts hangs"},
		{name: "a page that is silent for a short time is not blamed", html: b + `>x</button>`, do: func(a *attempt) error {
			eval(a.t, a.p, `(() => { setTimeout(() => { for (;;); }) })()`)
			_, err := a.p.HTML(shortContext(a.t), "#b")
			return err
		}, code: routine.CodeTimeout, words: "too short to find out"},
	})
}
