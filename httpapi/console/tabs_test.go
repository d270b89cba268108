package console_test

import (
	"context"
	"net"
	"net/http"
	"testing"

	"rote/routine"
	"rote/routine/service"
)

// runThatWaits starts a run of one operation that ends when the channel is closed.
func (e *env) runThatWaits() (path string, end chan struct{}) {
	e.t.Helper()
	end = make(chan struct{})
	e.browser.Page.Navigate = func(ctx context.Context, url string) (routine.Navigation, error) {
		select {
		case <-end:
		case <-ctx.Done():
			return routine.Navigation{}, ctx.Err()
		}
		return routine.Navigation{URL: url, Status: http.StatusOK}, nil
	}
	run, err := e.service.Start(e.t.Context(), ada, e.create(unsavedText).ID, service.Call{})
	if err != nil {
		e.t.Fatal(err)
	}
	return "/console/executions/" + run.ID, end
}

// A browser keeps six connections to a server. Seven tabs follow one run, and an eighth opens
// other pages.
func TestSevenTabsOnARun(t *testing.T) {
	e := newEnv(t)
	e.browser.Page.HTML = "<p>"
	path, end := e.runThatWaits()
	client := startTestBrowser(t)
	var tabs []*tab
	for i := range 8 {
		p := newTab(t, client)
		if i == 0 {
			p.signIn(e)
		}
		p.open(e.URL + path)
		p.sees(`document.querySelector("#run-status").textContent.includes("running")`)
		tabs = append(tabs, p)
	}
	tabs[7].open(e.URL + "/console/routines")
	close(end)
	for _, p := range tabs[:7] {
		p.sees(`document.querySelector("#run-status")?.textContent.includes("completed")`)
	}
}

// serve serves the console at an address, until the returned function is called.
func (e *env) serve(address string) (l net.Listener, stop func()) {
	e.t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		e.t.Fatal(err)
	}
	s := &http.Server{Handler: e.Config.Handler}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	return l, func() { s.Close(); <-ended }
}

// The page of a run says that the server is gone, and continues when it is back, also after an
// error of a proxy in between.
func TestServerRestartsUnderALiveRun(t *testing.T) {
	e := newEnv(t)
	e.browser.Page.HTML = "<p>"
	path, end := e.runThatWaits()
	l, stop := e.serve("127.0.0.1:0")
	e.URL = "http://" + l.Addr().String()
	p := newTab(t, startTestBrowser(t))
	p.signIn(e)
	p.open(e.URL + path)
	p.sees(`document.querySelector("#run-status").textContent.includes("running")`)
	const lost = `document.querySelector("#live-state").textContent.startsWith("connection lost, showing ") && !document.querySelector("#live-state").hidden`

	stop()
	p.sees(lost)
	handler := e.Config.Handler
	refusing := make(chan struct{}, 1)
	e.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadGateway)
		select {
		case refusing <- struct{}{}:
		default:
		}
	})
	_, stop = e.serve(l.Addr().String())
	<-refusing
	p.sees(lost)
	stop()

	e.Config.Handler = handler
	_, stop = e.serve(l.Addr().String())
	defer stop()
	p.sees(`document.querySelector("#live-state").hidden`)
	close(end)
	p.sees(`document.querySelector("#run-status")?.textContent.includes("completed")`)
	p.forgive() // connections that failed
}

// A routine that another tab has archived says so when it is run, and a change of a version that
// is no longer the newest is refused.
func TestTwoTabsOnARoutine(t *testing.T) {
	e := newEnv(t)
	r := e.create(searchText)
	page := e.URL + "/console/routines/" + r.ID
	client := startTestBrowser(t)
	one, other, third := newTab(t, client), newTab(t, client), newTab(t, client)
	one.signIn(e)
	other.open(page)
	other.fill("p.query", "lamp")
	third.open(page)
	one.open(page)
	one.click("Archive")
	one.says("The routine is archived")

	other.eval(`document.querySelector("main form[action$='/run'] button.primary").click()`, nil)
	other.says("Not started: the routine is archived: make it active first")
	third.click("Make it a draft")
	third.says("version 2")
	if r, err := e.service.Routine(t.Context(), ada, r.ID); err != nil || r.Status != routine.StatusArchived || e.browser.Opened() != 0 {
		t.Errorf("%v, %d pages were opened, %v", r, e.browser.Opened(), err)
	}
	other.forgive() // the status 409
	third.forgive() // the status 412
}

// history returns the id of the entry of the history that is some steps from the present one.
func (p *tab) history(steps int) int {
	p.t.Helper()
	var h struct {
		CurrentIndex int
		Entries      []struct{ ID int }
	}
	p.send("Page.getNavigationHistory", map[string]any{}, &h)
	return h.Entries[h.CurrentIndex+steps].ID
}

// The way back from a routine and from a run leads to the list with its filters.
func TestBackKeepsFilters(t *testing.T) {
	e := newEnv(t)
	e.run(e.create(searchText).ID, `{"query":"lamp"}`)
	p := newTab(t, startTestBrowser(t))
	p.signIn(e)
	for _, row := range []struct{ list, query, link, filter string }{
		{"routines", "?q=search&status=active&tag=shop&mcp=yes", "search_products", `[name=status]`},
		{"executions", "?status=completed&routine=&via=rest&code=&user=&since=24h", "", `[name=via]`},
	} {
		p.open(e.URL + "/console/" + row.list + row.query)
		p.eval(`document.querySelector("main table tbody th a").click()`, nil)
		p.sees(`document.readyState === "complete" && location.search === ""`)
		p.send("Page.navigateToHistoryEntry", map[string]any{"entryId": p.history(-1)}, nil)
		p.sees(`document.readyState === "complete" && location.search === ` + quote(row.query) + ` && document.querySelector(` + quote(row.filter) + `)?.value !== ""
			&& document.querySelectorAll("main table tbody tr").length === 1`)
	}
}

// The list of executions does not move while somebody reads it: new ones come when they are asked for.
func TestListStaysWhileItIsRead(t *testing.T) {
	e := newEnv(t)
	e.addRun(1, failed)
	p := newTab(t, startTestBrowser(t))
	p.signIn(e)
	p.open(e.URL + "/console/executions")
	p.eval(`document.querySelector("#executions th a").focus()`, nil)
	e.addRun(2, failed)
	p.sees(`document.querySelector("#show-new").textContent === "1 new run — show" && document.querySelector("#show-new").checkVisibility()`)
	p.sees(`document.querySelectorAll("#executions tbody tr").length === 1 && document.activeElement.closest("tr").id === "run-run-1"`)
	p.eval(`document.querySelector("#show-new").click()`, nil)
	p.sees(`[...document.querySelectorAll("#executions tbody tr")].map(e => e.id).join() === "run-run-2,run-run-1"`)
}

// A button that copies says whether it did.
func TestCopying(t *testing.T) {
	e := newEnv(t)
	run := e.run(e.create(searchText).ID, `{"query":"lamp"}`)
	p := newTab(t, startTestBrowser(t))
	p.signIn(e)
	for setting, mark := range map[string]string{"granted": "yes", "denied": "no"} {
		p.send("Browser.setPermission", map[string]any{"origin": e.URL, "permission": map[string]any{"name": "clipboard-write"}, "setting": setting}, nil)
		p.open(e.URL + "/console/executions/" + run.ID)
		p.reach(`e.textContent === "Copy as cURL"`)
		p.press("Enter", 0)
		p.sees(`document.activeElement.dataset.copied === ` + quote(mark))
		p.sees(`getComputedStyle(document.activeElement, "::after").content.length > 2`)
	}
}
