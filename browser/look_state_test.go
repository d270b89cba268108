package browser

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
)

// The header says what state the page is in.
func TestLookSaysTheStateOfThePage(t *testing.T) {
	t.Parallel()
	p := openPage(t, site(t, map[string]any{
		"/": `<div style="height:9000px">x</div><div role=dialog><h2>Cookies</h2><button id=ok>OK</button></div>
			<script>fetch('/slow'); fetch('/slow'); scrollTo(0, 2400)</script>`,
		"/slow": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	})+"/")
	if text := look(t, p, routine.Look{}).Text; !strings.Contains(text, "dialog open: \"Cookies\"\nloading: 2 requests under way\nscrolled to 2400 of 9") {
		t.Errorf("the text is\n%s", text)
	}
}

// What a look cannot read is named.
func TestLookNamesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	p := openPage(t, site(t, map[string]any{"/": `<canvas width=800 height=600></canvas><canvas width=50 height=50></canvas><x-y style="display:block"></x-y>
		<script>customElements.define('x-y', class extends HTMLElement {
			constructor() { super(); this.attachShadow({mode: 'closed'}).innerHTML = '<p style="height:90px">closed</p>' } })</script>`})+"/")
	text := look(t, p, routine.Look{}).Text
	if !strings.Contains(text, "canvas 800×600: not readable; take a screenshot\n") || strings.Count(text, "canvas") != 1 ||
		!strings.Contains(text, "(closed component)\n") {
		t.Errorf("the text is\n%s", text)
	}
}

// The lines say where an open shadow root begins and where its slotted elements begin:
// selectors do not reach across.
func TestLookSaysWhereComponentsBegin(t *testing.T) {
	t.Parallel()
	p := openPage(t, site(t, map[string]any{"/": `<main><h1>Quotes</h1><x-quote></x-quote><x-quote></x-quote>
		<x-shell><button id=light>Light</button></x-shell><x-list></x-list></main>
		<script>const shadow = (e, html) => e.attachShadow({mode: 'open'}).innerHTML = html;
		document.querySelectorAll('x-quote').forEach((e, n) => shadow(e, '<button id=quote' + n + '>Quote</button>'));
		shadow(document.querySelector('x-shell'), '<nav aria-label=Shell><a href=/home>Home</a><slot></slot></nav><iframe srcdoc="<p>Framed</p>"></iframe>');
		shadow(document.querySelector('x-list'), '<p>a</p>'.replaceAll('p>', 'li>').repeat(4))</script>`})+"/")
	_, text, _ := strings.Cut(withoutNotice(t, look(t, p, routine.Look{})), "\n")
	want := `main
 h1 "Quotes"
 component <x-quote>
  button "Quote" | #quote0
  button "Quote" | #quote1
 component <x-shell>
  nav "Shell"
   link "Home" | a[href="/home"]
   slotted in <x-shell>
    button "Light" | #light
  frame about:srcdoc | iframe
   "Framed"
 component <x-list>
  list 4 × | li
   items: "a", "a", "a", "a"
component: selectors do not reach across its edge
`
	if diff := cmp.Diff(want, text); diff != "" {
		t.Error(diff)
	}
	inside := look(t, p, routine.Look{Scope: "nav"}).Text // in the shadow root
	if strings.Contains(inside, "component <") || !strings.Contains(inside, "slotted in <x-shell>") {
		t.Errorf("the scope is\n%s", inside)
	}
}

// An element that only its place tells apart can be named by its role and name, if no other
// has both.
func TestLookOffersNamesInsteadOfPlaces(t *testing.T) {
	t.Parallel()
	p := openPage(t, site(t, map[string]any{"/": `<div><div>Save</div><div onclick="1" role=button>Save</div><div onclick="1" role=button>Delete</div></div>
		<div><div>x</div><div onclick="1" role=button>Save</div></div>`})+"/")
	seen := look(t, p, routine.Look{})
	named := map[string]*routine.Target{}
	for _, x := range seen.Lines {
		if x.Kind == "button" && x.Grade == "D" {
			named[x.Name] = x.ByName
		}
	}
	if len(named) != 2 || named["Save"] != nil || named["Delete"] == nil || *named["Delete"] != (routine.Target{Role: "button", Name: "Delete"}) {
		t.Errorf("%v in\n%s", named, seen.Text)
	}
}

// The items of a list have no field that a click would refuse as hidden.
func TestLookShowsNoHiddenFieldsOfItems(t *testing.T) {
	t.Parallel()
	item := `<li class=item><b class=name>Thing</b> <i class=price>9.00</i><button class=trap style="opacity:0">Free</button>
		<button class=far style="position:absolute;left:-9999px">Gift</button><button class=buy>Buy</button></li>`
	p := openPage(t, site(t, map[string]any{"/": "<ul>" + strings.Repeat(item, 12) + "</ul>"})+"/")
	text := look(t, p, routine.Look{}).Text
	if !strings.Contains(text, "| button.buy") || strings.Contains(text, "trap") || strings.Contains(text, "button.far") {
		t.Errorf("the text is\n%s", text)
	}
}
