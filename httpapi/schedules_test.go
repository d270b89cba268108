package httpapi_test

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestSchedules(t *testing.T) {
	e := newEnv(t)
	merge := map[string]string{"Content-Type": "application/merge-patch+json"}
	valid := `{"routine_id": "$private", "cron": "0 7 * * mon-fri", "zone": "Europe/Berlin", "parameters": {"page": "https://shop.example/"}}`
	made := e.must(t, "POST", "/schedules/", asAdmin, valid)
	if made.status != 201 || !strings.Contains(made.body, `"next_at":"2026-03-04T06:00:00Z"`) {
		t.Fatalf("%d %s", made.status, made.body)
	}
	path := made.header.Get("Location")
	if !strings.HasPrefix(path, "/schedules/Schedule_") {
		t.Errorf("Location %s", path)
	}
	id := filepath.Base(path)
	runAll(t, e, []scenario{
		{"read", "GET", path, "$admin", nil, "", 200, []string{`"id":"` + id, `"zone":"Europe/Berlin"`, `"runs_as":"admin"`, `"last_skip":null`}, nil},
		{"list", "GET", "/schedules/?routine_id=$private&limit=1", "$admin", nil, "", 200, []string{`"items":[{"id":"` + id, `"total":1,"limit":1,"offset":0`}, nil},
		{"list of another routine", "GET", "/schedules?routine_id=$public", "$admin", nil, "", 200, []string{`"items":[],"total":0`}, nil},
		{"list with a limit that is none", "GET", "/schedules?limit=0", "$admin", nil, "", 400, []string{`"pointer":"/limit"`}, nil},
		{"list of another organization", "GET", "/schedules", "$guest", nil, "", 200, []string{`"total":0`}, []string{id}},
		{"of another organization", "GET", path, "$guest", nil, "", 403, []string{`"code":"forbidden"`}, []string{"shop.example"}},
		{"pause", "PATCH", path, "$admin", merge, `{"enabled": false}`, 200, []string{`"enabled":false`, `"next_at":null`}, nil},
		{"resume", "PATCH", path, "$admin", nil, `{"enabled": true}`, 200, []string{`"enabled":true`, `"next_at":"2026-03-04T06:00:00Z"`}, nil},
		{"a JSON Patch", "PATCH", path, "$admin", map[string]string{"Content-Type": "application/json-patch+json"}, `[]`, 415, []string{"merge-patch"}, nil},
		{"a wrong change", "PATCH", path, "$admin", merge, `{"cron": "0 99 * * *", "zone": "x"}`, 400, []string{`"pointer":"/cron"`, `"pointer":"/zone"`,
			`the hour \"99\" in cron is wrong`}, nil},
		{"a change to an archived routine", "PATCH", path, "$admin", merge, `{"routine_id": "$archived", "parameters": {}}`, 409, []string{"is archived"}, nil},
		{"options", "OPTIONS", path, "$admin", nil, "", 204, nil, nil},
		{"of an archived routine", "POST", "/schedules", "$admin", nil, strings.Replace(valid, "$private", "$archived", 1), 409, []string{"is archived"}, nil},
		{"of an unknown routine", "POST", "/schedules", "$admin", nil, strings.Replace(valid, "$private", "Routine_x", 1), 404, []string{`"code":"not_found"`}, nil},
		{"of another's routine", "POST", "/schedules", "$guest", nil, valid, 403, nil, nil},
		{"no JSON", "POST", "/schedules", "$admin", map[string]string{"Content-Type": "text/plain"}, valid, 415, nil, nil},
		{"no schedule", "POST", "/schedules", "$admin", nil, `{}`, 400, []string{"cron is missing", "routine_id is missing"}, nil},
		{"delete", "DELETE", path, "$admin", nil, "", 204, nil, nil},
		{"deleted", "GET", path, "$admin", nil, "", 404, []string{`"code":"not_found"`}, nil},
	})
}
