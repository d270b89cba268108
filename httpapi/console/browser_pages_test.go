package console_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"net/http"
	"os"
	"strings"
	"testing"

	"rote/httpapi/console"
	"rote/routine"
	"rote/routine/service"
)

// screens are the widths and colours in which pages are looked at.
var screens = []struct {
	width  int
	colour string
}{{1280, "light"}, {390, "dark"}, {320, "light"}, {1280, "dark"}, {390, "light"}, {320, "dark"}}

// plainScreens is how many of them are looked at without ROTE_AXE.
const plainScreens = 3

// filledConsole is a console with something on each page, and the paths of its pages, of which one
// is that of a run that ends with the test.
func filledConsole(t *testing.T) (e *env, running string, paths []string) {
	t.Helper()
	e = newLessonEnv(t, func(c *envConfig) {
		c.service.LiveView = true
		c.console.Examples = []console.Example{{Name: "search_products", Definition: []byte(searchText)}}
		c.console.About = func() []console.Fact { return []console.Fact{{Name: "Version", Value: "1"}} }
	})
	var picture bytes.Buffer
	if err := jpeg.Encode(&picture, image.NewGray(image.Rect(0, 0, 64, 36)), nil); err != nil {
		t.Fatal(err)
	}
	e.browser.Page.Capture = func(context.Context, []string) (*routine.Screenshot, error) {
		return &routine.Screenshot{ContentType: "image/jpeg", Width: 64, Height: 36, Data: picture.Bytes()}, nil
	}
	e.browser.Page.Picture = func(context.Context) ([]byte, error) { return picture.Bytes(), nil }
	long := strings.Repeat("averylongwordwithoutabreak", 8)
	r := e.create(strings.Replace(searchText, "Searches the shop.", "Searches "+long, 1))
	completed := e.run(r.ID, `{"query":"lamp"}`)
	if _, _, err := e.service.PatchRoutine(t.Context(), ada, r.ID, []byte(`{"description": "Searches."}`), nil); err != nil {
		t.Fatal(err)
	}
	e.addRun(1, failed)
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	e.browser.Page.Navigate = func(ctx context.Context, url string) (routine.Navigation, error) {
		if strings.Contains(url, "slow") {
			<-release
		}
		return routine.Navigation{URL: url, Status: http.StatusOK}, nil
	}
	slow, err := e.service.Start(t.Context(), ada, e.create(strings.Replace(unsavedText, "shop.example", "slow.example", 1)).ID, service.Call{})
	if err != nil {
		t.Fatal(err)
	}
	e.signIn()
	e.post("/console/secrets", http.StatusSeeOther, "name", "shop", "hosts", "shop.example", "field_rule", "password", "project", "true",
		"field_name", "password", "field_value", "hunter2-hunter2")
	taught, _ := e.startLesson()
	one, running := "/console/routines/"+r.ID, "/console/executions/"+slow.ID
	return e, running, []string{"/console/routines", "/console/routines?q=nothing", one, one + "?from=" + completed.ID, one + "/edit", one + "/versions/2",
		"/console/routines/new", "/console/routines/import", "/console/executions", "/console/executions?status=failed", "/console/executions/" + completed.ID,
		"/console/executions/run-1", running, "/console/schedules", "/console/schedules/new", "/console/secrets",
		"/console/new-secret", "/console/secrets/shop?project=true", "/console/sessions", "/console/new-session", "/console/tokens", "/console/health",
		"/console/lessons", "/console/lessons?execution=run-1", taught}
}

// Every page works in a browser: nothing breaks the content policy or writes an error to the
// console, and it fits into a narrow screen. With ROTE_AXE, the file axe.min.js of axe-core,
// nothing on it keeps somebody out either.
func TestPagesInABrowser(t *testing.T) {
	e, running, paths := filledConsole(t)
	client := startTestBrowser(t)
	p := newTab(t, client)
	looked := screens
	axe, err := os.ReadFile(os.Getenv("ROTE_AXE"))
	if os.Getenv("ROTE_AXE") == "" {
		looked = screens[:plainScreens]
	} else if err != nil {
		t.Fatal(err)
	}
	p.open(e.URL + "/console/login")
	p.check("the sign-in page", string(axe))
	p.eval(`document.querySelector("[name=token]").value = `+quote(adminToken)+`, document.querySelector("main button").click()`, nil)
	p.sees(`location.pathname === "/console/routines" && document.readyState === "complete"`)
	p.open(e.URL + running)
	p.eval(`document.querySelector("#live-view summary").click()`, nil)
	p.sees(`document.querySelector("#live-view img").naturalWidth === 64`)
	for _, screen := range looked {
		p.send("Emulation.setDeviceMetricsOverride", map[string]any{"width": screen.width, "height": 800, "deviceScaleFactor": 1, "mobile": false}, nil)
		p.send("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": screen.colour}}}, nil)
		for _, path := range paths {
			p.open(e.URL + path)
			p.check(fmt.Sprintf("%s, %d px, %s", path, screen.width, screen.colour), string(axe))
		}
		for _, path := range []string{"/console/run", "/console/lessons/resolve"} { // which ask for the values of a text
			p.eval(`{
				const form = document.createElement("form")
				form.method = "post"
				form.action = `+quote(path)+`
				const text = document.createElement("textarea")
				text.name = "definition"
				text.value = `+quote(searchText)+`
				form.append(text)
				document.body.append(form)
				form.submit()
			}`, nil)
			p.sees(`location.pathname === ` + quote(path) + ` && document.readyState === "complete"`)
			p.check(fmt.Sprintf("%s, %d px, %s", path, screen.width, screen.colour), string(axe))
		}
	}
}

// open opens a page and waits until its scripts have run.
func (p *tab) open(url string) {
	p.t.Helper()
	p.send("Page.navigate", map[string]any{"url": url}, nil)
	p.sees(`document.URL === ` + quote(url) + ` && document.readyState === "complete"`)
}

// check fails the test if a page is wider than the screen, has no title, heading or main part, or
// if axe, unless it is empty, finds something.
func (p *tab) check(name, axe string) {
	p.t.Helper()
	var problems []string
	p.eval(`[
		document.documentElement.scrollWidth > innerWidth && "it is " + document.documentElement.scrollWidth + " px wide: " +
			[...document.querySelectorAll("main *, header *")].filter(e => e.getBoundingClientRect().right > innerWidth && !e.closest(".scroll, pre, table"))
				.slice(0, 3).map(e => e.outerHTML.slice(0, 120)),
		document.querySelectorAll("h1").length !== 1 && "it has not one heading",
		!document.querySelector("main") && "it has no main part",
	].filter(Boolean)`, &problems)
	if axe != "" {
		var found []string
		p.eval(axe+`; axe.run({runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}).then(r =>
			r.violations.map(v => v.id + ": " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160)).join(" ")))`, &found)
		problems = append(problems, found...)
	}
	for _, problem := range problems {
		p.t.Errorf("%s: %s", name, problem)
	}
}
