package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"rote/routine"
)

const unsavedText = `{"name": "not_stored", "description": "d", "operations": [{"type": "navigate", "url": "https://shop.example/"}, {"type": "return_html"}]}`

// The text of the editor runs without being saved; its run leads back to the editor.
func TestUnsavedTextIsRun(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.browser.Page.HTML = "<p>"
	r := e.create(searchText)
	e.signInAsWriter()
	for _, row := range []struct{ id, version, back string }{
		{"", "", "/console/routines/new"}, {r.ID, "1", "/console/routines/" + r.ID + "/edit?version=1"},
	} {
		posted := []string{"definition", unsavedText, "id", row.id, "version", row.version, "key", "of " + row.id}
		started := e.post("/console/run", http.StatusSeeOther, posted...)
		run, to := e.started(started), started.Header.Get("Location")
		if run.RoutineID != "" || run.RoutineName != "not_stored" || run.Via != routine.ViaConsole || run.Status != routine.ExecutionCompleted {
			t.Errorf("%+v", run)
		}
		if page := outline(t, e.get(to, http.StatusOK).body); !strings.Contains(page, "[Back to the editor]("+row.back+")") {
			t.Errorf("%s does not lead back:\n%s", to, page)
		}
		if again := e.post("/console/run", http.StatusSeeOther, posted...); again.Header.Get("Location") != to {
			t.Error("a form that was sent twice started two runs")
		}
	}
	if _, total, err := e.service.Routines(t.Context(), ada, routine.RoutineFilter{}); err != nil || total != 1 {
		t.Errorf("%d routines are stored: %v", total, err)
	}
}

func TestUnsavedTextAsksForItsValues(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.browser.Page.HTML = "<p>"
	r := e.create(searchText)
	e.signInAsWriter()
	changed := strings.Replace(searchText, `"name": "search_products"`, `"name": "changed"`, 1)
	text := []string{"definition", strings.ReplaceAll(changed, "\n", "\r\n"), "id", r.ID, "version", "1", "key", "k"}
	page := e.post("/console/run", http.StatusOK, text...)
	golden(t, "unsaved.txt", e.shape(page))
	next := "/console/routines/" + r.ID + "/edit?version=1"
	filled := []string{"definition", changed, "values", "given", "next", next, "key", "k"}
	golden(t, "unsaved_wrong_values.txt", e.shape(e.post("/console/run", http.StatusBadRequest, append(filled, "p.query", "", "timeout", "9999")...)))
	to := e.post("/console/run", http.StatusSeeOther, append(filled, "p.query", "lamp")...).Header.Get("Location")
	if !strings.HasSuffix(to, "?back="+url.QueryEscape(next)) {
		t.Error(to)
	}
	// The way back to the editor keeps the text.
	back := e.post("/console/resume", http.StatusOK, filled...)
	if !strings.Contains(back.body, `action="/console/routines/`+r.ID+`"`) || !strings.Contains(outlineText(back.body), `"name": "changed"`) {
		t.Error(back.body)
	}
}

func TestUnsavedTextIsRefused(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	r := e.create(searchText)
	e.signInAsWriter()
	golden(t, "editor_not_run.txt", e.shape(e.post("/console/run", http.StatusBadRequest, "definition", "{}", "id", r.ID, "version", "1")))
	for _, back := range []string{"https://evil.example/console/x", "//evil.example/console/", "javascript:alert(1)", "/other", "/console/../x"} {
		to := e.post("/console/run", http.StatusSeeOther, "definition", unsavedText, "next", back, "key", back).Header.Get("Location")
		if strings.Contains(to, "evil") || strings.Contains(to, "other") {
			t.Errorf("%s leads to %s", back, to)
		}
		path, _, _ := strings.Cut(to, "?")
		if page := e.get(path+"?back="+url.QueryEscape(back), http.StatusOK).body; strings.Contains(page, "Back to the editor") {
			t.Errorf("the page of the run leads back to %s", back)
		}
	}
	for _, scopes := range [][]string{{"routines:read", "routines:write"}, {"routines:read", "executions:run"}} {
		e.signIn(scopes...)
		e.post("/console/run", http.StatusForbidden, "definition", unsavedText)
		page := outline(t, e.get("/console/routines/"+r.ID+"/edit", http.StatusOK).body)
		if !strings.Contains(page, "<Run without saving (needs a token with the scope executions:run)> disabled") &&
			!strings.Contains(page, "<Run without saving> disabled") {
			t.Errorf("%v:\n%s", scopes, page)
		}
	}
}
