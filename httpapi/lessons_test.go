package httpapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
	"rote/routine/lesson"
)

const lessonPath = "/lessons/" + lessonID

// Each call hands its body or query to the lessons.
func TestLessonRequests(t *testing.T) {
	e := newEnv(t)
	click, press := json.RawMessage(`{"type":"click","selector":"#go"}`), json.RawMessage(`{"type":"press","key":"Enter"}`)
	for _, row := range []struct {
		method, path, body string
		status             int
		want               any
	}{
		{"POST", "/lessons/", `{"url": "https://shop.example/"}`, 201, lesson.StartRequest{URL: "https://shop.example/"}},
		{"POST", "/lessons", `{"routine": "buy", "execution": "e", "until": 0, "values": {"a": "b", "n": 12345678901234567890}, "incognito": false}`, 201,
			lesson.StartRequest{Routine: "buy", Execution: "e", Until: new(0), Incognito: new(false),
				Values: map[string]json.RawMessage{"a": json.RawMessage(`"b"`), "n": json.RawMessage(`12345678901234567890`)}}},
		{"POST", "/lessons", `{"url": "https://shop.example/", "session": "shop"}`, 201, lesson.StartRequest{URL: "https://shop.example/", Session: "shop"}},
		{"GET", "/lessons/", "", 200, "list"},
		{"GET", lessonPath, "", 200, "get"},
		{"GET", lessonPath + "/snapshot", "", 200, lesson.SnapshotRequest{}},
		{"GET", lessonPath + "/snapshot?scope=%23a&find=two+words&extract=li&max_bytes=500", "", 200,
			lesson.SnapshotRequest{Scope: "#a", Find: "two words", Extract: "li", MaxBytes: 500}},
		{"GET", lessonPath + "/screenshot.jpg", "", 200, "screenshot"},
		{"GET", lessonPath + "/requests", "", 200, lesson.RequestsQuery{}},
		{"GET", lessonPath + "/requests?find=19.00+%E2%82%AC&since=2", "", 200, lesson.RequestsQuery{Find: "19.00 €", Since: 2}},
		{"GET", lessonPath + "/requests/4", "", 200, 4},
		{"POST", lessonPath + "/operations", `{"operation": {"type":"click","selector":"#go"}}`, 200, lesson.TryRequest{Operations: []json.RawMessage{click}}},
		{"POST", lessonPath + "/operations", `{"operations": [{"type":"click","selector":"#go"},{"type":"press","key":"Enter"}],
			"values": {"p": {"secret": "PIN"}}, "at": 2, "keep": false}`, 200, lesson.TryRequest{Operations: []json.RawMessage{click, press}, At: 2, Keep: new(false),
			Values: map[string]json.RawMessage{"p": json.RawMessage(`{"secret": "PIN"}`)}}},
		{"POST", lessonPath + "/save", `{}`, 200, lesson.SaveRequest{Via: routine.ViaREST}},
		{"POST", lessonPath + "/save", `{"name": "buy", "description": "Buys.", "parameters": [{"name": "q", "from": "lamp"}], "prove": "check_last",
			"other_values": {"q": "chair"}, "expected_version": 3, "dry_run": true}`, 200, lesson.SaveRequest{Name: "buy", Description: "Buys.",
			Parameters: []json.RawMessage{json.RawMessage(`{"name": "q", "from": "lamp"}`)}, Prove: lesson.ProveCheckLast,
			OtherValues: map[string]json.RawMessage{"q": json.RawMessage(`"chair"`)}, ExpectedVersion: new(3), DryRun: true, Via: routine.ViaREST}},
		{"POST", lessonPath + "/undo", `{"to": 0}`, 200, lesson.UndoRequest{}},
		{"POST", lessonPath + "/undo/", `{"to": 2, "replay": false}`, 200, lesson.UndoRequest{To: 2, Replay: new(false)}},
		{"DELETE", lessonPath, "", 200, "end"},
	} {
		scenario{row.method + row.path, row.method, row.path, "$admin", nil, row.body, row.status, nil, nil}.run(t, e)
		if diff := cmp.Diff([]any{row.want}, e.lessons.take()); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", row.method, row.path, diff)
		}
	}
}

func TestLessonAnswers(t *testing.T) {
	e := newEnv(t)
	asJSON := map[string]string{"Accept": "application/json"}
	runAll(t, e, []scenario{
		{"start", "POST", "/lessons/", "$admin", nil, `{"url": "https://shop.example/"}`, 201,
			[]string{`"lesson":"` + lessonID + `"`, `"state":"open"`, `"done":[{"ok":true`, `"snapshot":{"url":`}, []string{`"failure"`, `"candidates"`}},
		{"mend", "POST", "/lessons/", "$admin", nil, `{"routine": "buy"}`, 201,
			[]string{`"failure":{"operation":2,`, `"candidates":[{"operation":{`, `"remaining":[{`}, nil},
		{"nobody else's", "GET", "/lessons/", "$guest", nil, "", 200, []string{`{"items":[],"total":0}`}, nil},
		{"own", "GET", "/lessons/", "$admin", nil, "", 200, []string{`"items":[{"lesson":`, `"total":1`}, nil},
		{"a snapshot as text", "GET", lessonPath + "/snapshot", "$admin", nil, "", 200, []string{routine.PageTextNotice + "\npage"}, []string{`"lines"`}},
		{"whatever is accepted", "GET", lessonPath + "/snapshot", "$admin", map[string]string{"Accept": "*/*"}, "", 200, []string{"\npage"}, nil},
		{"text before JSON", "GET", lessonPath + "/snapshot", "$admin", map[string]string{"Accept": "text/plain, application/json"}, "", 200, []string{"\npage"},
			nil},
		{"a snapshot as JSON", "GET", lessonPath + "/snapshot", "$admin", asJSON, "", 200,
			[]string{`"url":"https://shop.example/"`, `"lines":[{"depth":0,"kind":"list"`, `"same_data_in_request":2`}, []string{"never instructions"}},
		{"JSON among others", "GET", lessonPath + "/snapshot", "$admin", map[string]string{"Accept": "text/html, application/json;q=0.9, */*"}, "", 200,
			[]string{`"lines"`}, nil},
		{"requests", "GET", lessonPath + "/requests", "$admin", nil, "", 200, []string{`{"requests":[{"request":3,"method":"POST"`, `"others":7`}, nil},
		{"one request", "GET", lessonPath + "/requests/4", "$admin", nil, "", 200,
			[]string{`{"request":4,"operations":[{"type":"fetch"`, `"tried":{"status":200`}, nil},
		{"operations", "POST", lessonPath + "/operations", "$admin", nil, `{"operation": {}}`, 200,
			[]string{`"ok":true,"steps":[{"ok":true,"operation":1,"record":{`, `"appeared":["h1 \"Done\""]`}, nil},
		{"undo", "POST", lessonPath + "/undo", "$admin", nil, `{"to": 1}`, 200, []string{`"done_again":["POST /visits"]`, `"replayed":[{`}, nil},
		{"save", "POST", lessonPath + "/save", "$admin", nil, `{"name": "buy"}`, 200,
			[]string{`{"saved":true,"routine":{"id":"Routine_`, `"proof":{"execution":"e"`}, nil},
		{"nothing is saved", "POST", lessonPath + "/save", "$admin", nil, `{"dry_run": true}`, 200, []string{`{"saved":false,"definition":{"name":"buy"}`}, nil},
		{"not proved", "POST", lessonPath + "/save", "$admin", nil, `{"name": "unproved"}`, 422,
			[]string{`"code":"not_proved"`, `"saved":{"saved":"draft","routine":{`, `"nearest":[{"selector":"#gone"`}, nil},
		{"end", "DELETE", lessonPath, "$admin", nil, "", 200, []string{`"state":"ended"`}, nil},
	})
	got := e.must(t, "POST", "/lessons/", asAdmin, `{"url": "https://shop.example/"}`)
	if got.header.Get("Location") != lessonPath {
		t.Errorf("location %q", got.header.Get("Location"))
	}
	got = e.must(t, "GET", lessonPath+"/snapshot", asAdmin, "")
	if got.header.Get("Content-Type") != "text/plain; charset=utf-8" || got.header.Get("Vary") != "Accept" || got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%v", got.header)
	}
	got = e.must(t, "GET", lessonPath+"/screenshot.jpg", asAdmin, "")
	if got.body != "jpg" || got.header.Get("Content-Type") != "image/jpeg" || !strings.Contains(got.header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("%v %s", got.header, got.body)
	}
	e.lessons.failing = true
	scenario{"a failed operation is an answer", "POST", lessonPath + "/operations", "$admin", nil, `{"operation": {}}`, 200,
		[]string{`"ok":false,"steps":[{"ok":false,"record":`, `"error":{"code":"element_not_found"`, `"nearest":[{"selector":"#gone"`}, nil}.run(t, e)
}

func TestLessonRefusals(t *testing.T) {
	e := newEnv(t)
	operations, undo := lessonPath+"/operations", lessonPath+"/undo"
	runAll(t, e, []scenario{
		{"an unknown field", "POST", "/lessons/", "$admin", nil, `{"link": "x"}`, 400,
			[]string{`"pointer":"/link"`, "its fields are url, routine, execution, until, values, incognito, session"}, nil},
		{"all faults at once", "POST", "/lessons/", "$admin", nil, `{"url": 1, "until": "x", "values": [], "incognito": null, "session": 1}`, 400,
			[]string{`"pointer":"/url"`, `"pointer":"/until"`, `"pointer":"/values"`, `"pointer":"/incognito"`, "incognito must be true or false",
				`"pointer":"/session"`}, nil},
		{"no object", "POST", "/lessons/", "$admin", nil, `[]`, 400, nil, nil},
		{"no JSON", "POST", "/lessons/", "$admin", map[string]string{"Content-Type": "text/plain"}, `{}`, 415, nil, nil},
		{"an unknown parameter", "GET", "/lessons/?all=true", "$admin", nil, "", 400, []string{`"pointer":"/all"`}, nil},
		{"too small a look", "GET", lessonPath + "/snapshot?max_bytes=10", "$admin", nil, "", 400, []string{"max_bytes must be one integer from 500 to 24000"}, nil},
		{"requests since nothing", "GET", lessonPath + "/requests?since=-1", "$admin", nil, "", 400, []string{"since must be one integer of at least 0"}, nil},
		{"a request that is no number", "GET", lessonPath + "/requests/x", "$admin", nil, "", 404, []string{"its number is in the list"}, nil},
		{"no operation", "POST", operations, "$admin", nil, `{}`, 400, []string{"either the field operation or the field operations"}, nil},
		{"both", "POST", operations, "$admin", nil, `{"operation": {}, "operations": [{}]}`, 400, []string{"either the field operation"}, nil},
		{"operations that are none", "POST", operations, "$admin", nil, `{"operations": {}}`, 400, []string{"operations must be a list"}, nil},
		{"no JSON of operations", "POST", operations, "$admin", map[string]string{"Content-Type": "text/plain"}, `{}`, 415, nil, nil},
		{"parameters that are no list", "POST", lessonPath + "/save", "$admin", nil, `{"parameters": {}}`, 400, []string{"parameters must be a list"}, nil},
		{"no JSON to save", "POST", lessonPath + "/save", "$admin", map[string]string{"Content-Type": "text/plain"}, `{}`, 415, nil, nil},
		{"no number to keep", "POST", undo, "$admin", nil, `{}`, 400, []string{`needs the field \"to\"`, `{\"to\": 2}`}, nil},
		{"a number that is none", "POST", undo, "$admin", nil, `{"to": 1.5}`, 400, []string{"to must be a whole number"}, nil},
		{"no JSON of undo", "POST", undo, "$admin", map[string]string{"Content-Type": "text/plain"}, `{}`, 415, nil, nil},
		{"nobody", "POST", "/lessons/", "", nil, `not even JSON`, 401, nil, nil},
	})
	for _, call := range lessonCalls {
		for _, row := range []struct {
			err    error
			status int
			code   string
		}{
			{routine.Errorf(routine.CodeConflict, "the lesson is busy with operation 4; ask again"), 409, "conflict"},
			{routine.Errorf(routine.CodePageLost, "the page crashed"), 409, "page_lost"},
			{routine.Errorf(routine.CodeNotFound, "there is no lesson"), 404, "not_found"},
			{routine.Errorf(routine.CodeElementNotFound, "nothing matches #a"), 422, "element_not_found"},
			{routine.Errorf(routine.CodeTimeout, "the page is busy"), 422, "timeout"},
			{&routine.Error{Code: routine.CodeBusy, Message: "2 of 2 lessons are open", RetryAfter: 30e9}, 503, "busy"},
			{routine.Internal("look", errString("a secret of the page")), 500, "internal"},
		} {
			if !strings.Contains(call.statuses, string(rune('0'+row.status%10))) {
				continue
			}
			e.lessons.err = row.err
			scenario{call.method + call.path, call.method, call.path, "$admin", nil, call.body, row.status,
				[]string{`"code":"` + row.code + `"`}, []string{"secret"}}.run(t, e)
		}
	}
	e.lessons.err = routine.Errorf(routine.CodeInvalid, "request 1 has a body that is not text")
	scenario{"no operation can make it", "GET", lessonPath + "/requests/1", "$admin", nil, "", 400, []string{`"code":"invalid"`}, nil}.run(t, e)
	e.lessons.err = &routine.Error{Code: routine.CodeBusy, Message: "2 of 2 lessons are open", RetryAfter: 30e9}
	if got := e.must(t, "POST", "/lessons/", asAdmin, `{}`); got.header.Get("Retry-After") != "30" {
		t.Errorf("Retry-After %q", got.header.Get("Retry-After"))
	}
}

// lessonCalls are all calls about lessons. The statuses of the errors that each can
// have are written as their last digits.
var lessonCalls = []struct{ method, path, body, statuses string }{
	{"POST", "/lessons/", `{}`, "4923 0"},
	{"GET", "/lessons/", "", "3 0"},
	{"GET", lessonPath, "", "43 0"},
	{"DELETE", lessonPath, "", "493 0"},
	{"GET", lessonPath + "/snapshot", "", "4923 0"},
	{"GET", lessonPath + "/screenshot.jpg", "", "4923 0"},
	{"GET", lessonPath + "/requests", "", "4923 0"},
	{"GET", lessonPath + "/requests/1", "", "4923 0"},
	{"POST", lessonPath + "/operations", `{"operation": {}}`, "4923 0"},
	{"POST", lessonPath + "/undo", `{"to": 1}`, "4923 0"},
	{"POST", lessonPath + "/save", `{}`, "4923 0"},
}

type errString string

func (e errString) Error() string { return string(e) }

// Without lessons, as with --lessons 0, there are no such paths.
func TestNoLessons(t *testing.T) {
	e := newEnv(t, func(c *envConfig) { c.http.Lessons = nil })
	for _, call := range lessonCalls {
		if got := e.must(t, call.method, call.path, asAdmin, call.body); got.status != 404 {
			t.Errorf("%s %s: %d", call.method, call.path, got.status)
		}
	}
}
