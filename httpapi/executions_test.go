package httpapi_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"rote/routine"
)

// ran runs $private to its end and returns the execution's id.
func (e *env) ran(t *testing.T, body string) string {
	t.Helper()
	got := e.must(t, "POST", "/routines/$private/execute", asAdmin, body)
	_, after, _ := strings.Cut(got.body, `"execution_id":"`)
	id, _, found := strings.Cut(after, `"`)
	if !found {
		t.Fatalf("no execution: %s", got.body)
	}
	return id
}

// begun begins a run of $private, to go on without its caller, and returns the
// path of the execution.
func (e *env) begun(t *testing.T, body string) string {
	t.Helper()
	got := e.must(t, "POST", "/routines/$private/execute", map[string]string{"X-Service-Token": "$admin", "Prefer": "respond-async"}, body)
	location := got.header.Get("Location")
	if got.status != 202 || !strings.HasPrefix(location, "/executions/") || got.header.Get("Preference-Applied") != "respond-async" ||
		!strings.Contains(got.body, `"status":"pending"`) {
		t.Fatalf("%d %v %s", got.status, got.header, got.body)
	}
	return location
}

func TestListExecutions(t *testing.T) {
	e := newEnv(t)
	completed, failed := e.ran(t, call("x")), e.ran(t, call("fail/timeout"))
	e.names = strings.NewReplacer(append([]string{"$completed", completed, "$failed", failed}, e.pairs...)...)
	both := []string{`"execution_id":"$completed"`, `"execution_id":"$failed"`, `"total":2,"limit":20,"offset":0}`}
	tests := []scenario{
		{"all", "GET", "/executions/", "$admin", nil, "", 200, both, []string{`"result"`}},
		{"without the slash", "GET", "/executions", "$admin", nil, "", 200, both, nil},
		{"of a routine", "GET", "/routines/$private/executions", "$admin", nil, "", 200, both, []string{`"result"`}},
		{"of a routine, by filter", "GET", "/executions?routine_id=$private", "$admin", nil, "", 200, both, nil},
		{"of another routine", "GET", "/routines/$public/executions/", "$admin", nil, "", 200, []string{`{"items":[],"total":0`}, nil},
		{"of no schedule", "GET", "/executions?schedule_id=Schedule_x", "$admin", nil, "", 200, []string{`"total":0`}, nil},
		{"of no routine", "GET", "/executions?routine_id=%27%25", "$admin", nil, "", 200, []string{`"total":0`}, nil},
		{"by status", "GET", "/executions?status=failed", "$admin", nil, "", 200, []string{`"execution_id":"$failed"`, `"total":1`, `"error_code":"timeout"`}, nil},
		{"of a routine by status", "GET", "/routines/$private/executions?status=completed", "$admin", nil, "", 200, []string{`"execution_id":"$completed"`, `"total":1`}, nil},
		{"a part", "GET", "/executions?limit=1&offset=1", "$admin", nil, "", 200, []string{`"total":2,"limit":1,"offset":1`}, []string{"next_cursor"}},
		{"of another organization", "GET", "/executions", "$guest", nil, "", 200, []string{`"total":0`}, nil},
		{"of a routine of another organization", "GET", "/routines/$private/executions", "$guest", nil, "", 403, nil, nil},
		{"of a public routine of another organization", "GET", "/routines/$public/executions", "$guest", nil, "", 403, nil, nil},
		{"of an unknown routine", "GET", "/routines/none/executions", "$admin", nil, "", 404, nil, nil},
		{"list without token", "GET", "/executions", "", nil, "", 401, nil, nil},
		{"of a routine without token", "GET", "/routines/$public/executions", "", nil, "", 401, nil, nil},

		{"one", "GET", "/executions/$completed", "$admin", nil, "", 200,
			[]string{`{"execution_id":"$completed"`, `"data":"<b>5 > \"4\" & so on</b>"`, `"parameters":{"page":"https://shop.example/x"}`, `"created_by":"admin"`, `"via":"rest"`,
				`"routine_version":1`, `"operations_done":2,"operations_total":2`}, []string{"organization"}},
		{"one that failed", "GET", "/executions/$failed/", "$admin", nil, "", 200, []string{
			`"status":"failed"`, `"error_code":"timeout"`, `"operations_metadata":[{`, `"evidence":{"url":"https://shop.example/cart"`}, nil},
		{"its screenshot", "GET", "/executions/$failed/files/screenshot.jpg", "$admin", nil, "", 200, []string{"jpg"}, nil},
		{"one without token", "GET", "/executions/$completed", "", nil, "", 401, nil, nil},
		{"one of another organization", "GET", "/executions/$completed", "$guest", nil, "", 403, []string{`"code":"forbidden"`}, []string{"parameters"}},
		{"unknown", "GET", "/executions/none", "$admin", nil, "", 404, []string{`"code":"not_found"`}, nil},

		{"cancel what has ended", "POST", "/executions/$completed/cancel", "$admin", nil, "", 200, []string{`"status":"completed"`}, nil},
		{"cancel without token", "POST", "/executions/$completed/cancel", "", nil, "", 401, nil, nil},
		{"cancel of another organization", "POST", "/executions/$completed/cancel", "$guest", nil, "", 403, nil, nil},
		{"cancel what is unknown", "POST", "/executions/none/cancel", "$admin", nil, "", 404, nil, nil},
		{"cancel by reading", "GET", "/executions/$completed/cancel", "$admin", nil, "", 405, nil, nil},

		{"events without token", "GET", "/executions/$completed/events", "", nil, "", 401, nil, nil},
		{"events of another organization", "GET", "/executions/$completed/events", "$guest", nil, "", 403, nil, nil},
		{"events of what is unknown", "GET", "/executions/none/events", "$admin", nil, "", 404, nil, nil},
		{"events after no event", "GET", "/executions/$completed/events", "$admin", map[string]string{"Last-Event-ID": "x"}, "", 400, []string{"Last-Event-ID"}, nil},
		{"events of what has ended", "GET", "/executions/$completed/events", "$admin", nil, "", 200, []string{"event: execution", `"status":"completed"`}, nil},
		{"events after the last", "GET", "/executions/$completed/events", "$admin", map[string]string{"Last-Event-ID": "5"}, "", 204, nil, nil},
		{"no file", "GET", "/executions/$completed/files/x", "$admin", nil, "", 404, nil, nil},
		{"files without token", "GET", "/executions/$completed/files/x", "", nil, "", 401, nil, nil},
	}
	for _, query := range []string{"limit=0", "limit=101", "limit=-1", "limit=x", "offset=-1", "offset=9223372036854775808", "status=done", "status=", "status=failed&status=failed"} {
		name, _, _ := strings.Cut(query, "=")
		for _, path := range []string{"/executions?", "/routines/$private/executions?"} {
			tests = append(tests, scenario{path + query, "GET", path + query, "$admin", nil, "", 400, []string{`"pointer":"/` + name + `"`}, nil})
		}
	}
	runAll(t, e, tests)
}

func TestListsLinkToOtherPages(t *testing.T) {
	e := newEnv(t)
	for range 3 {
		e.ran(t, call("x"))
	}
	for path, want := range map[string]string{
		"/executions?limit=3":                            "",
		"/executions?limit=2&status=completed":           `</executions?limit=2&offset=2&status=completed>; rel="next"`,
		"/executions/?limit=1&offset=1":                  `</executions/?limit=1&offset=0>; rel="first", </executions/?limit=1&offset=0>; rel="prev", </executions/?limit=1&offset=2>; rel="next"`,
		"/executions/?limit=2&offset=9":                  `</executions/?limit=2&offset=0>; rel="first", </executions/?limit=2&offset=2>; rel="prev"`,
		"/executions?limit=2&offset=9223372036854775807": `</executions?limit=2&offset=0>; rel="first", </executions?limit=2&offset=2>; rel="prev"`,
	} {
		if got := e.must(t, "GET", path, asAdmin, ""); got.header.Get("Link") != want {
			t.Errorf("%s links %s, want %s", path, got.header.Get("Link"), want)
		}
	}
}

func TestAsyncExecute(t *testing.T) {
	e := newEnv(t)
	path := e.begun(t, call("block"))
	<-e.browser.blocked // it continues after its call was answered
	scenario{"", "GET", path, "$admin", nil, "", 200, []string{`"status":"running"`, `"result":null`, `"operations_done":0,"operations_total":2`}, nil}.run(t, e)
	close(e.browser.release)
	<-e.store.finished
	scenario{"", "GET", path, "$admin", nil, "", 200, []string{`"status":"completed"`, `"data":`}, nil}.run(t, e)
	scenario{"a call that is no good", "POST", "/routines/$private/execute", "$admin", map[string]string{"Prefer": "respond-async"}, `{"parameters": {}}`, 400, nil, nil}.run(t, e)
	scenario{"another preference", "POST", "/routines/$private/execute", "$admin", map[string]string{"Prefer": "wait=10"}, call("x"), 201, nil, nil}.run(t, e)
	scenario{"one of several", "POST", "/routines/$private/execute", "$admin", map[string]string{"Prefer": "wait=10, Respond-Async; x=1"}, call("x"), 202, nil, nil}.run(t, e)
}

func TestLocationIsUnderTheBasePath(t *testing.T) {
	e := newEnv(t, func(c *envConfig) { c.http.BasePath = "/rote" })
	got := e.must(t, "POST", "/rote/routines/$private/execute", map[string]string{"X-Service-Token": "$admin", "Prefer": "respond-async"}, call("x"))
	if location := got.header.Get("Location"); !strings.HasPrefix(location, "/rote/executions/") || e.must(t, "GET", location, asAdmin, "").status != 200 {
		t.Errorf("the execution is at %s", location)
	}
}

func TestCancel(t *testing.T) {
	e := newEnv(t)
	path := e.begun(t, call("block"))
	<-e.browser.blocked
	begin := time.Now()
	for range 2 {
		scenario{"", "POST", path + "/cancel", "$admin", nil, "", 200, []string{`"status":"failed"`, `"error_code":"cancelled"`}, nil}.run(t, e)
	}
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("cancelled after %v", took)
	}
}

// stream opens the events of an execution.
func (e *env) stream(ctx context.Context, t *testing.T, path, after string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, "GET", e.URL+path+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Service-Token", adminToken)
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	got, err := e.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { got.Body.Close() })
	if got.StatusCode != 200 || got.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%d %v", got.StatusCode, got.Header)
	}
	return got
}

// read reads events until there are n, or all with n 0, each in short.
func read(t *testing.T, r *bufio.Scanner, n int) string {
	t.Helper()
	var all []string
	var id, event string
	for (n == 0 || len(all) < n) && r.Scan() {
		name, value, _ := strings.Cut(r.Text(), ": ")
		switch name {
		case "id":
			id = value
		case "event":
			event = value
		case "":
			id = ""
		case "data":
			if event == "operation_begun" { // whether it is sent depends on how fast the operation ends
				if id != "" {
					t.Errorf("%s has the id %s", value, id)
				}
				continue
			}
			var data struct{ Status, Type string }
			if err := json.Unmarshal([]byte(value), &data); err != nil || strings.Contains(value, `"result"`) {
				t.Errorf("%v in %s", err, value)
			}
			all = append(all, fmt.Sprintf("%s %s %s%s", id, event, data.Status, data.Type))
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, ", ")
}

func TestEvents(t *testing.T) {
	e := newEnv(t)
	path := e.begun(t, call("block"))
	<-e.browser.blocked
	live := bufio.NewScanner(e.stream(t.Context(), t, path, "").Body)
	if got, want := read(t, live, 2), "1 execution pending, 2 execution running"; got != want {
		t.Errorf("while it goes on: %s, want %s", got, want)
	}
	for live.Scan() && live.Text() != "event: operation_begun" {
		if live.Text() != "" {
			t.Errorf("after the start: %s", live.Text())
		}
	}
	if live.Scan(); !strings.HasPrefix(live.Text(), `data: {"index":0,"type":"navigate","start_seconds":`) {
		t.Errorf("of the operation that begins: %s", live.Text())
	}
	close(e.browser.release)
	rest := "3 operation navigate, 4 operation return_html, 5 execution completed"
	if got := read(t, live, 0); got != rest {
		t.Errorf("to its end: %s, want %s", got, rest)
	}
	for after, want := range map[string]string{"": "1 execution pending, 2 execution running, " + rest, "2": rest, "4": "5 execution completed"} {
		if got := read(t, bufio.NewScanner(e.stream(t.Context(), t, path, after).Body), 0); got != want {
			t.Errorf("after %q: %s, want %s", after, got, want)
		}
	}
}

// Values that may have megabytes are not in the items of a list.
func TestLargeParametersAreNotListed(t *testing.T) {
	e := newEnv(t)
	long := strings.Repeat("x", routine.MaxListedParameters)
	id := e.ran(t, call(long))
	if one := e.must(t, "GET", "/executions/"+id, asAdmin, ""); !strings.Contains(one.body, long) || strings.Contains(one.body, "parameters_omitted") {
		t.Errorf("the execution: %s", one.body)
	}
	events, err := io.ReadAll(e.stream(t.Context(), t, "/executions/"+id, "").Body)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"list": e.must(t, "GET", "/executions/", asAdmin, "").body, "events": string(events)} {
		if strings.Contains(text, `"parameters":{`) || !strings.Contains(text, `"parameters":null,"parameters_omitted":true`) {
			t.Errorf("%s: %s", name, text)
		}
	}
}

func TestEventsEndWhenClientDisconnects(t *testing.T) {
	e := newEnv(t)
	path := e.begun(t, call("block"))
	<-e.browser.blocked
	ctx, leave := context.WithCancel(t.Context())
	read(t, bufio.NewScanner(e.stream(ctx, t, path, "").Body), 1)
	leave()
	if lines := e.lines(); !strings.Contains(strings.Join(lines, ""), "/executions/{execution_id}/events") { // closes the server, which waits
		t.Errorf("the stream did not end: %s", lines)
	}
	close(e.browser.release)
}

func TestFiles(t *testing.T) {
	e := newEnv(t)
	path := e.begun(t, call("block"))
	<-e.browser.blocked
	id := strings.TrimPrefix(path, "/executions/")
	large := bytes.Repeat([]byte("<é"), 1<<20)
	for _, f := range []struct{ name, kind, data string }{
		{"screenshot.jpg", "image/jpeg", "\xff\xd8"}, {"page ü\".html", "text/html", "<script>"}, {"big.bin", "no type", string(large)},
	} {
		if err := e.store.PutFile(t.Context(), id, &routine.File{FileInfo: routine.FileInfo{Name: f.name, ContentType: f.kind}, Data: []byte(f.data)}); err != nil {
			t.Fatal(err)
		}
	}
	close(e.browser.release)
	<-e.store.finished
	scenario{"", "GET", path, "$admin", nil, "", 200, []string{`"files":[{"name":"big.bin","content_type":"no type","size":3145728},`}, nil}.run(t, e)
	for _, want := range []struct{ name, kind, disposition, data string }{
		{"screenshot.jpg", "image/jpeg", "attachment; filename=screenshot.jpg", "\xff\xd8"},
		{"page%20%C3%BC%22.html", "application/octet-stream", "attachment; filename*=utf-8''page%20%C3%BC%22.html", "<script>"},
		{"big.bin", "application/octet-stream", "attachment; filename=big.bin", string(large)},
	} {
		got := e.must(t, "GET", path+"/files/"+want.name, asAdmin, "")
		if got.status != 200 || got.header.Get("Content-Type") != want.kind || got.header.Get("Content-Disposition") != want.disposition || got.body != want.data ||
			got.header.Get("X-Content-Type-Options") != "nosniff" || got.header.Get("Content-Security-Policy") != "default-src 'none'; sandbox" {
			t.Errorf("%s: %d %v, %d bytes", want.name, got.status, got.header, len(got.body))
		}
	}
	scenario{"of another organization", "GET", path + "/files/big.bin", "$guest", nil, "", 403, nil, nil}.run(t, e)
}
