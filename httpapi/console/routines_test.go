package console_test

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"rote/httpapi/console"
	"rote/routine"
	"rote/routine/service"
)

// ada is the person who signs in with scopes, as the service knows her.
var ada = routine.Principal{UserID: "ada", OrganizationID: "default", ProjectID: "default", Scopes: routine.ScopeAdmin}

const searchText = `{"name": "search_products", "description": "Searches the shop.", "tags": ["shop"],
	"parameters": [{"name": "query", "description": "Part of a name", "examples": ["lamp"], "validation": {"max_length": 100}}],
	"operations": [{"type": "navigate", "url": "https://shop.example/?q={{query}}"}, {"type": "click", "selector": "#search"},
		{"type": "js_evaluate", "js": "(() => document.title)()", "session_storage_key": "title"}, {"type": "return", "session_storage_key": "title"}]}`

// create stores a routine of ada.
func (e *env) create(text string) *routine.Routine {
	e.t.Helper()
	r, _, err := e.service.CreateRoutine(e.t.Context(), ada, []byte(text), service.Idempotency{})
	if err != nil {
		e.t.Fatal(err)
	}
	return r
}

// run runs a routine to its end, and returns the execution.
func (e *env) run(id, parameters string) *routine.Execution {
	e.t.Helper()
	run, err := e.service.Execute(e.t.Context(), ada, id, service.Call{Parameters: []byte(parameters), Via: routine.ViaREST})
	if run == nil {
		e.t.Fatal(err)
	}
	return run
}

var (
	changingIDs   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)
	changingTimes = regexp.MustCompile(`\d{1,2} [A-Z][a-z]{2} \d{4}, \d\d:\d\d:\d\d UTC \d+ s ago`)
	changingTook  = regexp.MustCompile(`\b\d+ ms\b`)
	changingKeys  = regexp.MustCompile(`key="[A-Z2-7]{26}"`)
)

// shape returns the outline of a page without what differs from run to run.
func (e *env) shape(page answer) string {
	e.t.Helper()
	text := strings.ReplaceAll(outline(e.t, page.body), e.URL, "http://SERVER")
	text = changingIDs.ReplaceAllString(text, "ID")
	text = changingTimes.ReplaceAllString(text, "TIME")
	text = changingKeys.ReplaceAllString(text, `key="KEY"`)
	return changingTook.ReplaceAllString(text, "N ms")
}

// browserThatIsMissing is a browser that does not start.
type browserThatIsMissing struct{ routine.Browser }

func (browserThatIsMissing) Ready(context.Context) error {
	return routine.Errorf(routine.CodeBrowserUnavailable, "there is no browser on this machine")
}

func TestFirstRunPage(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.signIn("routines:read", "routines:write")
	golden(t, "first_run.txt", e.shape(e.get("/console/routines", http.StatusOK)))
	e.post("/console/demo", http.StatusNotFound)
}

func TestDemoIsStoredOnce(t *testing.T) {
	t.Parallel()
	e := newEnv(t, func(c *envConfig) {
		c.console.Examples = []console.Example{{Name: "search_products", Definition: []byte(searchText), Values: map[string]string{"query": "lamp & more"}},
			{Name: "other", Definition: []byte(strings.Replace(searchText, "search_products", "other", 1))}}
		c.service.Browser = browserThatIsMissing{c.service.Browser}
	})
	e.signIn("routines:read", "routines:write", "executions:run")
	golden(t, "first_run_demo.txt", e.shape(e.get("/console/routines", http.StatusOK)))
	first := e.post("/console/demo", http.StatusSeeOther).Header.Get("Location")
	if again := e.post("/console/demo", http.StatusSeeOther).Header.Get("Location"); again != first {
		t.Errorf("a form that was sent twice led to %s and %s", first, again)
	}
	if got := outline(t, e.get(first, http.StatusOK).body); !strings.Contains(got, `input text p.query="lamp & more"`) {
		t.Error(got)
	}
	if n := strings.Count(e.get("/console/routines", http.StatusOK).body, `aria-label="Run `); n != 2 {
		t.Errorf("%d routines are stored", n)
	}
}

func TestRoutineListFiltersAndPages(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	for i := range 27 {
		e.create(fmt.Sprintf(`{"name": "page_%d", "description": "d", "tags": ["t & u"], "operations": [{"type": "return_html"}]}`, i))
	}
	e.create(searchText)
	e.signIn("routines:read")
	first := e.get("/console/routines", http.StatusOK)
	if n := strings.Count(first.body, `aria-label="Run `); n != 25 || !strings.Contains(first.body, "1–25 of 28") {
		t.Errorf("the first page has %d routines", n)
	}
	second := e.get("/console/routines?page=2&tag=t+%26+u", http.StatusOK)
	if !strings.Contains(second.body, "26–27 of 27") || !strings.Contains(second.body, `href="/console/routines?page=1&amp;tag=t&#43;%26&#43;u"`) {
		t.Error(second.body)
	}
	golden(t, "routines.txt", e.shape(e.get("/console/routines?q=SHOP+search&mcp=yes&status=active", http.StatusOK)))
	golden(t, "routines_no_match.txt", e.shape(e.get("/console/routines?q=nothing", http.StatusOK)))
	e.get("/console/routines?page=-1&status=odd&mcp=odd", http.StatusOK)
	e.get("/console/routines?page=99999", http.StatusOK)
}

// The list says of each routine how its newest runs went, to those who may read executions.
func TestRoutineListShowsRuns(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.browser.Page.HTML = "<p>hello</p>"
	text := func(name, description string) string {
		return strings.Replace(strings.Replace(unsavedText, "not_stored", name, 1), `"d"`, `"`+description+`"`, 1)
	}
	e.create(text("never", "d"))
	good, changed, bad := e.create(text("good", "d")), e.create(text("changed", "d")), e.create(text("bad", "d"))
	for range shownInList + 1 {
		e.run(good.ID, "")
	}
	e.run(changed.ID, "")
	if _, _, err := e.service.ReplaceRoutine(t.Context(), ada, changed.ID, []byte(text("changed", "e")), nil); err != nil {
		t.Fatal(err)
	}
	e.browser.OpenError = routine.Errorf(routine.CodeBrowserUnavailable, "no browser")
	e.run(changed.ID, "")
	e.run(bad.ID, "")
	e.browser.OpenError = nil
	e.signIn("routines:read", "executions:read")
	page := e.get("/console/routines", http.StatusOK)
	golden(t, "routines_runs.txt", e.shape(page))
	for _, words := range []string{"last runs: 12 completed, 0 failed", "last runs: 1 completed, 1 failed", "last runs: 0 completed, 1 failed"} {
		if !strings.Contains(page.body, `aria-label="`+words+`"`) {
			t.Errorf("no picture says %q", words)
		}
	}
}

// shownInList is how many runs the list shows of a routine.
const shownInList = 12

func TestRoutinePage(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	r := e.create(searchText)
	e.signIn("routines:read", "routines:write", "executions:run", "executions:read")
	page := e.get("/console/routines/"+r.ID, http.StatusOK)
	golden(t, "routine.txt", e.shape(page))
	if !strings.Contains(page.body, "claude mcp add --transport http rote "+e.URL+"/mcp") {
		t.Error("the snippets do not have the address of this server")
	}
	e.get("/console/routines/Routine_none", http.StatusNotFound)
}

func TestRoutineThatFailsSinceAVersion(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	r := e.create(`{"name": "n", "description": "d", "operations": [{"type": "navigate", "url": "https://shop.example/"}, {"type": "return_html"}]}`)
	e.browser.Page.HTML = "<p>hello</p>"
	e.run(r.ID, "")
	if _, _, err := e.service.ReplaceRoutine(t.Context(), ada, r.ID, []byte(`{"name": "n", "description": "d", "operations": [
		{"type": "navigate", "url": "https://shop.example/"}, {"type": "click", "selector": "#a", "timeout_ms": 10}, {"type": "return_html"}]}`), nil); err != nil {
		t.Fatal(err)
	}
	e.browser.Page.Status = 500
	e.browser.OpenError = routine.Errorf(routine.CodeBrowserUnavailable, "no browser")
	e.run(r.ID, "")
	e.browser.OpenError = nil
	e.signIn("routines:read", "routines:write", "executions:run", "executions:read")
	golden(t, "routine_failing.txt", e.shape(e.get("/console/routines/"+r.ID, http.StatusOK)))
	restored := e.post("/console/routines/"+r.ID+"/restore", http.StatusSeeOther, "to", "1", "version", "2").Header.Get("Location")
	got := e.get(restored, http.StatusOK).body
	if !strings.Contains(got, "Version 1 is restored, as version 3.") || !strings.Contains(got, `name="to" value="2"`) {
		t.Error(got)
	}
	e.post("/console/routines/"+r.ID+"/restore", http.StatusPreconditionFailed, "to", "1", "version", "2")
}

func TestLifecycleAndItsUndo(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	r := e.create(searchText)
	e.signIn("routines:read", "routines:write")
	version := 1
	for _, row := range []struct{ change, undo, status string }{
		{"unpublish", "publish", "active"}, {"publish", "unpublish", "active"}, {"draft", "activate", "draft"},
		{"activate", "draft", "active"}, {"archive", "activate", "archived"}, {"activate", "draft", "active"},
	} {
		path := "/console/routines/" + r.ID + "/" + row.change
		e.post(path, http.StatusPreconditionFailed, "version", "99")
		to := e.post(path, http.StatusSeeOther, "version", fmt.Sprint(version)).Header.Get("Location")
		version++
		got := e.get(to, http.StatusOK).body
		stored, err := e.service.Routine(t.Context(), ada, r.ID)
		if err != nil || string(stored.Status) != row.status || stored.Version != version {
			t.Fatalf("after %s: %+v, %v", row.change, stored, err)
		}
		if !strings.Contains(got, `action="/console/routines/`+r.ID+"/"+row.undo+`"><input type="hidden" name="version"`) {
			t.Errorf("the notice of %s has no undo by %s", row.change, row.undo)
		}
	}
}

// A person whose token lacks a scope sees the button with the reason, and is refused.
func TestScopesOfRoutinePages(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	r := e.create(searchText)
	e.signIn("routines:read")
	page := e.get("/console/routines/"+r.ID, http.StatusOK)
	golden(t, "routine_read_only.txt", e.shape(page))
	path := "/console/routines/" + r.ID
	for _, post := range []string{path + "/run", path + "/archive", path + "/restore", path, "/console/routines"} {
		got := e.post(post, http.StatusForbidden, "p.query", "lamp", "to", "1", "version", "1", "definition", searchText)
		if strings.Contains(post, "/run") && !strings.Contains(got.body, `value="lamp"`) {
			t.Error("the refused form has lost its value")
		}
	}
	for _, name := range []string{"New routine", "Edit", "Archive"} {
		if !strings.Contains(page.body+e.get("/console/routines", http.StatusOK).body, name+` <span class="why">(needs a token with the scope routines:write)`) {
			t.Errorf("%s does not name its scope", name)
		}
	}
	e.signIn("executions:run")
	e.get(path, http.StatusForbidden)
	e.get("/console/routines", http.StatusForbidden)
}

// Texts of authors never become markup, whatever they are.
func TestHostileTextsOfRoutines(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	evil := `<script>alert(1)</script>"'><img src=x onerror=alert(1)>` + "\u202e"
	short, quoted := routine.JSONText(evil), routine.JSONText(evil+strings.Repeat("x", 10_000))
	r := e.create(`{"name": ` + short + `, "description": ` + short + `, "tags": [` + short + `], "parameters": [
		{"name": "a", "description": ` + short + `, "default": ` + quoted + `, "examples": [` + quoted + `]},
		{"name": "b", "type": "enum", "enum_values": [` + quoted + `, "x"], "description": ""}],
		"operations": [{"type": "navigate", "url": "https://shop.example/"}, 
			{"type": "click", "selector": ` + routine.JSONText("[title="+routine.JSONText(evil)+"]") + `},
		{"type": "return_html"}]}`)
	if _, _, err := e.service.PatchRoutine(t.Context(), ada, r.ID, []byte(`{"description": "now"}`), nil); err != nil {
		t.Fatal(err)
	}
	e.signIn("routines:read", "routines:write", "executions:run", "executions:read")
	path := "/console/routines/" + r.ID
	pages := []answer{e.get("/console/routines", 200), e.get(path, 200), e.get(path+"/edit", 200), e.get(path+"/versions/2", 200),
		e.get("/console/routines/new?from="+r.ID, 200), e.post(path+"/run", 400, "p.a", evil, "p.b", evil, "timeout", evil, "json", ""),
		e.post(path+"/run", 400, "json", evil), e.post(path, 400, "definition", evil, "version", "2"), e.post("/console/routines", 400, "definition", evil)}
	for i, page := range pages {
		if strings.Contains(page.body, "<script>alert") || strings.Contains(page.body, "<img src=x") {
			t.Errorf("page %d has the markup of an author", i)
		}
	}
}
