package httpapi_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"rote/httpapi"
	"rote/routine"
)

// scenario is one request and what must and must not be in its answer. Names
// like $private are those of env.
type scenario struct {
	name         string
	method, path string
	token        string
	headers      map[string]string
	body         string

	status int
	want   []string
	lacks  []string
}

func (s scenario) run(t *testing.T, e *env) {
	t.Helper()
	headers := maps.Clone(s.headers)
	if headers == nil {
		headers = map[string]string{}
	}
	if s.token != "" {
		headers["X-Service-Token"] = s.token
	}
	got := e.must(t, s.method, s.path, headers, s.body)
	if got.status != s.status {
		t.Errorf("status %d, want %d: %s", got.status, s.status, got.body)
	}
	for _, fragment := range s.want {
		if fragment = e.names.Replace(fragment); !strings.Contains(got.body, fragment) {
			t.Errorf("no %s in %s", fragment, got.body)
		}
	}
	for _, fragment := range s.lacks {
		if strings.Contains(got.body, fragment) {
			t.Errorf("%s in %s", fragment, got.body)
		}
	}
	if got.status >= 400 {
		checkProblem(t, got)
	}
}

// checkProblem holds an answer to the promises that all problems keep.
func checkProblem(t *testing.T, got response) {
	t.Helper()
	if got.header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("content type %q", got.header.Get("Content-Type"))
	}
	var p struct {
		Type, Title, Detail, Code string
		Status                    int
		RequestID                 string `json:"request_id"`
	}
	if err := json.Unmarshal([]byte(got.body), &p); err != nil {
		t.Fatalf("%v in %s", err, got.body)
	}
	if !strings.HasSuffix(p.Type, "/docs/errors#"+p.Code) || p.Title != http.StatusText(got.status) || p.Status != got.status || p.Detail == "" || p.Code == "" ||
		p.RequestID == "" || p.RequestID != got.header.Get("X-Request-Id") {
		t.Errorf("no whole problem: %s", got.body)
	}
	if (got.status == 401) != (got.header.Get("WWW-Authenticate") == "Bearer") {
		t.Errorf("status %d with WWW-Authenticate %q", got.status, got.header.Get("WWW-Authenticate"))
	}
	if wait, err := strconv.Atoi(got.header.Get("Retry-After")); (got.status == 503 || got.status == 429) != (err == nil && wait > 0) {
		t.Errorf("status %d with Retry-After %q", got.status, got.header.Get("Retry-After"))
	}
}

func runAll(t *testing.T, e *env, scenarios []scenario) {
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) { s.run(t, e) })
	}
}

const (
	// noDescription has its fault on line 1, misspelt its on line 4.
	noDescription = `{"name": "x", "operations": [{"type": "return_html"}]}`
	misspelt      = "{\n \"name\": \"x\",\n \"description\": \"y\",\n \"operations\": [{\"type\": \"return_htm\"}]\n}"
	doubtful      = `{"name": "x", "description": "y", "operations": [{"type": "press", "key": "Enter"}]}`
)

func quote(text string) string {
	quoted, _ := json.Marshal(text)
	return string(quoted)
}

func TestCreate(t *testing.T) {
	runAll(t, newEnv(t), []scenario{
		{"a routine's own fields come back unwrapped", "POST", "/routines/", "$admin", nil, strings.Replace(readPage, "read_page", "read_one", 1), 201,
			[]string{`"id":"Routine_`, `"name":"read_one"`, `"created_by":"admin"`, `"project_id":"default"`, `"routine_status":"active"`,
				`"created_at":1772600767`, `"version":1`, `"warnings":[]`, "Reads one page & gives its <HTML>."},
			[]string{"organization_id", "tool_name"}},
		{"without the slash", "POST", "/routines", "$admin", nil, readPage, 201, []string{`"id":"Routine_`}, nil},
		{"what is doubtful is told", "POST", "/routines/", "$admin", nil, doubtful, 201, []string{`"id":"Routine_`, `"code":"no_result"`}, nil},
		{"any +json type will do", "POST", "/routines/", "$admin", map[string]string{"Content-Type": "application/vnd.routine+json; charset=UTF-8"}, readPage, 201, nil, nil},
		{"an invalid definition", "POST", "/routines/", "$admin", nil, misspelt, 400,
			[]string{`"code":"invalid"`, `"pointer":"/operations/0/type","line":4,"column":26`, `did you mean \"return_html\"?`}, nil},
		{"warnings stand beside errors", "POST", "/routines/", "$admin", nil, `{"name": "x", "operations": [{"type": "press", "key": "Enter"}]}`, 400,
			[]string{`"errors":[{`, `"warnings":[{`, `"code":"no_result"`}, []string{`"valid"`}},
		{"no JSON", "POST", "/routines/", "$admin", nil, `{"name": }`, 400, []string{`"code":"json_syntax"`, `"column":10`}, nil},
		{"no body", "POST", "/routines/", "$admin", nil, "", 400, []string{`"code":"json_syntax"`}, nil},
		{"a bearer token", "POST", "/routines/", "", map[string]string{"Authorization": "bearer $guest"}, readPage, 201, []string{`"created_by":"gus"`, `"project_id":"visits"`}, nil},
		{"the same token twice", "POST", "/routines/", "$admin", map[string]string{"Authorization": "Bearer $admin"}, readPage, 201, nil, nil},
		{"a proxy's credentials beside a token", "POST", "/routines/", "$admin", map[string]string{"Authorization": "Basic eDp5"}, readPage, 201, nil, nil},
		{"no token", "POST", "/routines/", "", nil, readPage, 401, []string{`"code":"unauthenticated"`}, nil},
		{"an invalid token", "POST", "/routines/", "guess", nil, readPage, 401, []string{`"code":"unauthenticated"`}, []string{"guess"}},
	})
}

func TestCreateSetsLocation(t *testing.T) {
	for base, want := range map[string]string{"": "/routines/Routine_", "/rote/": "/rote/routines/Routine_", "a/b": "/a/b/routines/Routine_"} {
		e := newEnv(t, func(c *envConfig) { c.http.BasePath = base })
		prefix := strings.TrimSuffix(want, "/routines/Routine_")
		made := e.must(t, "POST", prefix+"/routines/", asAdmin, readPage)
		location := made.header.Get("Location")
		if !strings.HasPrefix(location, want) {
			t.Fatalf("base %q: location %q", base, location)
		}
		if got := e.must(t, "GET", location, asAdmin, ""); got.status != 200 {
			t.Errorf("base %q: %s gives %d", base, location, got.status)
		}
		if got := e.must(t, "GET", "/healthz", nil, ""); (got.status == 200) != (prefix == "") {
			t.Errorf("base %q: a path outside of it gives %d", base, got.status)
		}
	}
}

func TestValidate(t *testing.T) {
	const path = "/routines/validate_routine_json"
	valid := []string{`"valid":true`, `"routine":{"name":"read_page"`, `"incognito":true`, `"errors":[]`, `"warnings":[]`}
	runAll(t, newEnv(t), []scenario{
		{"the routine itself", "POST", path, "", nil, readPage, 200, valid, []string{`"id"`}},
		{"with the slash", "POST", path + "/", "$guest", nil, readPage, 200, valid, nil},
		{"wrapped as an object", "POST", path, "", nil, `{"routine_json": ` + readPage + `}`, 200, valid, nil},
		{"wrapped as a string", "POST", path, "", nil, `{"routine_json": ` + quote(readPage) + `}`, 200, valid, nil},
		{"warnings", "POST", path, "", nil, doubtful, 200, []string{`"valid":true`, `"code":"no_result"`}, nil},
		{"invalid", "POST", path, "", nil, noDescription, 400,
			[]string{`"detail":"1 problem in the routine: `, `"valid":false`, `"code":"required"`, `"line":1,"column":1`}, []string{`"warnings"`}},
		{"invalid, with warnings", "POST", path, "", nil, `{"name": "x", "operations": [{"type": "press", "key": "Enter"}]}`, 400,
			[]string{`"valid":false`, `"errors":[{`, `"warnings":[{`}, nil},
		{"invalid inside an object: lines of the body", "POST", path, "", nil, "\n\n{\"routine_json\": " + misspelt + "}", 400,
			[]string{`"pointer":"/operations/0/type","line":6,"column":26`}, nil},
		{"invalid inside a string: lines of the string", "POST", path, "", nil, "\n\n{\"routine_json\": " + quote(misspelt) + "}", 400,
			[]string{`"pointer":"/operations/0/type","line":4,"column":26`}, nil},
		{"no object", "POST", path, "", nil, `[1]`, 400, []string{`"detail":"`, `"valid":false`}, nil},
		{"no body", "POST", path, "", nil, "", 400, []string{`"detail":"`, `"valid":false`}, nil},
		{"another type: not judged", "POST", path, "", map[string]string{"Content-Type": "text/plain"}, readPage, 415, nil, []string{`"valid"`}},
	})
}

func TestRead(t *testing.T) {
	runAll(t, newEnv(t), []scenario{
		{"of the own organization", "GET", "/routines/$private", "$admin", nil, "", 200, []string{`"id":"$private"`, `"operations":[{"type":`}, []string{"organization_id"}},
		{"with the slash", "GET", "/routines/$private/", "$admin", nil, "", 200, []string{`"id":"$private"`}, nil},
		{"a percent-encoded id", "GET", "/routines/R" + "%6Futine_x%2F", "$admin", nil, "", 404, []string{`Routine_x/`}, nil},
		{"public, without token", "GET", "/routines/$public", "", nil, "", 200, []string{`"id":"$public"`}, nil},
		{"public, of another organization", "GET", "/routines/$public", "$guest", nil, "", 200, nil, nil},
		{"without token", "GET", "/routines/$private", "", nil, "", 403, []string{`"code":"forbidden"`}, []string{"read_page"}},
		{"of another organization", "GET", "/routines/$private", "$guest", nil, "", 403, []string{`"code":"forbidden"`}, []string{"read_page"}},
		{"unknown", "GET", "/routines/Routine_x", "$admin", nil, "", 404, []string{`"code":"not_found"`}, nil},
		{"unknown, without token", "GET", "/routines/Routine_x", "", nil, "", 404, nil, nil},
	})
}

// A malformed id is not found on every path.
func TestMalformedIDs(t *testing.T) {
	e := newEnv(t)
	for _, id := range []string{"x", "Routine_", "Routine_ROUTINE_1", "%00", "%ff", "%2e%2e", "'%20OR%201=1%20--", "%25", "%22", strings.Repeat("9", 4000),
		strings.ToUpper(e.names.Replace("$private")), e.names.Replace("$private") + "%00"} {
		bodies := map[string]string{"/routines/{routine_id}": `{"tags":[]}`, "/routines/{routine_id}/execute": call("x"),
			"/routines/{routine_id}/restore":  `{"version":1}`,
			"/lessons/{lesson_id}/operations": `{"operation":{}}`, "/lessons/{lesson_id}/undo": `{"to":1}`,
			"/lessons/{lesson_id}/save": `{}`}
		published().each(404, func(method, path string) {
			if !strings.Contains(path, "_id}") {
				return
			}
			asked := strings.NewReplacer("{routine_id}", id, "{execution_id}", id, "{lesson_id}", id, "{schedule_id}", id, "{version}", "1", "{name}", "n")
			scenario{"", method, asked.Replace(path) + requiredQuery(path), "$admin", nil, bodies[path], 404, []string{`"code":"not_found"`}, nil}.run(t, e)
		})
	}
}

func TestList(t *testing.T) {
	tests := []scenario{
		{"all that is of the organization", "GET", "/routines/", "$admin", nil, "", 200, []string{`"id":"$private"`, `"id":"$public"`, `"total":2,"limit":20,"offset":0}`}, nil},
		{"without the slash", "GET", "/routines", "$admin", nil, "", 200, []string{`"total":2`}, nil},
		{"public ones without token", "GET", "/routines/", "", nil, "", 200, []string{`"id":"$public"`, `"total":1`}, []string{`"is_public":false`}},
		{"a part", "GET", "/routines/?limit=1&offset=1", "$admin", nil, "", 200, []string{`"items":[{`, `"total":2,"limit":1,"offset":1}`}, nil},
		{"beyond the end", "GET", "/routines/?offset=9", "$admin", nil, "", 200, []string{`{"items":[],"total":2,"limit":20,"offset":9}`}, nil},
		{"most at once", "GET", "/routines/?limit=100", "$admin", nil, "", 200, []string{`"limit":100`}, nil},
		{"both wrong", "GET", "/routines/?limit=0&offset=-1", "$admin", nil, "", 400, []string{`"pointer":"/limit"`, `"pointer":"/offset"`}, nil},
		{"no query", "GET", "/routines/?limit=%zz", "$admin", nil, "", 400, []string{`"code":"invalid"`}, nil},
	}
	for _, query := range []string{"limit=0", "limit=101", "limit=-1", "limit=x", "limit=1.5", "limit=", "limit=99999999999999999999", "limit=1&limit=2"} {
		tests = append(tests, scenario{query, "GET", "/routines/?" + query, "$admin", nil, "", 400,
			[]string{`"detail":"limit must be one integer from 1 to 100"`, `"code":"invalid"`}, nil})
	}
	for _, query := range []string{"offset=-1", "offset=x", "offset=0.0", "offset=99999999999999999999"} {
		tests = append(tests, scenario{query, "GET", "/routines/?" + query, "$admin", nil, "", 400, []string{`"detail":"offset must be one integer of at least 0"`}, nil})
	}
	runAll(t, newEnv(t), tests)
}

func TestOpenPaths(t *testing.T) {
	runAll(t, newEnv(t), []scenario{
		{"health", "GET", "/healthz", "", nil, "", 200, []string{`{"status":"ok"}`}, nil},
		{"health with the slash", "GET", "/healthz/", "", nil, "", 200, nil, nil},
		{"health with a token that is no good", "GET", "/healthz", "guess", nil, "", 200, nil, nil},
		{"readiness", "GET", "/readyz", "guess", nil, "", 200, []string{`{"status":"ready"}`}, nil},
		{"a schema", "GET", "/schemas/routine.json", "guess", nil, "", 200, []string{`"$id": "https://rote.invalid/schemas/routine.json"`}, nil},
		{"an operation's schema, with the slash", "GET", "/schemas/operations/click.json/", "", nil, "", 200, []string{`"$id": "https://rote.invalid/schemas/operations/click.json"`}, nil},
		{"no schema", "GET", "/schemas/none.json", "", nil, "", 404, nil, nil},
		{"a directory of schemas", "GET", "/schemas/operations", "", nil, "", 404, nil, nil},
		{"outside of the schemas", "GET", "/schemas/..%2Fschemas.go", "", nil, "", 404, nil, nil},
		{"unknown", "GET", "/nothing", "", nil, "", 404, []string{`"code":"not_found"`}, []string{"nothing\""}},
		{"the root", "GET", "/", "", nil, "", 404, nil, nil},
		{"below a routine", "GET", "/routines/$public/other", "", nil, "", 404, nil, nil},
	})
	e := newEnv(t)
	if got := e.must(t, "GET", "/schemas/routine.json", nil, ""); got.header.Get("Content-Type") != "application/schema+json" {
		t.Errorf("a schema is %s", got.header.Get("Content-Type"))
	}
}

// An invalid token is rejected on every path that reads tokens, also if the path
// needs none.
func TestBadTokens(t *testing.T) {
	e := newEnv(t)
	for name, headers := range map[string]map[string]string{
		"unknown":          {"X-Service-Token": "guess"},
		"unknown bearer":   {"Authorization": "Bearer guess"},
		"empty":            {"X-Service-Token": ""},
		"empty bearer":     {"Authorization": "Bearer"},
		"another scheme":   {"Authorization": "Basic $admin"},
		"two that differ":  {"X-Service-Token": "$admin", "Authorization": "Bearer $guest"},
		"one of two valid": {"X-Service-Token": "guess", "Authorization": "Bearer $admin"},
	} {
		for _, call := range [][3]string{{"POST", "/routines/", readPage}, {"POST", "/routines/validate_routine_json", readPage}, {"GET", "/routines/", ""},
			{"GET", "/routines/$public", ""}, {"GET", "/routines/none", ""}, {"POST", "/routines/$private/execute", `{"parameters": {}}`}} {
			t.Run(name+" "+call[0]+call[1], func(t *testing.T) {
				scenario{"", call[0], call[1], "", headers, call[2], 401, []string{`"code":"unauthenticated"`}, []string{adminToken}}.run(t, e)
			})
		}
	}
}

func TestLocalPrincipalIsEveryCaller(t *testing.T) {
	runAll(t, newEnv(t, func(c *envConfig) {
		c.http.Local = &routine.Principal{UserID: "local", OrganizationID: "default", ProjectID: "p", Scopes: routine.DefaultScopes}
	}), []scenario{
		{"without token", "POST", "/routines/", "", nil, readPage, 201, []string{`"created_by":"local"`, `"project_id":"p"`}, nil},
		{"tokens are not looked at", "GET", "/routines/$private", "guess", nil, "", 200, nil, nil},
	})
}

var _ http.Handler = httpapi.NewHandler(httpapi.Config{}) // the zero value makes a handler
