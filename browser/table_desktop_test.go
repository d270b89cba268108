package browser

import "testing"

// media says which pointing devices a document believes in.
const media = `const media = () => ['hover', 'pointer', 'any-hover', 'any-pointer']
	.map(f => ['none', 'hover', 'fine', 'coarse'].filter(v => matchMedia('(' + f + ': ' + v + ')').matches))
	.join() + ' ' + navigator.maxTouchPoints + ' ' + ('ontouchstart' in window);`

const desktop = "hover,fine,hover,fine 0 false"

// Every document sees a mouse and no touch screen.
func TestDesktopTable(t *testing.T) {
	t.Parallel()
	const in = `<script>` + media + ` (opener || parent).postMessage(media(), '*')</script>`
	within := map[string]any{"in": in}
	const hear = `<script>onmessage = e => say(e.data)</script>`
	holds(t, []row{
		{name: "the page", html: `<script>` + media + `say(media())</script><button id=b>b</button>`, log: desktop + ";"},
		{name: "a style sheet", html: `<style>#b { display: none } @media (hover: hover) and (pointer: fine) { #b { display: block } }</style>
			<button id=b onclick="say('shown')">b</button>`, log: "shown;"},
		{name: "a frame of the page's site", html: hear + `<iframe src=in></iframe><button id=b>b</button>`, site: within, log: desktop + ";"},
		{name: "a frame of another site", html: hear + `<iframe src=CROSS/in></iframe><button id=b>b</button>`, site: within, log: desktop + ";"},
		{name: "a window that the page opens", html: hear + `<button id=b onclick="window.open('in')">b</button>`, site: within,
			log: desktop + ";", warns: "opened a popup",
			do: func(a *attempt) error {
				err := a.click("#b")
				// A watched script, such as that of want, closes the popup.
				eventually(a.t, testTime, "the popup has loaded", func() bool {
					popups := a.p.openPopups()
					return len(popups) == 1 && popups[0].now().url == a.site+"in" && popups[0].now().loaded
				})
				return err
			}},
		{name: "the next document", html: `<a id=b href=next>next</a>`, log: desktop + ";",
			site: map[string]any{"next": `<script>` + media + `say(media())</script>`}},
	})
}
