package console_test

import (
	"context"
	"encoding/json"
	"html"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"rote/routine"
	"rote/routine/lesson"
	"rote/routine/routinetest"
)

// shopPage is a page with a field, a button and a list, whose button is missing at first if broken.
func shopPage() routinetest.Page {
	return routinetest.Page{HTML: "<h1>Shop</h1>",
		Look: func(_ context.Context, l routine.Look) (routine.Seen, error) {
			seen := routine.Seen{Title: "Corner Shop", Total: 4, Text: "page / \"Corner Shop\"", Lines: []routine.SeenLine{
				{Kind: "heading", Name: "Shop"}, {Kind: "textbox", Name: "Search", Selector: "#q", Grade: "A"},
				{Kind: "button", Name: "Go", Selector: "#go", Grade: "B", States: []string{"disabled"}},
				{Kind: "list", Name: "Lamps", Selector: "li.lamp", Matches: 3}}}
			if l.Extract != "" {
				seen.Extraction = &routine.Extraction{Count: 3, Operations: []json.RawMessage{json.RawMessage(`{"type":"return_html"}`)}}
			}
			return seen, nil
		},
		Capture: func(context.Context, []string) (*routine.Screenshot, error) {
			return &routine.Screenshot{ContentType: "image/jpeg", Width: 1280, Height: 720, Data: []byte("jpg")}, nil
		},
		Click: func(_ context.Context, c routine.Click) (routine.Match, error) {
			if c.Selector == "#gone" {
				return routine.Match{}, routine.Errorf(routine.CodeElementNotFound, "no element matches #gone")
			}
			return routine.Match{Matches: 1}, nil
		},
		ElementAt: func(_ context.Context, x, y float64) (routine.ElementDescription, error) {
			if x != 0.5 || y != 0.25 {
				return routine.ElementDescription{}, routine.Errorf(routine.CodeElementNotFound, "there is no element")
			}
			return routine.ElementDescription{Matches: 1, Selector: "#q", Grade: "A", Alternatives: []string{"input"},
				Target: routine.Target{Role: "textbox", Name: "Search"}, Field: &routine.Field{Type: "text"}}, nil
		},
		Nearest: func(context.Context, routine.Inspection) ([]routine.Element, error) {
			return []routine.Element{{Selector: "#go", Role: "button", Text: "Go"}}, nil
		},
	}
}

func newLessonEnv(t *testing.T, edits ...func(*envConfig)) *env {
	t.Helper()
	e := newEnv(t, append(edits, func(c *envConfig) { c.lessons = &lesson.Config{} })...)
	e.browser.Page = shopPage()
	return e
}

// startLesson starts a lesson and returns its path.
func (e *env) startLesson() (path string, page answer) {
	e.t.Helper()
	page = e.post("/console/lessons", http.StatusCreated, "url", "https://shop.example/")
	path = regexp.MustCompile(`/console/lessons/Lesson_[0-9a-f-]+`).FindString(page.body)
	return path, page
}

// lessonShape is shape for pages with the id and the times of a lesson.
func lessonShape(e *env, page answer) string {
	id := regexp.MustCompile(`Lesson_[0-9a-f-]+([0-9a-f]{8})`).FindStringSubmatch(page.body)
	page.body = strings.NewReplacer(id[0], "Lesson_ID", id[1], "ID").Replace(page.body)
	return regexp.MustCompile(`\d{1,2} [A-Z][a-z]{2} \d{4}, \d\d:\d\d:\d\d UTC`).ReplaceAllString(e.shape(page), "TIME")
}

// A routine is made on the pages of a lesson: an element is chosen, operations are tried and
// undone, and saving proves it.
func TestLessonFromStartToSave(t *testing.T) {
	t.Parallel()
	e := newLessonEnv(t)
	e.signInAsWriter()
	golden(t, "lessons_empty.txt", e.shape(e.get("/console/lessons", http.StatusOK)))
	path, page := e.startLesson()
	golden(t, "lesson_started.txt", lessonShape(e, page))
	golden(t, "lessons.txt", lessonShape(e, e.get("/console/lessons", http.StatusOK)))

	chosen := e.get(path+"?kind=textbox&selector=%23q&grade=A", http.StatusOK)
	golden(t, "lesson_element.txt", lessonShape(e, chosen))
	size := regexp.MustCompile(`name="height" value="(\d+)">\s*<input type="image" name="at" src="data:image/jpeg;base64,anBn" width="(\d+)" height="(\d+)"`).
		FindStringSubmatch(chosen.body)
	if size == nil || size[1] != size[3] || size[2] != "560" || size[3] != "315" {
		t.Fatalf("the picture has the size %v", size)
	}
	golden(t, "lesson_picked.txt", lessonShape(e, e.get(path+"?height=316&at.x=280&at.y=79", http.StatusOK)))
	e.get(path+"?height=315&at.x=1&at.y=1", http.StatusUnprocessableEntity)
	for _, keyboard := range []string{"?height=315&at.x=0&at.y=0", "?at.x=7&at.y=9"} {
		if got := e.get(path+keyboard, http.StatusBadRequest).body; !strings.Contains(got, "choose an element of the list") {
			t.Error(got)
		}
	}
	typed := e.post(path+"/try", http.StatusOK, "do", "input_text", "selector", "#q", "text", "lamp", "name", "query", "at", "0")
	golden(t, "lesson_tried.txt", lessonShape(e, typed))
	failed := e.post(path+"/try", http.StatusUnprocessableEntity, "do", "click", "selector", "#gone", "at", "0")
	golden(t, "lesson_failed.txt", lessonShape(e, failed))
	e.post(path+"/try", http.StatusOK, "do", "click", "selector", "#go", "once", "yes")
	e.post(path+"/try", http.StatusOK, "json", `[{"type": "click", "selector": "#go"}, {"type": "return_html"}]`)
	if got := outline(t, e.get(path+"?extract=li.lamp", http.StatusOK).body); !strings.Contains(got, `textarea json="[ {\"type\":\"return_html\"} ]"`) {
		t.Error(got)
	}
	golden(t, "lesson_undone.txt", lessonShape(e, e.post(path+"/undo", http.StatusOK, "to", "3")))
	e.post(path+"/try", http.StatusOK, "json", `{"type": "return_html"}`)

	golden(t, "lesson_dry_run.txt", lessonShape(e, e.post(path+"/save", http.StatusOK, "name", "search", "description", "d", "prove", "all", "dry", "yes")))
	saved := e.post(path+"/save", http.StatusOK, "name", "search", "description", "d", "prove", "all")
	golden(t, "lesson_saved.txt", lessonShape(e, saved))
	list, _, err := e.service.Routines(t.Context(), ada, routine.RoutineFilter{})
	if err != nil || len(list) != 1 || list[0].Name != "search" || len(list[0].Operations) != 4 || list[0].Parameters[0].Name != "query" {
		t.Fatalf("%+v, %v", list, err)
	}
	runs, _, err := e.service.Executions(t.Context(), ada, routine.ExecutionFilter{})
	if err != nil || len(runs) != 1 || !strings.Contains(saved.body, "/console/executions/"+runs[0].ID) {
		t.Errorf("%+v, %v", runs, err)
	}
	e.post(path+"/end", http.StatusSeeOther)
	e.get(path, http.StatusNotFound)
}

// What is wrong with a form is said above it, and the form keeps its input.
func TestLessonFormsThatAreRefused(t *testing.T) {
	t.Parallel()
	e := newLessonEnv(t)
	e.signInAsWriter()
	golden(t, "lessons_refused.txt", e.shape(e.post("/console/lessons", http.StatusBadRequest, "url", "shop.example", "session", "")))
	path, _ := e.startLesson()
	for _, row := range []struct{ form, name, value, keeps string }{
		{"try", "json", "{wrong", `textarea json="{wrong"`}, {"try", "do", "dance", "choose what to do"},
		{"try", "json", `{"type": "clik"}`, `textarea json="{\"type\": \"clik\"}"`},
		{"save", "parameters", "{wrong", `textarea parameters="{wrong"`},
		{"undo", "to", "99", "Next operation"},
	} {
		got := e.post(path+"/"+row.form, http.StatusBadRequest, row.name, row.value, "name", "n")
		if text := outline(t, got.body); !strings.Contains(text, row.keeps) || !strings.Contains(got.body, `role="alert"`) {
			t.Errorf("%s %s:\n%s", row.form, row.value, text)
		}
	}
	e.get("/console/lessons/Lesson_none", http.StatusNotFound)
	e.post("/console/lessons/Lesson_none/try", http.StatusNotFound, "do", "click", "selector", "#a")
}

func TestWhoTeachesInTheConsole(t *testing.T) {
	t.Parallel()
	e := newLessonEnv(t)
	e.signIn("routines:read", "routines:write")
	golden(t, "lessons_withheld.txt", e.shape(e.get("/console/lessons", http.StatusOK)))
	e.post("/console/lessons", http.StatusForbidden, "url", "https://shop.example/")
	e.signInAsWriter()
	path, _ := e.startLesson()
	e.signIn() // as somebody else
	e.get(path, http.StatusNotFound)
	for _, form := range []string{"try", "undo", "save", "end"} {
		e.post(path+"/"+form, http.StatusNotFound, "do", "click", "selector", "#a", "to", "0")
	}
	without := newEnv(t)
	without.signInAsWriter()
	if got := without.get("/console/lessons", http.StatusOK).body; !strings.Contains(got, "this server has no lessons") {
		t.Error(got)
	}
	without.post("/console/lessons", http.StatusNotFound, "url", "https://shop.example/")
}

// A run that has failed leads to a lesson that mends its routine.
func TestMendFromARun(t *testing.T) {
	t.Parallel()
	e := newLessonEnv(t)
	var back atomic.Bool // whether the element is on the page again
	clickShop := e.browser.Page.Click
	e.browser.Page.Click = func(ctx context.Context, c routine.Click) (routine.Match, error) {
		if back.Load() {
			return routine.Match{Matches: 1}, nil
		}
		return clickShop(ctx, c)
	}
	r := e.create(`{"name": "n", "description": "d", "operations": [
		{"type": "navigate", "url": "https://shop.example/"}, {"type": "click", "selector": "#gone"}]}`)
	run := e.run(r.ID, "")
	e.signInAsWriter()
	href := "/console/lessons?execution=" + run.ID
	if page := e.get("/console/executions/"+run.ID, http.StatusOK).body; !strings.Contains(page, `href="`+href+`"`) {
		t.Error(page)
	}
	golden(t, "lessons_mend.txt", e.shape(e.get(href, http.StatusOK)))
	mended := e.post("/console/lessons", http.StatusCreated, "execution", run.ID)
	golden(t, "lesson_mend.txt", lessonShape(e, mended))

	back.Store(true)
	form := regexp.MustCompile(`action="([^"]+)"><input type="hidden" name="json" value="([^"]+)">` +
		`<input type="hidden" name="at" value="2"><button>Do this instead`).FindStringSubmatch(mended.body)
	if form == nil {
		t.Fatalf("the candidate does not take the place of operation 2:\n%s", mended.body)
	}
	after := e.post(form[1], http.StatusOK, "json", html.UnescapeString(form[2]), "at", "2").body
	if !strings.Contains(after, "All operations of the routine were done. Save it below.") || strings.Contains(after, "come after these") {
		t.Errorf("after the candidate:\n%s", after)
	}
}

// An imported routine is tried in a lesson. It stops before what may buy something, which the person does.
func TestResolveInTheConsole(t *testing.T) {
	t.Parallel()
	e := newLessonEnv(t)
	e.browser.Page.Describe = func(_ context.Context, selector string, _ routine.ElementUse) (routine.ElementDescription, error) {
		return routine.ElementDescription{Matches: 1, Selector: selector, Grade: "A", Target: routine.Target{Role: "button", Name: "Buy now"}}, nil
	}
	e.signInAsWriter()
	const recording = `{"title": "Buy a lamp", "steps": [{"type": "navigate", "url": "https://shop.example/"},
		{"type": "change", "selectors": [["#q"]], "value": "lamp"}, {"type": "click", "selectors": [["#buy"]], "offsetX": 1, "offsetY": 1}]}`
	imported := e.post("/console/routines/import", http.StatusOK, "source", recording).body
	if !strings.Contains(imported, `formaction="/console/lessons/resolve"`) {
		t.Errorf("the page of an import does not offer to try it:\n%s", imported)
	}
	const definition = `{"name": "buy", "description": "d", "parameters": [{"name": "query", "type": "string", "required": true}], "operations": [
		{"type": "navigate", "url": "https://shop.example/"}, {"type": "input_text", "selector": "#q", "text": "{{query}}"},
		{"type": "click", "selector": "#buy"}]}`
	const path = "/console/lessons/resolve"
	golden(t, "resolve.txt", e.shape(e.post(path, http.StatusOK, "definition", definition)))
	golden(t, "resolve_refused.txt", e.shape(e.post(path, http.StatusBadRequest, "definition", definition, "values", "given", "json", "[")))
	tried := e.post(path, http.StatusCreated, "definition", definition, "values", "given", "json", `{"query": "lamp"}`)
	golden(t, "lesson_resolved.txt", lessonShape(e, tried))
	lesson := regexp.MustCompile(`/console/lessons/Lesson_[0-9a-f-]+`).FindString(tried.body)
	bought := e.post(lesson+"/try", http.StatusOK, "json", `{"type": "click", "selector": "#buy"}`, "at", "3").body
	for _, want := range []string{"All operations of the routine were done. Save it below.", `name="name" value="buy"`} {
		if !strings.Contains(bought, want) {
			t.Errorf("the page lacks %q:\n%s", want, bought)
		}
	}
	e.post(lesson+"/save", http.StatusOK, "name", "buy", "prove", "all")
	if list, _, err := e.service.Routines(t.Context(), ada, routine.RoutineFilter{}); err != nil || len(list) != 1 || len(list[0].Operations) != 3 {
		t.Errorf("%+v, %v", list, err)
	}
	e.post(path, http.StatusBadRequest, "definition", "{}", "values", "given")
	e.signIn("routines:read", "routines:write")
	e.post(path, http.StatusForbidden, "definition", definition)
	without := newEnv(t)
	without.signInAsWriter()
	if page := without.post("/console/routines/import", http.StatusOK, "source", recording).body; strings.Contains(page, path) {
		t.Error("a server without lessons offers to try the routine")
	}
}

// What a page says is text, whatever it is.
func TestHostileTextsOfLessons(t *testing.T) {
	t.Parallel()
	e := newLessonEnv(t)
	e.browser.Page.Look = func(context.Context, routine.Look) (routine.Seen, error) {
		return routine.Seen{URL: "javascript:" + hostile, Title: hostile, Text: hostile, Lines: []routine.SeenLine{{Kind: hostile, Name: hostile,
			States: []string{hostile}, Selector: hostile, Grade: "A"}, {Kind: "list", Name: hostile, Selector: hostile, Matches: 2}}}, nil
	}
	e.browser.Page.ConsoleErrors = []string{hostile}
	e.browser.Page.Capture = func(context.Context, []string) (*routine.Screenshot, error) {
		return &routine.Screenshot{ContentType: "image/svg+xml", Data: []byte("<svg onload=alert(1)>")}, nil
	}
	e.signInAsWriter()
	path, page := e.startLesson()
	pages := []answer{page, e.get(path+"?selector="+strings.ReplaceAll("<img src=x onerror=alert(1)>\"'", " ", "+")+"&kind=%22%3E&grade=%3Cb%3E", http.StatusOK),
		e.post(path+"/try", http.StatusBadRequest, "json", hostile), e.post(path+"/try", http.StatusOK, "do", "click", "selector", "#a")}
	for i, page := range pages {
		if strings.Contains(page.body, "<script>alert") || strings.Contains(page.body, "<img src=x") || strings.Contains(page.body, "svg+xml") ||
			strings.Contains(page.body, `href="javascript:`) {
			t.Errorf("page %d has the markup of a stranger:\n%s", i, page.body)
		}
	}
}
