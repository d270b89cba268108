package console_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"rote/routine"
)

const writers = "routines:read routines:write executions:run executions:read"

func (e *env) signInAsWriter() { e.signIn(strings.Fields(writers)...) }

func TestRoutineIsCreatedInTheEditor(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.signInAsWriter()
	page := e.get("/console/routines/new", http.StatusOK)
	golden(t, "editor_new.txt", e.shape(page))
	if !strings.Contains(page.body, `data-schema="/schemas/routine.json" data-draft-key="new" data-version=""`) {
		t.Error(page.body)
	}
	e.get("/schemas/routine.json", http.StatusOK)
	first := e.post("/console/routines", http.StatusSeeOther, "definition", strings.ReplaceAll(searchText, "\n", "\r\n"), "key", "k").Header.Get("Location")
	if again := e.post("/console/routines", http.StatusSeeOther, "definition", searchText, "key", "k").Header.Get("Location"); again != first {
		t.Error("the form that was sent twice created two routines")
	}
	if got := e.get(first, http.StatusOK).body; !strings.Contains(got, "Version 1 is saved.") {
		t.Error(got)
	}
	// The template is a valid routine.
	_, text, _ := strings.Cut(outlineText(page.body), "<textarea>")
	to := e.post("/console/routines", http.StatusSeeOther, "definition", text, "then", "run").Header.Get("Location")
	if !strings.HasSuffix(to, "?done=saved#run") { // it needs an address first
		t.Error(to)
	}
}

// outlineText returns the text of the editor of a page after the mark <textarea>.
func outlineText(page string) string {
	_, text, _ := strings.Cut(page, `autocomplete="off">`+"\n")
	text, _, _ = strings.Cut(text, "</textarea>")
	return "<textarea>" + strings.NewReplacer("&#34;", `"`, "&lt;", "<", "&gt;", ">", "&#39;", "'", "&#43;", "+", "&amp;", "&").Replace(text)
}

func TestInvalidTextIsKeptWithItsProblems(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	r := e.create(searchText)
	e.signInAsWriter()
	wrong := "{\"name\": \"x\", \"description\": \"</textarea>\",\n \"operations\": [{\"type\": \"clik\", \"selector\": \"#a\"}]}"
	got := e.post("/console/routines/"+r.ID, http.StatusBadRequest, "definition", wrong, "version", "1")
	golden(t, "editor_invalid.txt", e.shape(got))
	if _, text, _ := strings.Cut(outlineText(strings.Replace(got.body, ` aria-invalid="true" aria-describedby="faults"`, "", 1)), "<textarea>"); text != wrong {
		t.Errorf("the text came back as %q", text)
	}
	if !strings.Contains(got.body, " data-changed") || !strings.Contains(got.body, `data-at="/operations/0/type"`) {
		t.Error(got.body)
	}
	e.post("/console/routines", http.StatusBadRequest, "definition", wrong)
}

func TestSavingOverAColleague(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	r := e.create(searchText)
	bob := ada
	bob.UserID = "bob <b>"
	if _, _, err := e.service.PatchRoutine(t.Context(), bob, r.ID, []byte(`{"description": "Bob's"}`), nil); err != nil {
		t.Fatal(err)
	}
	e.signInAsWriter()
	mine := strings.Replace(searchText, "Searches", "Mine", 1)
	got := e.post("/console/routines/"+r.ID, http.StatusPreconditionFailed, "definition", mine, "version", "1")
	golden(t, "editor_conflict.txt", e.shape(got))
	e.get("/console/routines/"+r.ID+"/versions/2?against=1", http.StatusOK)
	e.post("/console/routines/"+r.ID, http.StatusSeeOther, "definition", mine, "version", "2")
	if stored, err := e.service.Routine(t.Context(), ada, r.ID); err != nil || stored.Version != 3 || stored.Description != "Mine the shop." {
		t.Errorf("%+v, %v", stored, err)
	}
}

func TestEditorAtAnOperation(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	r := e.create(searchText)
	e.signInAsWriter()
	path := "/console/routines/" + r.ID + "/edit"
	got := e.get(path+"?at=2&selector=%23other+%3E+b", http.StatusOK)
	golden(t, "editor_selector.txt", e.shape(got))
	if !strings.Contains(got.body, ` data-changed data-at="/operations/1/selector"`) {
		t.Error(got.body)
	}
	if got := e.get(path+"?at=1&selector=b", http.StatusOK).body; !strings.Contains(got, "Operation 1 has no selector") || strings.Contains(got, "data-changed") {
		t.Error(got)
	}
	e.get(path+"?at=99&selector=b", http.StatusOK)
	// The service may have the routine in its memory, where runs read it.
	if stored, err := e.service.Routine(t.Context(), ada, r.ID); err != nil || stored.Version != 1 ||
		routine.JSONText(stored.Definition) != routine.JSONText(r.Definition) {
		t.Errorf("opening the editor changed the routine: %+v, %v", stored, err)
	}
	if got := e.get("/console/routines/new?from="+r.ID, http.StatusOK).body; !strings.Contains(got, "search_products_copy") {
		t.Error(got)
	}
}

func TestSaveAndRun(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.browser.Page.HTML = "<p>"
	e.signInAsWriter()
	run := e.started(e.post("/console/routines", http.StatusSeeOther, "then", "run", "definition",
		`{"name": "n", "description": "d", "operations": [{"type": "navigate", "url": "https://shop.example/"}, {"type": "return_html"}]}`))
	if run.Via != routine.ViaConsole || run.Status != routine.ExecutionCompleted {
		t.Errorf("%+v", run)
	}
}

// A text that outlived its sign-in comes back in the editor of its routine, with the version
// that it was made from.
func TestEditorIsResumed(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	r := e.create(searchText)
	path := "/console/routines/" + r.ID
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Origin": {e.URL}, "Referer": {e.URL + path + "/edit?at=2"}}
	refused := e.do("POST", path, header, strings.NewReader("definition=%7Bmine&version=1"))
	if refused.StatusCode != http.StatusUnauthorized || !strings.Contains(refused.body, `name="next" value="`+path+`/edit?version=1"`) {
		t.Fatal(refused.body)
	}
	if _, _, err := e.service.PatchRoutine(t.Context(), ada, r.ID, []byte(`{"description": "newer"}`), nil); err != nil {
		t.Fatal(err)
	}
	e.signInAsWriter()
	got := e.post("/console/resume", http.StatusOK, "definition", "{mine", "next", path+"/edit?version=1")
	golden(t, "editor_resumed.txt", e.shape(got))
	fresh := outline(t, e.post("/console/resume", http.StatusOK, "definition", "{mine", "next", "/console/routines/new").body)
	if !strings.Contains(fresh, "# New routine") || !strings.Contains(fresh, `textarea definition="{mine"`) {
		t.Error(fresh)
	}
}

func TestCheckOfTheEditor(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.signInAsWriter()
	check := func(text string, status int) answer {
		got := e.do("POST", "/console/check", http.Header{"Content-Type": {"application/json"}, "Origin": {e.URL}}, strings.NewReader(text))
		if got.StatusCode != status {
			t.Fatal(got.StatusCode, got.body)
		}
		return got
	}
	type problem struct {
		Line, Column                     int
		Pointer, Message, Hint, Severity string
	}
	read := func(text string) []problem {
		var answered struct{ Problems []problem }
		got := check(text, http.StatusOK)
		if err := json.Unmarshal([]byte(got.body), &answered); err != nil || answered.Problems == nil || got.Header.Get("Content-Type") != "application/json" {
			t.Fatal(got.body, err)
		}
		return answered.Problems
	}
	if got := read(searchText); len(got) != 0 {
		t.Error(got)
	}
	got := read("{\"name\": \"n\", \"description\": \"d\",\n \"operations\": [{\"type\": \"clik\"}]}")
	at := slices.IndexFunc(got, func(p problem) bool { return p.Pointer == "/operations/0/type" })
	if at < 0 || got[at].Line != 2 || got[at].Column != 26 || got[at].Severity != "error" || !strings.Contains(got[at].Hint, "click") {
		t.Errorf("%+v", got)
	}
	if last := got[len(got)-1]; last.Severity != "warning" {
		t.Errorf("%+v", got)
	}
	if got := read(""); len(got) != 1 || got[0].Severity != "error" {
		t.Errorf("%+v", got)
	}
	if got := read(strings.Replace(searchText, `"examples"`, `"x-unit": "items", "examples"`, 1)); len(got) != 0 {
		t.Error(got)
	}
	check(`"`+strings.Repeat("x", 5<<20)+`"`, http.StatusRequestEntityTooLarge)
	e.post("/console/logout", http.StatusSeeOther)
	check(searchText, http.StatusUnauthorized)
}

func TestVersionPage(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	r := e.create(searchText)
	if _, _, err := e.service.ReplaceRoutine(t.Context(), ada, r.ID, []byte(strings.Replace(searchText, "#search", "#serch", 1)), nil); err != nil {
		t.Fatal(err)
	}
	e.signInAsWriter()
	path := "/console/routines/" + r.ID + "/versions/"
	golden(t, "version.txt", e.shape(e.get(path+"2", http.StatusOK)))
	if got := e.get(path+"1", http.StatusOK).body; !strings.Contains(got, "Nothing: both are the same.") || !strings.Contains(got, "Restore version 1") {
		t.Error(got)
	}
	if got := e.get(path+"1?against=2", http.StatusOK).body; !strings.Contains(got, "#serch&#34; → &#34;#search") {
		t.Error(got)
	}
	for _, none := range []string{"3", "0", "x", "2?against=9"} {
		e.get(path+none, http.StatusNotFound)
	}
}
