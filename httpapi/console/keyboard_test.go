package console_test

import (
	"slices"
	"strings"
	"testing"

	"rote/routine"
)

// stopScript defines tabStops, the elements of a page that Tab must reach, and tabStop, which
// describes the element with the focus. Elements are numbered in the order of the document.
const stopScript = `
	globalThis.allOf = root => [...root.children].flatMap(e => [e, ...(e.shadowRoot ? allOf(e.shadowRoot) : []), ...allOf(e)])
	globalThis.tabStops = () => allOf(document).flatMap((e, i) =>
		e.tabIndex >= 0 && !e.disabled && e.type !== "radio" && e.checkVisibility({visibilityProperty: true}) ? [i] : [])
	globalThis.named = i => (allOf(document)[i]?.outerHTML ?? "").replace(/\s+/g, " ").slice(0, 160)
	globalThis.tabStop = async () => {
		let e = document.activeElement
		while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement
		if (!e || e === document.body || e === document.documentElement) return {at: -1}
		const outlined = e.closest(".cm-content")?.closest(".cm-editor") ?? e
		for (let n = 0; n < 60 && outlined !== e && !outlined.classList.contains("cm-focused"); n++) await new Promise(requestAnimationFrame)
		const box = e.getBoundingClientRect()
		const style = getComputedStyle(outlined)
		return {at: allOf(document).indexOf(e), outline: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
			inView: box.width > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth}
	}
	document.body.tabIndex = -1
	document.body.focus()
	document.body.removeAttribute("tabindex")`

// tabStop is where the focus is; see stopScript.
type tabStop struct {
	At              int
	Outline, InView bool
}

// walk presses Tab, or Shift and Tab, until the focus has left the page, and returns the numbers
// of the elements on its way. Where the focus is must be seen, and the way must not end in a trap.
func (p *tab) walk(name string, modifiers int) (way []int) {
	p.t.Helper()
	var stops []int
	p.eval(`tabStops()`, &stops)
	for range 2*len(stops) + 10 {
		p.press("Tab", modifiers)
		var stop tabStop
		p.eval(`tabStop()`, &stop)
		if stop.At < 0 || len(way) > 0 && stop.At == way[0] {
			return way
		}
		if !stop.Outline || !stop.InView {
			p.t.Errorf("%s: the focus is not seen (outline %v, in view %v) on %s", name, stop.Outline, stop.InView, p.named(stop.At))
		}
		way = append(way, stop.At)
	}
	p.t.Errorf("%s: %d times Tab do not leave the page: %s", name, len(way), p.named(way[len(way)-1]))
	return way
}

// named is the beginning of the markup of an element.
func (p *tab) named(at int) (markup string) {
	p.t.Helper()
	p.eval(`named(`+quote(at)+`)`, &markup)
	return markup
}

// Tab reaches all controls of each page in their order, first a link to the content, and
// leaves the page; so does Shift and Tab in the other direction. The focus is always seen.
func TestTabOnEveryPage(t *testing.T) {
	e, _, paths := filledConsole(t)
	p := newTab(t, startTestBrowser(t))
	p.send("Emulation.setDeviceMetricsOverride", map[string]any{"width": 1280, "height": 800, "deviceScaleFactor": 1, "mobile": false}, nil)
	for i, path := range append([]string{"/console/login"}, paths...) {
		if i == 1 {
			p.signIn(e)
		}
		p.open(e.URL + path)
		p.eval(stopScript, nil)
		var stops []int
		p.eval(`tabStops()`, &stops)
		way := p.walk(path, 0)
		if len(way) == 0 || !strings.Contains(p.named(way[0]), "skip") {
			t.Errorf("%s: Tab does not come to the link to the content first: %v", path, way)
		}
		if !slices.IsSorted(way) {
			t.Errorf("%s: Tab does not follow the document: %v", path, way)
		}
		for _, stop := range stops {
			if !slices.Contains(way, stop) {
				t.Errorf("%s: Tab does not reach %s", path, p.named(stop))
			}
		}
		back := p.walk(path, 8)
		slices.Reverse(back)
		if !slices.Equal(back, way) {
			t.Errorf("%s: Shift and Tab take another way back: %v, %v", path, way, back)
		}
	}
}

// signIn signs in with the keyboard.
func (p *tab) signIn(e *env) {
	p.t.Helper()
	p.open(e.URL + "/console/login")
	p.sees(`document.activeElement?.name === "token"`)
	p.typeText(adminToken)
	p.press("Enter", 0)
	p.sees(`location.pathname === "/console/routines" && document.readyState === "complete"`)
}

// reach presses Tab until an expression about the focused element e is true.
func (p *tab) reach(expression string) {
	p.t.Helper()
	for range 150 {
		p.press("Tab", 0)
		var there bool
		if p.eval(`(e => !!(`+expression+`))(document.activeElement)`, &there); there {
			return
		}
	}
	p.t.Fatalf("150 times Tab do not reach %s", expression)
}

// goes waits for a page with a heading.
func (p *tab) goes(heading string) {
	p.t.Helper()
	p.sees(`document.readyState === "complete" && document.querySelector("h1")?.textContent.startsWith(` + quote(heading) + `)`)
}

// Routines are found, run, edited and archived, and tokens are made and revoked, without a mouse.
func TestWorkWithoutAMouse(t *testing.T) {
	e := newEnv(t)
	r := e.create(searchText)
	p := newTab(t, startTestBrowser(t))
	p.signIn(e)

	p.press("/", 0)
	p.sees(`document.activeElement.name === "q"`)
	p.typeText("search")
	p.press("Enter", 0)
	p.sees(`location.search.includes("q=search") && document.readyState === "complete"`)
	p.press("j", 0)
	p.sees(`document.activeElement.textContent === "search_products"`)
	p.press("Enter", 0)
	p.goes("search_products")

	p.press("r", 0)
	p.reach(`e.name === "p.query"`)
	p.press("Enter", 0)
	p.sees(`document.activeElement.matches(".fault") && document.activeElement.textContent.includes("Not started")`)
	p.forgive() // the status 400
	p.reach(`e.getAttribute("href") === "#p0"`)
	p.press("Enter", 0)
	p.sees(`document.activeElement.name === "p.query"`)
	p.typeText("lamp")
	p.press("Enter", 0)
	p.sees(`location.pathname.includes("/executions/") && document.querySelector("#run-status")?.textContent.includes("completed") &&
		document.readyState === "complete"`)
	p.press("r", 0)
	p.sees(`document.readyState === "complete" && document.querySelector("[name='p.query']")?.value === "lamp"`)

	p.press("e", 0)
	p.goes("Edit search_products")
	p.sees(`!!document.querySelector("rote-editor")?.view`)
	p.reach(`e.matches("rote-editor") && e.shadowRoot.activeElement.matches(".cm-content")`)
	for _, key := range []string{"ArrowDown", "ArrowDown", "End", "ArrowLeft", "ArrowLeft"} { // the end of the description
		p.press(key, 0)
	}
	p.typeText(" All of it.")
	p.press("Escape", 0)
	p.reach(`e.textContent.trim() === "Cancel"`)
	p.press("Tab", 8)
	p.press("Tab", 8)
	p.press("Tab", 8)
	p.sees(`document.activeElement.textContent.startsWith("Save as version 2")`)
	p.press("Enter", 0)
	p.goes("search_products v2")
	p.reach(`e.textContent === "Archive"`)
	p.press("Enter", 0)
	p.sees(`document.readyState === "complete" && document.querySelector(".status")?.textContent === "archived"`)
	got, err := e.service.Routine(t.Context(), ada, r.ID)
	if err != nil || got.Status != routine.StatusArchived || got.Version != 3 || got.Description != "Searches the shop. All of it." {
		t.Errorf("%+v %v", got, err)
	}
	p.grantAndRevoke()
}

// grantAndRevoke makes a token and revokes it, with keys alone.
func (p *tab) grantAndRevoke() {
	p.t.Helper()
	p.press("g", 0)
	p.press("t", 0)
	p.goes("Tokens")
	p.reach(`e.textContent === "New token"`)
	p.press("Enter", 0)
	p.reach(`e.name === "user"`)
	p.typeText("grace")
	p.reach(`e.value === "routines:read"`)
	p.press(" ", 0)
	p.press("Enter", 0)
	p.goes("New token")
	p.sees(`document.querySelector("#token").textContent.startsWith("rote_")`)
	p.press("g", 0)
	p.press("t", 0)
	p.goes("Tokens")
	p.reach(`e.matches("summary") && e.textContent.includes("of grace")`)
	p.press("Enter", 0)
	p.press("Tab", 0)
	p.press("Enter", 0)
	p.sees(`[...document.querySelectorAll("td .revoked")].length === 1`)
}

// Keys open and close the menu of the settings and the list of shortcuts, change a filter, and a
// shortcut does nothing once shortcuts are off.
func TestKeysOfMenus(t *testing.T) {
	e := newEnv(t)
	e.create(searchText)
	p := newTab(t, startTestBrowser(t))
	p.signIn(e)

	p.press("?", 0)
	p.sees(`document.querySelector("#keys").open && document.querySelector("#keys").contains(document.activeElement)`)
	p.press("Escape", 0)
	p.sees(`!document.querySelector("#keys").open`)

	p.reach(`e.name === "status"`)
	p.press("ArrowDown", 0)
	p.reach(`e.textContent === "Filter"`)
	p.press("Enter", 0)
	p.sees(`new URLSearchParams(location.search).get("status") === "active" && document.readyState === "complete"`)

	p.reach(`e.getAttribute("popovertarget") === "settings"`)
	p.press("Enter", 0)
	p.press("Tab", 0)
	p.sees(`document.querySelector("#settings").matches(":popover-open") && document.activeElement.name === "theme"`)
	p.press("Escape", 0)
	p.sees(`!document.querySelector("#settings").matches(":popover-open") && document.activeElement.getAttribute("popovertarget") === "settings"`)
	p.press("Enter", 0)
	p.reach(`e.name === "keys"`)
	p.press("ArrowDown", 0)
	p.press("Enter", 0)
	p.sees(`document.activeElement.name === "keys"`)
	p.reach(`e.textContent === "Save settings"`)
	p.press("Enter", 0)
	p.sees(`document.documentElement.dataset.keys === "off" && document.readyState === "complete"`)
	p.press("?", 0)
	p.press("n", 0)
	var open bool
	if p.eval(`document.querySelector("#keys").open || location.pathname !== "/console/routines"`, &open); open {
		t.Error("a shortcut that is off did something")
	}
}
