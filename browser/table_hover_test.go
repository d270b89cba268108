package browser

import (
	"fmt"
	"net/http"
	"testing"

	"rote/routine"
)

// hoverMenu is a menu that scripts open while the mouse is over it, and close
// when the mouse has left it for a while.
const hoverMenu = `<style>#m,#s{display:none}</style><div id=h style="width:200px;height:40px">menu</div>
	<div id=m style="width:200px"><div id=e>export</div><div id=s><a id=i onclick="say('i')">CSV</a></div></div>
	<script>for (const [from, opens] of [[h, m], [e, s]]) {
		let t; const box = opens === m ? [h, m] : [e, s];
		for (const n of box) { n.onmouseenter = () => { clearTimeout(t); t = setTimeout(() => opens.style.display = 'block', 120) }; 
			n.onmouseleave = () => { clearTimeout(t); t = setTimeout(() => opens.style.display = 'none', 400) } }
	}</script>`

// over clicks selector after the mouse has passed over other elements.
func over(selector string, hover ...string) func(a *attempt) error {
	return func(a *attempt) error {
		c := click(selector)
		c.Hover = hover
		_, err := a.p.Click(a.ctx, c)
		return err
	}
}

func TestHoverOpensMenus(t *testing.T) {
	t.Parallel()
	const css = `<style>.m{display:none}.h:hover .m{display:block}</style>`
	const item = `<div class=h style="width:200px">menu<div class=m><a id=i onclick="(parent === window ? say : parent.say)('i')">item</a></div></div>`
	holds(t, []row{
		{name: "two levels of a menu that scripts open", html: hoverMenu, do: over("#i", "#h", "#e"), log: "i;"},
		{name: "a menu of a style", html: css + item, do: over("#i", ".h"), log: "i;"},
		{name: "below the fold", html: `<div style="height:3000px"></div>` + css + item, do: over("#i", ".h"), log: "i;"},
		{name: "one that comes later",
			html: css + `<div id=to></div><script>setTimeout(() => to.innerHTML = ` + "`" + item + "`" + `, 200)</script>`, do: over("#i", ".h"),
			log: "i;"},
		{name: "in a frame", html: `<iframe src="in" style="margin:50px"></iframe>`, site: map[string]any{"in": css + item}, do: over("#i", ".h"),
			log: "i;"},
		{name: "in a frame of another site", html: `<iframe src="CROSS/in" style="margin:50px"></iframe><script>onmessage = e => say(e.data)</script>`,
			site: map[string]any{"in": css + `<div class=h>menu<div class=m><a id=i onclick="parent.postMessage('i', '*')">item</a></div></div>`},
			do:   over("#i", ".h"), log: "i;"},
		{name: "in a shadow root",
			html: `<x-y></x-y><script>document.querySelector('x-y').attachShadow({mode:'open'}).innerHTML = ` + "`" + css + item + "`" + `</script>`,
			do:   over("#i", ".h"), log: "i;"},
		{name: "in quirks mode", html: `<p>x`, log: "i;", site: map[string]any{"q": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<script>var LOG = '', say = s => LOG += s + ';'</script>`+css+item)
		}}, do: func(a *attempt) error {
			if _, err := a.p.Navigate(a.ctx, a.site+"q"); err != nil {
				return err
			}
			return over("#i", ".h")(a)
		}},
		{name: "an element that is replaced when the mouse is over it",
			html: `<div id=h style="width:200px" onmouseenter="outerHTML = '<div id=h><a id=i onclick=say(1)>item</a></div>'">menu</div>`, do: over("#i",
				"#h"), log: "1;"},
		{name: "a page that reloads when the mouse is over it",
			html: `<style>#i{display:none}</style><div id=h style="width:200px">menu<a id=i onclick="say('i')">item</a></div>
			<script>h.onmouseenter = () => { if (sessionStorage.again) i.style.display = 'block'; else { sessionStorage.again = 1; location.reload() } }</script>`,
			do: over("#i", "#h"), log: "i;"},
		{name: "in the order that is written", html: `<p id=one onmouseenter="say(1)">1<p id=two onmouseenter="say(2)">2` + b + `>x</button>`,
			do: over("#b", "#two", "#one", "#two"), log: "2;1;2;b;"},
		{name: "an element that is not there", html: b + `>x</button>`, do: over("#b", "#h"), code: routine.CodeElementNotFound,
			words: `x-hover: no element matches "#h"`},
		{name: "a hidden element is no menu", html: `<div id=h style="opacity:0">menu</div>` + b + `>x</button>`, do: over("#b", "#h"),
			code: routine.CodeElementNotActionable, words: `x-hover: "#h" is transparent`},
		{name: "a covered element is no menu", html: `<div id=h>menu</div>` + b + `>x</button><div style="position:fixed;inset:0"></div>`,
			do: over("#b", "#h"), code: routine.CodeElementNotActionable, words: `x-hover: "#h" is covered`},
		{name: "a menu that opens nothing", html: `<div id=h>menu</div><a id=i style="display:none">item</a>`, do: over("#i", "#h"),
			code: routine.CodeElementNotActionable, words: `"#i" is not displayed`},
	})
}
