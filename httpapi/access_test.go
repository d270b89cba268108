package httpapi_test

import (
	"fmt"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// accessCalls are the requests of the access matrix, by action; what follows a
// slash tells those of one action apart. $object is a routine's id.
var accessCalls = map[string]struct {
	method, path, body string
	ok                 int
}{
	"list":     {"GET", "/routines/", "", 200},
	"read":     {"GET", "/routines/$object", "", 200},
	"read/as":  {"GET", "/routines/$object/openapi.json", "", 200},
	"read/to":  {"GET", "/routines/$object/export?to=curl", "", 200},
	"history":  {"GET", "/routines/$object/versions", "", 200},
	"version":  {"GET", "/routines/$object/versions/1", "", 200},
	"diff":     {"GET", "/routines/$object/versions/1?diff_from=1", "", 200},
	"patch":    {"PATCH", "/routines/$object", `{"routine_status": "active"}`, 200},
	"restore":  {"POST", "/routines/$object/restore", `{"version": 1}`, 200},
	"archive":  {"DELETE", "/routines/$object", "", 200},
	"create":   {"POST", "/routines/", readPage, 201},
	"validate": {"POST", "/routines/validate_routine_json", readPage, 200},
	"metrics":  {"GET", "/metrics", "", 200},
	"execute":  {"POST", "/routines/$object/execute", call("x"), 201},
}

// TestAccessMatrix is the whole access matrix over REST, with real tokens.
func TestAccessMatrix(t *testing.T) {
	seen := map[string]bool{}
	e := newEnv(t)
	for _, c := range routinetest.Access() {
		for name, request := range accessCalls {
			if action, _, _ := strings.Cut(name, "/"); action != c.Action {
				continue
			}
			seen[name] = true
			t.Run(c.String()+" "+name, func(t *testing.T) {
				want := map[routine.Code]int{"": request.ok, routine.CodeUnauthenticated: 401, routine.CodeForbidden: 403,
					routine.CodeNotFound: 404, routine.CodeConflict: 409}[c.Want]
				s := scenario{"", request.method, request.path, e.tokenOf(t, c.Caller), map[string]string{}, request.body, want, nil, nil}
				s.path = e.object(t, s.path, c.Object)
				if c.LacksScope() {
					s.want = []string{c.Scope}
				}
				s.run(t, e)
			})
		}
	}
	if len(seen) != len(accessCalls) {
		t.Errorf("the matrix has %d of the %d actions here", len(seen), len(accessCalls))
	}
}

// tokenOf returns a new token of a caller, or "" for an anonymous one.
func (e *env) tokenOf(t *testing.T, p routine.Principal) string {
	t.Helper()
	if p.Anonymous() {
		return ""
	}
	secret, _, err := e.service.CreateToken(t.Context(), p, 0)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// object puts the id of a new routine of the kind that the matrix names.
func (e *env) object(t *testing.T, path, kind string) string {
	t.Helper()
	id := "Routine_x"
	if kind != "unknown" && kind != "-" {
		r := routinetest.Routine(t, func(r *routine.Routine) {
			r.Definition = routinetest.Parse(t, readPage)
			r.IsPublic = kind == "public"
			if kind == "archived" {
				r.Status = routine.StatusArchived
			}
		})
		if err := e.store.CreateRoutine(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		id = r.ID
	}
	return strings.ReplaceAll(path, "$object", id)
}

// A revoked token is refused from the next call on, also if another process has
// revoked it.
func TestRevokedTokenIsRefusedAtOnce(t *testing.T) {
	e := newEnv(t)
	secret, token, err := e.service.CreateToken(t.Context(), admin, 0)
	if err != nil {
		t.Fatal(err)
	}
	read := scenario{"", "GET", "/routines/$private", secret, nil, "", 200, nil, nil}
	read.run(t, e)
	// Not through the service: as another process would.
	if err := e.store.RevokeToken(t.Context(), token.ID, routinetest.Time); err != nil {
		t.Fatal(err)
	}
	read.status, read.want = 401, []string{`"code":"unauthenticated"`}
	read.run(t, e)
}

// A reader sees the change of another process at once.
func TestReadSeesChangeOfAnotherProcess(t *testing.T) {
	e := newEnv(t)
	for version := 2; version < 5; version++ {
		for range 2 {
			scenario{"", "GET", "/routines/$private", "$admin", nil, "", 200, []string{fmt.Sprintf(`"version":%d`, version-1)}, nil}.run(t, e)
		}
		r, err := e.store.Routine(t.Context(), e.names.Replace("$private"))
		if err != nil {
			t.Fatal(err)
		}
		r.Version, r.Name = version, fmt.Sprint("name ", version)
		if err := e.store.UpdateRoutine(t.Context(), r, "another"); err != nil { // not through the service
			t.Fatal(err)
		}
		scenario{"", "GET", "/routines/$private", "$guest", nil, "", 403, nil, nil}.run(t, e)
		got := e.must(t, "GET", "/routines/$private", asAdmin, "")
		if !strings.Contains(got.body, r.Name) || got.header.Get("ETag") != fmt.Sprintf("%q", fmt.Sprint(version)) {
			t.Errorf("version %d: %s %s", version, got.header.Get("ETag"), got.body)
		}
	}
}

// A missing right is reported before any error in the body.
func TestMissingRightIsReportedBeforeBodyErrors(t *testing.T) {
	e := newEnv(t)
	reader := e.tokenOf(t, routine.Principal{UserID: "r", OrganizationID: admin.OrganizationID, ProjectID: "p", Scopes: routine.ScopeRoutinesRead})
	plain := map[string]string{"Content-Type": "text/plain"}
	for _, to := range [][2]string{{"POST", "/routines/"}, {"PATCH", "/routines/$private"}, {"POST", "/routines/$private/restore"}, {"POST", "/executions/"}} {
		for name, row := range map[string]scenario{
			"no JSON":    {body: "{", status: 401},
			"no type":    {body: "{}", headers: plain, status: 401},
			"too long":   {body: strings.Repeat("x", 5<<20), status: 401},
			"no scope":   {body: "{", token: reader, status: 403},
			"may, wrong": {body: "{", token: "$admin", status: 400},
		} {
			row.method, row.path = to[0], to[1]
			t.Run(strings.Join(append(to[:], name), " "), func(t *testing.T) { row.run(t, e) })
		}
	}
}

// The declaration of a secret parameter shows no value of it outside the routine's
// own organization, in whatever order the readers come.
func TestSecretsOfPublicRoutinesAreNotShown(t *testing.T) {
	e := newEnv(t)
	r, _, err := e.service.CreateRoutine(t.Context(), admin, []byte(`{"name": "n", "description": "d", "is_public": true, "parameters": [
		{"name": "p", "x-secret": true, "default": "hunter2", "examples": ["hunter3"], "observed_value": "hunter4", "x-note": "hunter5",
		 "validation": {"pattern": "^hunter[2-7]$", "enum_values": ["hunter2", "hunter3", "hunter7"], "min_length": 7, "max_length": 7, "x-of": {"hunter8": 1}}},
		{"name": "n", "type": "integer", "x-secret": true, "min_value": 47114711, "max_value": 47114711},
		{"name": "e", "type": "enum", "x-secret": true, "enum_values": ["hunter9"]}, {"name": "q", "default": "shown"}],
		"operations": [{"type": "press", "key": "{{p}}{{q}}{{n}}{{e}}"}]}`), service.Idempotency{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, token := range []string{"$admin", "", "$guest"} {
			headers := map[string]string{}
			if token != "" {
				headers["X-Service-Token"] = token
			}
			for _, path := range []string{"/routines/" + r.ID, "/routines/?q=n", "/routines/" + r.ID + "/openapi.json"} {
				got := e.must(t, "GET", path, headers, "")
				tells := strings.Contains(got.body, "hunter") || strings.Contains(got.body, "47114711")
				if got.status != 200 || tells != (token == "$admin") || !strings.Contains(got.body, "shown") || strings.Contains(got.body, `:7`) && token != "$admin" {
					t.Errorf("%s for %q shows values: %v, status %d: %s", path, token, tells, got.status, got.body)
				}
			}
			for _, path := range []string{"/routines/" + r.ID + "/versions/", "/routines/" + r.ID + "/versions/1", "/routines/" + r.ID + "/versions/1?diff_from=1"} {
				if got := e.must(t, "GET", path, headers, ""); token != "$admin" && got.status != 403 && got.status != 401 {
					t.Errorf("%s for %q: status %d: %s", path, token, got.status, got.body)
				}
			}
		}
	}
}
