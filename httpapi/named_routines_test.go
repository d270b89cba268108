package httpapi_test

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestRoutinesByName(t *testing.T) {
	e := newEnv(t)
	definition := `{"name": "A/b ü", "description": "d", "operations": [{"type": "return_html"}]}`
	path := "/routines/by-name/A%2Fb%20%C3%BC"
	created := e.must(t, "PUT", path, asAdmin, definition)
	var r struct {
		ID      string `json:"id"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal([]byte(created.body), &r); err != nil || created.status != 201 || created.header.Get("Location") != "/routines/"+r.ID || created.header.Get("ETag") != `"1"` {
		t.Fatalf("%d %v %s", created.status, created.header, created.body)
	}
	changedText := strings.Replace(definition, `"d"`, `"e"`, 1)
	with := func(name, value string) map[string]string {
		return map[string]string{"X-Service-Token": "$admin", name: value}
	}
	runAll(t, e, []scenario{
		{name: "read", method: "GET", path: path, token: "$admin", status: 200, want: []string{r.ID}},
		{name: "the same again", method: "PUT", path: path, token: "$admin", body: definition, status: 200, want: []string{`"version":1`}},
		{name: "only a new one", method: "PUT", path: path, headers: with("If-None-Match", "*"), body: changedText, status: 412, want: []string{r.ID}},
		{name: "If-None-Match of a version", method: "PUT", path: path, headers: with("If-None-Match", `"1"`), body: changedText, status: 400, want: []string{"If-Match"}},
		{name: "another version", method: "PUT", path: path, headers: with("If-Match", `"2"`), body: changedText, status: 412},
		{name: "its version", method: "PUT", path: path, headers: with("If-Match", `"1"`), body: changedText, status: 200, want: []string{`"version":2`, r.ID}},
		{name: "another name in the body", method: "PUT", path: "/routines/by-name/other", token: "$admin", body: definition, status: 400, want: []string{`"pointer":"/name"`}},
		{name: "a form", method: "PUT", path: path, headers: with("Content-Type", "application/x-www-form-urlencoded"), body: "a=b", status: 415},
		{name: "a change of several", method: "PUT", path: "/routines/by-name/read_page", token: "$admin", body: readPage, status: 409, want: []string{"$private", "$public"}},
		{name: "several of the name", method: "GET", path: "/routines/by-name/read_page", token: "$admin", status: 409, want: []string{"$private", "$public"}},
		{name: "none of the name", method: "GET", path: "/routines/by-name/none", token: "$admin", status: 404},
		{name: "of another organization", method: "GET", path: path, token: "$guest", status: 404},
		{name: "read without a token", method: "GET", path: path, status: 401},
		{name: "put without a token", method: "PUT", path: path, body: definition, status: 401},
		{name: "a second POST of the definition", method: "POST", path: "/routines/", token: "$admin", body: changedText, status: 201, want: []string{`"duplicate_routine"`, r.ID}},
	})
}

// A list for a caller without a token says that it has public routines only.
func TestListSaysPublicOnly(t *testing.T) {
	e := newEnv(t)
	for _, row := range []struct {
		headers map[string]string
		public  bool
	}{{nil, true}, {asAdmin, false}} {
		got := e.must(t, "GET", "/routines/", row.headers, "")
		if told := strings.Contains(got.body, `"public_only":true`); told != row.public || (got.header.Get("WWW-Authenticate") == "Bearer") != row.public {
			t.Errorf("%v: WWW-Authenticate %q, %s", row.headers, got.header.Get("WWW-Authenticate"), got.body)
		}
	}
}
