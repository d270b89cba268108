package httpapi_test

import (
	"strings"
	"testing"
)

func withKey(key string) map[string]string {
	return map[string]string{"X-Service-Token": "$admin", "Idempotency-Key": key}
}

func TestIdempotencyKey(t *testing.T) {
	e := newEnv(t)
	const create, execute, schedule = "/routines/", "/routines/$private/execute", "/schedules"
	const daily = `{"routine_id": "$private", "cron": "0 7 * * *", "parameters": {"page": "https://shop.example/"}}`
	for _, row := range []struct {
		name, path, body string
		status           int
	}{
		{"create", create, readPage, 201},
		{"execute", execute, call("x"), 201},
		{"schedule", schedule, daily, 201},
		{"a run that failed", execute, call("fail/timeout"), 500},
	} {
		first := e.must(t, "POST", row.path, withKey(row.name), row.body)
		again := e.must(t, "POST", row.path, withKey(row.name), row.body)
		same := func(r response) string { return strings.Replace(r.body, r.header.Get("X-Request-Id"), "", 1) }
		if first.status != row.status || again.status != row.status || same(again) != same(first) || again.header.Get("Location") != first.header.Get("Location") {
			t.Errorf("%s: first %d %s\nagain %d %s", row.name, first.status, first.body, again.status, again.body)
		}
		scenario{"", "POST", row.path, "", withKey(row.name), row.body + " ", 422, []string{`"code":"idempotency_mismatch"`}, nil}.run(t, e)
	}
	runAll(t, e, []scenario{
		{"of another user", "POST", create, "$guest", map[string]string{"Idempotency-Key": "create"}, readPage, 201, []string{`"created_by":"gus"`}, nil},
		{"empty", "POST", create, "$admin", map[string]string{"Idempotency-Key": ""}, readPage, 400, []string{"Idempotency-Key"}, nil},
		{"one schedule", "GET", schedule, "$admin", nil, "", 200, []string{`"total":1,`}, nil},
		{"a key of another kind of call", "POST", schedule, "", withKey("create"), daily, 422, []string{`"code":"idempotency_mismatch"`}, nil},
		{"too long for a schedule", "POST", schedule, "", withKey(strings.Repeat("k", 256)), daily, 400, []string{"255"}, nil},
		{"too long", "POST", execute, "$admin", withKey(strings.Repeat("k", 256)), call("x"), 400, []string{"255"}, nil},
		{"what was refused may be asked again", "POST", create, "", withKey("k"), noDescription, 400, nil, nil},
		{"with a body that is right", "POST", create, "", withKey("k"), readPage, 201, nil, nil},
	})
}

func TestIdempotencyKeyInFlight(t *testing.T) {
	e := newEnv(t)
	first := make(chan response, 1)
	go func() {
		r, err := e.do(t.Context(), "POST", "/routines/$private/execute", withKey("k"), call("block"))
		if err != nil {
			t.Error(err)
		}
		first <- r
	}()
	<-e.browser.blocked
	conflict := e.must(t, "POST", "/routines/$private/execute", withKey("k"), call("block"))
	if conflict.status != 409 || !strings.Contains(conflict.body, "still in flight") || conflict.header.Get("Retry-After") != "2" {
		t.Errorf("while it goes on: %d %v %s", conflict.status, conflict.header, conflict.body)
	}
	async := withKey("k")
	async["Prefer"] = "respond-async"
	scenario{"", "POST", "/routines/$private/execute", "", async, call("block"), 202, []string{`"status":"running"`}, nil}.run(t, e)
	close(e.browser.release)
	done := <-first
	if again := e.must(t, "POST", "/routines/$private/execute", withKey("k"), call("block")); again.status != 201 || again.body != done.body {
		t.Errorf("first %s\nagain %d %s", done.body, again.status, again.body)
	}
}
