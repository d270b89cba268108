package browser

import "testing"

// Keys that a browser with windows acts on do the same in the headless shell, and
// are followed.
func TestShortcutsOfTheBrowser(t *testing.T) {
	t.Parallel()
	site := map[string]any{"two": `<a id=b href=three>x</a><script>onload = () => say('two')</script>`, "three": delayed("three")}
	// visit goes to two, then to three, and presses the keys.
	visit := func(keys ...string) func(*attempt) error {
		return func(a *attempt) error {
			if err := a.click("#b"); err != nil {
				return err
			}
			if err := a.click("#b"); err != nil {
				return err
			}
			return a.press(keys...)
		}
	}
	press := func(keys ...string) func(*attempt) error {
		return func(a *attempt) error { return a.press(keys...) }
	}
	const one = `<a id=b href=two>x</a>`
	rows := []row{
		{name: "Alt+ArrowLeft goes back", html: one, site: site, do: visit("Alt+ArrowLeft"), url: "two", log: "two;"},
		{name: "twice", html: one, site: site, do: visit("Alt+ArrowLeft", "Alt+ArrowLeft"), url: "./"},
		{name: "Alt+ArrowRight goes forward again", html: one, site: site, do: visit("Alt+ArrowLeft", "Alt+ArrowRight"), url: "three", log: "loaded;"},
		{name: "BrowserBack goes back", html: one, site: site, do: visit("BrowserBack"), url: "two", log: "two;"},
		{name: "from the focus in a field", html: one, site: map[string]any{"two": `<a id=b href=three>x</a>`, "three": `<input id=i autofocus>`},
			do: visit("Alt+ArrowLeft"), url: "two"},
		{name: "in the history of one document", html: `<a id=b href="#a" onclick="setTimeout(() => b.href = '#b')">x</a>`, do: visit("Alt+ArrowLeft"), url: "#a"},
		{name: "an overlay that pushState has opened is left",
			html: `<button id=b onclick="history.pushState(1, '', '#open'); onpopstate = () => say('closed')">x</button>`,
			do: func(a *attempt) error {
				if err := a.click("#b"); err != nil {
					return err
				}
				return a.press("Alt+ArrowLeft")
			}, url: "./", log: "closed;"},
		{name: "forward where there is nothing", html: one, do: press("Alt+ArrowRight"), url: "./"},
		{name: "a page that uses the key itself", html: one + `<script>
			addEventListener('keydown', e => { if (e.altKey && e.key !== 'Alt') { say(e.defaultPrevented); e.preventDefault() } })</script>`,
			do: press("Alt+ArrowLeft"), url: "./", log: "false;"},
		{name: "a page that keeps F5 to itself", html: `<script>
			addEventListener('keydown', e => { e.stopImmediatePropagation(); e.preventDefault(); say(e.key) }, true)</script>`, do: press("F5"), log: "F5;"},
		{name: "a page that hears of F5", html: `<script>sessionStorage.n = +(sessionStorage.n ?? 0) + 1;
			addEventListener('keydown', e => sessionStorage.seen = e.key + e.defaultPrevented)</script>`,
			do: press("F5"), then: `sessionStorage.n + sessionStorage.seen`, is: `"2F5false"`},
		{name: "arrows without Alt go nowhere", html: one, site: site, do: visit("ArrowLeft", "Control+ArrowLeft"), url: "three"},
	}
	for _, key := range []string{"F5", "Control+R", "Control+Shift+R", "Control+F5", "BrowserRefresh"} {
		rows = append(rows, row{name: key + " loads the page again, once",
			html: `<script>sessionStorage.n = +(sessionStorage.n ?? 0) + 1</script><input id=i autofocus>`,
			do:   press(key), then: `sessionStorage.n`, is: `"2"`})
	}
	holds(t, rows)
}
