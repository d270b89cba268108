package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
)

func TestPatch(t *testing.T) {
	const path = "/routines/$private"
	ifMatch := func(value string) map[string]string { return map[string]string{"If-Match": value} }
	rename := `{"name": "renamed"}`
	runAll(t, newEnv(t), []scenario{
		{"without token", "PATCH", path, "", nil, rename, 401, []string{`"code":"unauthenticated"`}, nil},
		{"unknown, without token", "PATCH", "/routines/none", "", nil, rename, 401, nil, nil},
		{"of another organization", "PATCH", path, "$guest", nil, rename, 403, nil, nil},
		{"public, of another organization", "PATCH", "/routines/$public", "$guest", nil, rename, 403, nil, nil},
		{"unknown", "PATCH", "/routines/none", "$admin", nil, rename, 404, nil, nil},
		{"the version is another", "PATCH", path, "$admin", ifMatch(`"2"`), rename, 412, []string{`"code":"precondition_failed"`, "version 1"}, nil},
		{"a weak tag matches nothing", "PATCH", path, "$admin", ifMatch(`W/"1"`), rename, 412, nil, nil},
		{"a tag of something else", "PATCH", path, "$admin", ifMatch(`"x", "1.0"`), rename, 412, nil, nil},
		{"no tag", "PATCH", path, "$admin", ifMatch(`1`), rename, 400, []string{"in its quotes"}, nil},
		{"one of several", "PATCH", path, "$admin", ifMatch(`"7", "1"`), rename, 200, []string{`"name":"renamed"`, `"version":2`, `"warnings":[]`}, []string{"organization_id"}},
		{"with the slash", "PATCH", path + "/", "$admin", ifMatch(`"2"`), `{"name": "again"}`, 200, []string{`"version":3`}, nil},
		{"whatever the version", "PATCH", path, "$admin", ifMatch(`*`), `{"tags": ["x"]}`, 200, []string{`"version":4`}, nil},
		{"nothing new", "PATCH", path, "$admin", nil, `{"tags": ["x"], "version": 9}`, 200, []string{`"version":4`}, nil},
		{"what is doubtful is told", "PATCH", path, "$admin", nil, `{"colour": "blue"}`, 200, []string{`"code":"unknown_field"`}, nil},
		{"an invalid result", "PATCH", path, "$admin", nil, `{"name": ""}`, 400, []string{`"pointer":"/name","line":1,"column":10,"code":"minLength"`}, nil},
		{"no object", "PATCH", path, "$admin", nil, `[]`, 400, []string{`"code":"type"`}, nil},
		{"no body", "PATCH", path, "$admin", nil, "", 400, []string{`"code":"json_syntax"`}, nil},
		{"no such change of status", "PATCH", "/routines/$archived", "$admin", nil, `{"routine_status": "draft"}`, 409, []string{`"code":"conflict"`, "only active"}, nil},
		{"what is archived", "PATCH", "/routines/$archived", "$admin", nil, rename, 409, []string{"make it active"}, nil},
		{"another kind of patch", "PATCH", path, "$admin", map[string]string{"Content-Type": "application/diff+json"}, `[]`, 415, []string{"json-patch+json"}, nil},
		{"too large", "PATCH", path, "$admin", nil, strings.Repeat(" ", 5<<20), 413, []string{`"code":"too_large"`}, nil},
	})
}

func TestJSONPatch(t *testing.T) {
	const path = "/routines/$private"
	with := func(name, value string) map[string]string {
		return map[string]string{"Content-Type": "application/json-patch+json", name: value}
	}
	plain := with("Accept", "application/json")
	rename := `[{"op": "replace", "path": "/name", "value": "renamed"}]`
	runAll(t, newEnv(t), []scenario{
		{"without token", "PATCH", path, "", plain, rename, 401, nil, nil},
		{"of another organization", "PATCH", path, "$guest", plain, rename, 403, nil, nil},
		{"the version is another", "PATCH", path, "$admin", with("If-Match", `"2"`), rename, 412, nil, nil},
		{"no list", "PATCH", path, "$admin", plain, `{"name": "renamed"}`, 400, []string{"must be a list of steps"}, nil},
		{"an unknown step", "PATCH", path, "$admin", plain, `[{"op": "change", "path": "/name"}]`, 400, []string{`"pointer":"/0/op"`}, nil},
		{"a path that leads nowhere", "PATCH", path, "$admin", plain, `[{"op": "remove", "path": "/operations/99"}]`, 400, []string{`"pointer":"/0"`}, nil},
		{"a test that fails", "PATCH", path, "$admin", plain, `[{"op": "test", "path": "/name", "value": "other"}, ` + rename[1:],
			400, []string{`"pointer":"/0"`}, nil},
		{"an invalid result", "PATCH", path, "$admin", plain, `[{"op": "replace", "path": "/name", "value": ""}]`, 400,
			[]string{`"pointer":"/name","code":"minLength"`}, nil},
		{"what is archived", "PATCH", "/routines/$archived", "$admin", plain, rename, 409, []string{"make it active"}, nil},
		{"a change", "PATCH", path, "$admin", with("If-Match", `"1"`), rename, 200, []string{`"name":"renamed"`, `"version":2`, `"warnings":[]`}, nil},
		{"nothing new", "PATCH", path, "$admin", plain, `[{"op": "test", "path": "/name", "value": "renamed"}]`, 200, []string{`"version":2`}, nil},
		{"the status", "PATCH", path, "$admin", plain, `[{"op": "replace", "path": "/routine_status", "value": "draft"}]`, 200,
			[]string{`"routine_status":"draft"`}, nil},
	})
}

func TestArchiveAndRestore(t *testing.T) {
	const path = "/routines/$private"
	runAll(t, newEnv(t), []scenario{
		{"archive without token", "DELETE", path, "", nil, "", 401, nil, nil},
		{"archive of another organization", "DELETE", path, "$guest", nil, "", 403, nil, nil},
		{"archive what is not there", "DELETE", "/routines/none", "$admin", nil, "", 404, nil, nil},
		{"archive another version", "DELETE", path, "$admin", map[string]string{"If-Match": `"9"`}, "", 412, nil, nil},
		{"archive no version", "DELETE", path, "$admin", map[string]string{"If-Match": `9`}, "", 400, nil, nil},
		{"archive", "DELETE", path, "$admin", map[string]string{"If-Match": `"1"`}, "", 200, []string{`"routine_status":"archived"`, `"version":2`}, nil},
		{"archive again", "DELETE", path, "$admin", nil, "", 200, []string{`"version":2`}, nil},
		{"it is read", "GET", path, "$admin", nil, "", 200, []string{`"routine_status":"archived"`}, nil},
		{"it is not run", "POST", path + "/execute", "$admin", nil, call("x"), 409, nil, nil},
		{"it is not listed", "GET", "/routines/?public=false", "$admin", nil, "", 200, []string{`"total":0`}, nil},
		{"restore what is archived", "POST", path + "/restore", "$admin", nil, `{"version": 1}`, 409, nil, nil},
		{"active again", "PATCH", path, "$admin", nil, `{"routine_status": "active", "name": "renamed"}`, 200, []string{`"version":3`}, nil},
		{"restore without token", "POST", path + "/restore", "", nil, `{"version": 1}`, 401, nil, nil},
		{"restore of another organization", "POST", path + "/restore", "$guest", nil, `{"version": 1}`, 403, nil, nil},
		{"restore what is not there", "POST", "/routines/none/restore", "$admin", nil, `{"version": 1}`, 404, nil, nil},
		{"restore an unknown version", "POST", path + "/restore", "$admin", nil, `{"version": 4}`, 404, []string{"version 3"}, nil},
		{"restore over another version", "POST", path + "/restore", "$admin", map[string]string{"If-Match": `"1"`}, `{"version": 1}`, 412, nil, nil},
		{"restore with no tag", "POST", path + "/restore", "$admin", map[string]string{"If-Match": `1`}, `{"version": 1}`, 400, nil, nil},
		{"restore no version", "POST", path + "/restore", "$admin", nil, `{"version": "1"}`, 400, []string{`"pointer":"/version"`, `"code":"type"`}, nil},
		{"restore half a version", "POST", path + "/restore", "$admin", nil, `{"version": 1.5}`, 400, nil, nil},
		{"restore without version", "POST", path + "/restore", "$admin", nil, `{}`, 400, []string{`"code":"required"`}, nil},
		{"restore", "POST", path + "/restore/", "$admin", map[string]string{"If-Match": `"3"`}, `{"version": 1}`, 200, []string{`"version":4`, `"name":"read_page"`, `"routine_status":"active"`}, nil},
	})
}

func TestVersions(t *testing.T) {
	const path = "/routines/$private/versions"
	e := newEnv(t)
	for i := range 3 {
		scenario{"", "PATCH", "/routines/$private", "$admin", nil, fmt.Sprintf(`{"name": "n%d"}`, i), 200, nil, nil}.run(t, e)
	}
	tests := []scenario{
		{"all", "GET", path, "$admin", nil, "", 200, []string{
			`{"items":[{"version":4,"routine_status":"active","created_at":1772600767,"created_by":"admin"},{"version":3`,
			`"total":4,"limit":20,"offset":0}`}, []string{"operations"}},
		{"a part", "GET", path + "/?limit=2&offset=3", "$admin", nil, "", 200, []string{`{"items":[{"version":1,`, `"total":4,"limit":2,"offset":3}`}, nil},
		{"one", "GET", path + "/2", "$admin", nil, "", 200, []string{`"version":2`, `"created_by":"admin"`, `"routine":{"name":"n0"`}, []string{"organization_id"}},
		{"a difference", "GET", path + "/3?diff_from=2", "$admin", nil, "", 200, []string{`[{"op":"replace","path":"/name","value":"n1"}]`}, nil},
		{"to itself", "GET", path + "/3?diff_from=3", "$admin", nil, "", 200, []string{`[]`}, nil},
		{"unknown", "GET", path + "/5", "$admin", nil, "", 404, []string{"version 4"}, nil},
		{"from unknown", "GET", path + "/4?diff_from=5", "$admin", nil, "", 404, nil, nil},
		{"no number", "GET", path + "/x", "$admin", nil, "", 404, nil, nil},
		{"from no number", "GET", path + "/1?diff_from=x", "$admin", nil, "", 400, []string{`"pointer":"/diff_from"`}, nil},
		{"of a public routine, by others", "GET", "/routines/$public/versions", "$guest", nil, "", 403, nil, nil},
		{"of a public routine, without token", "GET", "/routines/$public/versions/1", "", nil, "", 403, nil, nil},
		{"of an unknown routine", "GET", "/routines/none/versions", "$admin", nil, "", 404, nil, nil},
		{"a query that cannot be read", "GET", path + "?a;b", "$admin", nil, "", 400, nil, nil},
		{"a query of one that cannot be read", "GET", path + "/1?a;b", "$admin", nil, "", 400, nil, nil},
	}
	for _, query := range []string{"limit=0", "limit=101", "offset=-1", "offset=9223372036854775808"} {
		tests = append(tests, scenario{query, "GET", path + "?" + query, "$admin", nil, "", 400, []string{`"code":"range"`}, nil})
	}
	runAll(t, e, tests)
	if got := e.must(t, "GET", path+"/3?diff_from=2", asAdmin, ""); got.header.Get("Content-Type") != "application/json-patch+json" {
		t.Error(got.header)
	}
}

// A client can use the ETag of each response in the If-Match of its next change.
func TestETag(t *testing.T) {
	e := newEnv(t)
	made := e.must(t, "POST", "/routines/", asAdmin, readPage)
	path, tag := made.header.Get("Location"), made.header.Get("ETag")
	for i, step := range []struct{ method, path, body string }{
		{"PATCH", path, `{"name": "a"}`}, {"PATCH", path, `{"name": "b"}`}, {"POST", path + "/restore", `{"version": 1}`}, {"DELETE", path, ""},
	} {
		got := e.must(t, step.method, step.path, map[string]string{"X-Service-Token": "$admin", "If-Match": tag}, step.body)
		tag = got.header.Get("ETag")
		if got.status != 200 || tag != fmt.Sprintf("%q", fmt.Sprint(i+2)) {
			t.Errorf("%s: %d %s %s", step.method, got.status, tag, got.body)
		}
		if read := e.must(t, "GET", path, asAdmin, ""); read.header.Get("ETag") != tag {
			t.Errorf("read with %s after %s", read.header.Get("ETag"), tag)
		}
	}
}

// A GET whose If-None-Match has the current ETag gets 304, the headers and no
// body.
func TestIfNoneMatch(t *testing.T) {
	e := newEnv(t)
	e.must(t, "POST", "/routines/", asAdmin, strings.Replace(readPage, "read_page", "unique_page", 1))
	for _, path := range []string{"/routines/$private", "/routines/$private/", "/routines/$private/openapi.json", "/routines/by-name/unique_page"} {
		for _, row := range []struct {
			header string
			want   int
		}{
			{`"1"`, 304}, {`W/"1"`, 304}, {`*`, 304}, {` * `, 304}, {`"0", "1"`, 304}, {`"0" , W/"1","2"`, 304}, {`"a,b", "1"`, 304}, {`,, "1"`, 304},
			{"", 200}, {`"2"`, 200}, {`1`, 200}, {`"1`, 200}, {`W/`, 200}, {`w/"1"`, 200}, {`"0", 1`, 200}, {`"1-redacted"`, 200}, {`"*"`, 200},
		} {
			for _, method := range []string{"GET", "HEAD"} {
				got := e.must(t, method, path, map[string]string{"X-Service-Token": "$admin", "If-None-Match": row.header}, "")
				if got.status != row.want || got.header.Get("ETag") != `"1"` || got.header.Get("X-Request-Id") == "" {
					t.Errorf("%s %s, If-None-Match %s: %d %v", method, path, row.header, got.status, got.header)
				}
				if got.status == 304 && (got.body != "" || got.header.Get("Content-Type") != "") {
					t.Errorf("%s %s: 304 with %v %q", method, path, got.header, got.body)
				}
			}
		}
	}
	any := map[string]string{"X-Service-Token": "$admin", "If-None-Match": "*"}
	for _, row := range []struct {
		method, path, body string
		want               int
	}{
		{"GET", "/routines/none", "", 404}, {"GET", "/routines/", "", 200}, {"GET", "/routines/$private/versions/1", "", 200},
		{"PATCH", "/routines/$private", `{"name": "a"}`, 200}, {"POST", "/routines/", readPage, 201},
	} {
		if got := e.must(t, row.method, row.path, any, row.body); got.status != row.want {
			t.Errorf("%s %s: %d %s", row.method, row.path, got.status, got.body)
		}
	}
	if got := e.must(t, "GET", "/routines/$private", map[string]string{"X-Service-Token": "$admin", "If-None-Match": `"1"`}, ""); got.status != 200 {
		t.Errorf("after a change: %d", got.status)
	}
	if got := e.must(t, "GET", "/routines/$private", nil, ""); got.status != 403 {
		t.Errorf("without token: %d", got.status)
	}
}

// Two callers who get different bodies get different ETags.
func TestETagOfARedactedRoutine(t *testing.T) {
	e := newEnv(t)
	made := e.must(t, "POST", "/routines/", asAdmin, `{"name": "log_in", "description": "Logs in.", "is_public": true,
		"parameters": [{"name": "key", "x-secret": true, "default": "k1"}],
		"operations": [{"type": "navigate", "url": "https://shop.example/{{key}}"}]}`)
	path, tag := made.header.Get("Location"), made.header.Get("ETag")
	got := e.must(t, "GET", path, map[string]string{"If-None-Match": tag}, "")
	if got.status != 200 || got.header.Get("ETag") == tag || strings.Contains(got.body, "k1") {
		t.Errorf("%d %v %s", got.status, got.header, got.body)
	}
	if again := e.must(t, "GET", path, map[string]string{"If-None-Match": got.header.Get("ETag")}, ""); again.status != 304 {
		t.Errorf("%d", again.status)
	}
}

// TestFilters has routines whose names say what they are.
func TestFilters(t *testing.T) {
	e := newEnv(t)
	for i, name := range []string{"draft", "active", "archived", "draft public", "active public no tool", `100% "of_it" \ 'x'`} {
		r := routinetest.Routine(t, func(r *routine.Routine) {
			r.Name, r.Description, r.OrganizationID, r.CreatedAt, r.Tags = name, "-", admin.OrganizationID, 2000000000+int64(i), strings.Fields(name)
			r.Status = routine.StatusActive
			for _, s := range []routine.Status{routine.StatusDraft, routine.StatusArchived} {
				if strings.Contains(name, string(s)) {
					r.Status = s
				}
			}
			r.IsPublic, r.IsMCPToolDesignated = strings.Contains(name, "public"), !strings.Contains(name, "no tool")
		})
		if err := e.store.CreateRoutine(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []struct{ token, query, want string }{
		{"$admin", "status=draft", "draft public, draft"},
		{"$admin", "status=archived&limit=1", "archived"},
		{"$admin", "status=all&tag=public", "active public no tool, draft public"},
		{"$admin", "status=active&public=true&mcp=false", "active public no tool"},
		{"$admin", "mcp=false", "active public no tool"},
		{"$admin", "tag=draft&public=false", "draft"},
		{"$admin", "tag=Draft", ""},
		{"$admin", "tag=dra", ""},
		{"$admin", "tag=" + url.QueryEscape("100%"), `100% "of_it" \ 'x'`},
		{"$admin", "q=PUBLIC", "active public no tool, draft public"},
		{"$admin", "q=tool+PUBLIC", "active public no tool"},
		{"$admin", "q=" + url.QueryEscape("%"), `100% "of_it" \ 'x'`},
		{"$admin", "q=" + url.QueryEscape("_"), `100% "of_it" \ 'x'`}, // read_page has one, too, in its name
		{"$admin", "q=" + url.QueryEscape(`"of_it"`), `100% "of_it" \ 'x'`},
		{"$admin", "q=" + url.QueryEscape(`\ 'x`), `100% "of_it" \ 'x'`},
		{"$admin", "q=" + url.QueryEscape(`' OR 1=1 --`), ""},
		{"$admin", "tag=" + url.QueryEscape(`' OR ''='`), ""},
		{"$guest", "q=no+tool", "active public no tool"},
		{"", "status=draft&q=", "draft public"},
		{"", "public=false", ""},
	} {
		t.Run(row.token+" "+row.query, func(t *testing.T) {
			headers := map[string]string{}
			if row.token != "" {
				headers["X-Service-Token"] = row.token
			}
			var got struct {
				Items []struct{ Name string }
				Total int
			}
			answer := e.must(t, "GET", "/routines/?"+row.query, headers, "")
			if err := json.Unmarshal([]byte(answer.body), &got); err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, r := range got.Items {
				if r.Name != "read_page" && r.Name != "find_price" { // those of every env
					names = append(names, r.Name)
				}
			}
			if strings.Join(names, ", ") != row.want {
				t.Errorf("%s, want %s: %s", names, row.want, answer.body)
			}
		})
	}
}

func TestInvalidFilters(t *testing.T) {
	e := newEnv(t)
	for query, pointer := range map[string]string{
		"status=gone": "/status", "status=": "/status", "status=Draft": "/status", "status=draft&status=active": "/status", "status=draft,active": "/status",
		"mcp=1": "/mcp", "mcp=": "/mcp", "public=TRUE": "/public", "public=true&public=true": "/public", "tag=a&tag=b": "/tag", "q=a&q=b": "/q",
		"q=" + strings.Repeat("x", 201): "/q", "q=" + strings.Repeat("x+", 11): "/q", "offset=9223372036854775808": "/offset",
	} {
		scenario{"", "GET", "/routines/?" + query, "$admin", nil, "", 400, []string{`"code":"invalid"`, fmt.Sprintf(`"pointer":%q`, pointer)}, nil}.run(t, e)
	}
	scenario{"", "GET", "/routines/?status=x&limit=0&mcp=y", "$admin", nil, "", 400, []string{`"detail":"3 problems in the request, first: `, "draft, active, archived, all"}, nil}.run(t, e)
	scenario{"misspelt", "GET", "/routines/?staus=archived", "$admin", nil, "", 400, []string{`"hint":"did you mean \"status\"?"`, `"pointer":"/staus"`}, nil}.run(t, e)
	scenario{"of another list", "GET", "/executions/?tag=x", "$admin", nil, "", 400, []string{`"pointer":"/tag"`}, nil}.run(t, e)
}

// TestLinks follows the links of a list from end to end.
func TestLinks(t *testing.T) {
	e := newEnv(t, func(c *envConfig) { c.http.BasePath = "/base" })
	for range 5 {
		e.must(t, "POST", "/base/routines/", asAdmin, strings.Replace(readPage, "{", `{"tags": ["a&b"],`, 1))
	}
	follow := func(path, rel string) (offsets []string) {
		for path != "" {
			got := e.must(t, "GET", path, asAdmin, "")
			if got.status != 200 || !strings.Contains(got.body, `"total":5,"limit":2`) {
				t.Fatalf("%s: %d %s", path, got.status, got.body)
			}
			u, _ := url.Parse(path)
			offsets = append(offsets, u.Query().Get("offset"))
			path = linkOf(got, rel)
		}
		return offsets
	}
	first := "/base/routines/?limit=2&tag=a%26b&offset="
	if got := fmt.Sprint(follow(first+"0", "next"), follow(first+"4", "prev"), follow(first+"1", "prev")); got != "[0 2 4] [4 2 0] [1 0]" {
		t.Error(got)
	}
	beyond := e.must(t, "GET", first+"9", asAdmin, "")
	if got := linkOf(beyond, "prev") + linkOf(beyond, "next"); got != "/base/routines/?limit=2&offset=4&tag=a%26b" {
		t.Error(got)
	}
	if whole := e.must(t, "GET", "/base/routines/?limit=7", asAdmin, ""); whole.header.Get("Link") != "" {
		t.Error(whole.header)
	}
}

// linkOf returns the target of a link, or "".
func linkOf(r response, rel string) string {
	for link := range strings.SplitSeq(r.header.Get("Link"), ", ") {
		if path, ok := strings.CutSuffix(link, fmt.Sprintf(">; rel=%q", rel)); ok {
			return strings.TrimPrefix(path, "<")
		}
	}
	return ""
}
