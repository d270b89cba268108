package console_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
)

// everyType declares a parameter of each type and control.
const everyType = `{"name": "every", "description": "d", "parameters": [
	{"name": "text", "description": "A text", "validation": {"min_length": 2, "max_length": 20, "pattern": "^[a-z]+$"}},
	{"name": "long", "description": "", "required": false, "validation": {"max_length": 500}},
	{"name": "count", "type": "integer", "description": "", "required": false, "default": 20, "validation": {"min_value": 1, "max_value": 99}},
	{"name": "price", "type": "number", "description": "", "required": false},
	{"name": "sure", "type": "boolean", "description": "", "required": false},
	{"name": "day", "type": "date", "description": "", "required": false},
	{"name": "tag", "type": "date", "description": "", "required": false, "validation": {"format": "DD.MM.YYYY"}},
	{"name": "moment", "type": "datetime", "description": "", "required": false},
	{"name": "mail", "type": "email", "description": "", "required": false},
	{"name": "link", "type": "url", "description": "", "required": false},
	{"name": "size", "type": "enum", "description": "", "required": false, "default": "m", "validation": {"enum_values": ["s", "m", 3]}},
	{"name": "month", "type": "enum", "description": "", "validation": {"enum_values": ["a", "b", "c", "d", "e", "f"]}},
	{"name": "pass", "description": "", "x-secret": true, "required": false},
	{"name": "papers", "type": "x-files", "description": "", "required": false}],
	"operations": [{"type": "navigate", "url": "https://shop.example/"}, {"type": "return_html"}]}`

// postMultipart sends a form with files, named by their field.
func (e *env) postMultipart(path string, status int, fields, files map[string]string) answer {
	e.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for name, value := range fields {
		if err := w.WriteField(name, value); err != nil {
			e.t.Fatal(err)
		}
	}
	for name, content := range files {
		part, err := w.CreateFormFile(name, "cv.pdf")
		if err == nil {
			_, err = part.Write([]byte(content))
		}
		if err != nil {
			e.t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		e.t.Fatal(err)
	}
	got := e.do("POST", path, http.Header{"Content-Type": {w.FormDataContentType()}, "Origin": {e.URL}}, &body)
	if got.StatusCode != status {
		e.t.Fatalf("POST %s: status %d, want %d:\n%s", path, got.StatusCode, status, got.body)
	}
	return got
}

// started returns the execution to which an answer leads, when it has ended.
func (e *env) started(to answer) *routine.Execution {
	e.t.Helper()
	path, _, _ := strings.Cut(to.Header.Get("Location"), "?")
	_, id, found := strings.Cut(path, "/console/executions/")
	if !found {
		e.t.Fatal("it leads to ", to.Header.Get("Location"))
	}
	run, err := e.service.Wait(e.t.Context(), ada, id)
	if run == nil {
		e.t.Fatal(err)
	}
	return run
}

// Each control sends what the parameter's type accepts, with all digits, and an empty one
// sends nothing.
func TestEachControlIsBound(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.browser.Page.HTML = "<p>"
	r := e.create(everyType)
	e.signIn("routines:read", "executions:run", "executions:read")
	golden(t, "routine_every_type.txt", e.shape(e.get("/console/routines/"+r.ID, http.StatusOK)))
	path := "/console/routines/" + r.ID + "/run"
	run := e.started(e.postMultipart(path, http.StatusSeeOther, map[string]string{"p.text": "lamp", "p.long": "two\r\nlines", "p.count": " 7 ",
		"p.price": "12345678901234567890.10", "p.sure": "false", "p.day": "2031-02-03", "p.tag": "03.02.2031", "p.moment": "2031-02-03T04:05:06Z",
		"p.mail": "ada@example.org", "p.link": "https://example.org/", "p.size": "3", "p.month": "f", "p.pass": "hunter2", "timeout": "30",
		"key": "k"}, map[string]string{"p.papers": "%PDF"}))
	want := `{"text":"lamp","long":"two\nlines","count":7,"price":12345678901234567890.10,"sure":false,"day":"2031-02-03","tag":"03.02.2031",` +
		`"moment":"2031-02-03T04:05:06Z","mail":"ada@example.org","link":"https://example.org/","size":3,"month":"f","pass":"***","papers":` +
		`[{"name":"cv.pdf","type":"application/octet-stream","size":4,"sha256":"` + fmt.Sprintf("%x", sha256.Sum256([]byte("%PDF"))) + `"}]}`
	sameMembers(t, want, run.Parameters)
	if run.Via != routine.ViaConsole || run.Status != routine.ExecutionCompleted {
		t.Errorf("%+v", run)
	}
	run = e.started(e.post(path, http.StatusSeeOther, "p.text", "lamp", "p.month", "a", "p.sure", "", "p.long", ""))
	sameMembers(t, `{"text":"lamp","long":null,"count":20,"price":null,"sure":null,"day":null,"tag":null,"moment":null,"mail":null,"link":null,"size":"m",`+
		`"month":"a","pass":null,"papers":null}`, run.Parameters)
	run = e.started(e.post(path, http.StatusSeeOther, "p.text", "ignored!", "json", `{"text": "json", "month": "b", "long": ""}`))
	if !strings.Contains(string(run.Parameters), `"json"`) || !strings.Contains(string(run.Parameters), `"long":""`) {
		t.Errorf("%s", run.Parameters)
	}
	// The values of that run come back, with the empty text.
	again := e.get("/console/routines/"+r.ID+"?from="+run.ID, http.StatusOK)
	if got := outline(t, again.body); !strings.Contains(got, `\"long\":\"\"`) || !strings.Contains(got, `input text p.text="json"`) {
		t.Error(got)
	}
}

// sameMembers compares JSON objects, whose numbers must have the same digits. Members that
// are null may be missing.
func sameMembers(t *testing.T, want string, got json.RawMessage) {
	t.Helper()
	var objects [2]map[string]json.RawMessage
	for i, text := range []string{want, string(got)} {
		if err := json.Unmarshal([]byte(text), &objects[i]); err != nil {
			t.Fatal(err)
		}
		for name, value := range objects[i] {
			if string(value) == "null" {
				delete(objects[i], name)
			}
		}
	}
	if diff := cmp.Diff(objects[0], objects[1]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Wrong values stay in the form, each with its problem, except for secrets and files.
func TestWrongValuesAreKeptWithTheirProblems(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	r := e.create(everyType)
	e.signIn("routines:read", "executions:run", "executions:read")
	path := "/console/routines/" + r.ID + "/run"
	got := e.postMultipart(path, http.StatusBadRequest, map[string]string{"p.text": "X", "p.long": "fine", "p.count": "1.5", "p.price": "1,5", "p.sure": "perhaps",
		"p.day": "3 Feb", "p.tag": "2031", "p.moment": "now", "p.mail": "ada", "p.link": "ftp://x", "p.size": "xl", "p.pass": "hunter2"}, nil)
	golden(t, "routine_wrong_values.txt", e.shape(got))
	if strings.Contains(got.body, "hunter2") {
		t.Error("the page has the secret")
	}
	if !strings.Contains(got.body, `id="p2" name="p.count" aria-describedby="p2-hint p2-wrong" aria-invalid="true" value="1.5"`) {
		t.Error(got.body)
	}
	got = e.post(path, http.StatusBadRequest, "p.text", "lamp", "p.month", "a", "timeout", "1e9")
	if !strings.Contains(got.body, `value="1e9" aria-describedby="timeout-hint timeout-wrong" aria-invalid="true"`) {
		t.Error(got.body)
	}
	if got := outline(t, e.post(path, http.StatusBadRequest, "json", `{"text": 1,`).body); !strings.Contains(got, `textarea json="{\"text\": 1," aria-invalid`) {
		t.Error(got)
	}
	e.post(path, http.StatusBadRequest, "timeout", "NaN", "p.text", "lamp", "p.month", "a")
	if _, total, err := e.service.Executions(t.Context(), ada, routine.ExecutionFilter{}); err != nil || total != 0 {
		t.Errorf("%d runs were started, %v", total, err)
	}
}

func TestOneFormStartsOneRun(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	r := e.create(searchText)
	e.signIn("routines:read", "executions:run", "executions:read")
	post := func(query, key string) string {
		return e.post("/console/routines/"+r.ID+"/run", http.StatusSeeOther, "p.query", query, "key", key).Header.Get("Location")
	}
	first := post("lamp", "1")
	if again := post("lamp", "1"); again != first {
		t.Error("the form that was sent twice started two runs")
	}
	if post("lamp", "2") == first || post("desk", "1") == first {
		t.Error("another form, or other values, started no run")
	}
}

func TestFormIsFilledIn(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.browser.Page.HTML = "<p>"
	r := e.create(everyType)
	other := e.create(searchText)
	run := e.run(r.ID, `{"text": "lamp", "month": "c", "price": 1.50, "sure": true, "size": 3, "pass": "hunter2", "long": "two\nlines"}`)
	e.signIn("routines:read", "executions:run", "executions:read")
	got := outline(t, e.get("/console/routines/"+r.ID+"?from="+run.ID+"&mail=a@b.example&pass=leak&text=desk", http.StatusOK).body)
	for _, want := range []string{`p.text="desk"`, `p.price="1.50"`, `select p.sure="yes"`, `select p.month="c"`, `p.mail="a@b.example"`, `p.pass=""`,
		"Secret values and files are not kept. Give them again: pass.", `textarea p.long="two lines"`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	for query, want := range map[string]string{"from=" + run.ID: "is one of another routine", "from=none": "cannot be read"} {
		if got := e.get("/console/routines/"+other.ID+"?"+query, http.StatusOK).body; !strings.Contains(got, want) {
			t.Errorf("%s: no %s", query, want)
		}
	}
}

// A run that cannot start now leaves the form as it was.
func TestFormOfARunThatIsRefused(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	r := e.create(searchText)
	if _, err := e.service.ArchiveRoutine(t.Context(), ada, r.ID, nil); err != nil {
		t.Fatal(err)
	}
	e.signIn("routines:read", "executions:run")
	if got := e.post("/console/routines/"+r.ID+"/run", http.StatusConflict, "p.query", "lamp"); !strings.Contains(got.body, "Not started: ") {
		t.Error(got.body)
	}
}
