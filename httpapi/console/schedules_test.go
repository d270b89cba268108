package console_test

import (
	"context"
	"encoding/json"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// newScheduledRoutine stores a routine with a secret parameter and another.
func newScheduledRoutine(t *testing.T, e *env) *routine.Routine {
	t.Helper()
	r, _, err := e.service.CreateRoutine(t.Context(), operator, []byte(`{"name": "search", "description": "d", "parameters": [
		{"name": "query", "type": "string", "required": false, "description": "d"}, {"name": "size", "type": "number", "required": false, "description": "d"},
		{"name": "password", "type": "string", "x-secret": true, "required": true, "description": "d"}], "operations": [{"type": "return_html"}]}`),
		service.Idempotency{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// formKey is the field with the random key of a form.
var formKey = regexp.MustCompile(`name="key" value="[A-Z2-7]{26}"`)

// postedSchedule are the fields of a valid form.
func postedSchedule(r *routine.Routine, more ...string) []string {
	return append([]string{"routine_id", r.ID, "cron", "0 7 * * 1-5", "zone", "Europe/Berlin", "parameters",
		`{"query": "lamp", "size": 42.50}`, "secret.password", hiddenValue,
		"timeout_seconds", "30", "missed", "skip", "notify", "on_failure", "callback_url", "https://hooks.example/rote", "enabled", "1"}, more...)
}

func TestSchedulePages(t *testing.T) {
	t.Parallel()
	e := newEnv(t, withWebhooks)
	e.postHidden("/console/schedules", http.StatusUnauthorized, "secret.password", hiddenValue)
	e.signIn()
	r := newScheduledRoutine(t, e)
	golden(t, "schedules_empty.txt", stableOutline(t, e.get("/console/schedules", http.StatusOK).body))
	golden(t, "new_schedule_routine.txt", stableOutline(t, e.get("/console/schedules/new", http.StatusOK).body))
	form := e.get("/console/schedules/new?routine=search", http.StatusOK).body
	golden(t, "new_schedule.txt", stableOutline(t, formKey.ReplaceAllString(form, `name="key" value="KEY"`)))
	got := outline(t, e.get("/console/schedules/new?routine=none", http.StatusNotFound).body)
	if !strings.Contains(got, `input routine="none" required aria-invalid`) {
		t.Error(got)
	}
	path := e.postHidden("/console/schedules", http.StatusSeeOther, postedSchedule(r)...).Header.Get("Location")
	page := e.get(path, http.StatusOK)
	checkHidden(t, page, hiddenValue)
	golden(t, "schedule.txt", stableOutline(t, page.body))
	if !strings.Contains(page.body, `name="enabled" value="1" checked`) {
		t.Error(page.body)
	}
	golden(t, "schedules.txt", stableOutline(t, e.get("/console/schedules", http.StatusOK).body))
	id := strings.TrimPrefix(path, "/console/schedules/")
	sc, err := e.service.Schedule(t.Context(), operator, id)
	if err != nil || sc.Cron != "0 7 * * 1-5" || sc.Zone != "Europe/Berlin" || sc.Missed != "skip" || sc.Notify != "on_failure" ||
		!sc.Enabled || sc.NextAt == nil ||
		sc.TimeoutSeconds != 30 || sc.CallbackURL != "https://hooks.example/rote" || !strings.Contains(string(sc.Parameters), `42.50`) {
		t.Fatal(sc, err)
	}

	// The secret stays if its field is empty; what is no longer in the parameters is removed.
	e.postHidden(path, http.StatusSeeOther, "cron", "30 8 * * *", "zone", "", "parameters", `{"query": "desk"}`, "secret.password", "", "timeout_seconds", "30",
		"missed", "run_once", "notify", "always", "callback_url", "")
	sc, err = e.service.Schedule(t.Context(), operator, id)
	if err != nil || sc.Cron != "30 8 * * *" || sc.Zone != "UTC" || sc.Enabled || sc.CallbackURL != "" {
		t.Fatal(sc, err)
	}
	var parameters map[string]string
	if err := json.Unmarshal(sc.Parameters, &parameters); err != nil || len(parameters) != 2 ||
		parameters["query"] != "desk" || parameters["password"] != routine.Masked {
		t.Error(string(sc.Parameters), err)
	}
	e.post(path+"/enabled", http.StatusSeeOther, "enabled", "true")
	if sc, err = e.service.Schedule(t.Context(), operator, id); err != nil || !sc.Enabled {
		t.Error(sc, err)
	}
	e.post(path+"/enabled", http.StatusSeeOther, "enabled", "false")
	paused := e.get(path, http.StatusOK).body
	golden(t, "schedule_paused.txt", stableOutline(t, paused))
	if strings.Contains(paused, `name="enabled" value="1" checked`) {
		t.Error(paused)
	}
	e.post(path+"/delete", http.StatusSeeOther)
	e.get(path, http.StatusNotFound)
}

// A form that is posted twice creates one schedule.
func TestScheduleIsCreatedOnce(t *testing.T) {
	t.Parallel()
	e := newEnv(t, withWebhooks)
	e.signIn()
	r := newScheduledRoutine(t, e)
	var paths []string
	for _, key := range []string{"one", "one", "two"} {
		paths = append(paths, e.postHidden("/console/schedules", http.StatusSeeOther, postedSchedule(r, "key", key)...).Header.Get("Location"))
	}
	if paths[0] != paths[1] || paths[1] == paths[2] {
		t.Error(paths)
	}
}

// The page of a schedule has its runs, and why the last one was left out.
func TestScheduleRuns(t *testing.T) {
	t.Parallel()
	e := newEnv(t, withWebhooks)
	e.signIn()
	r := newScheduledRoutine(t, e)
	path := e.postHidden("/console/schedules", http.StatusSeeOther, postedSchedule(r)...).Header.Get("Location")
	id := strings.TrimPrefix(path, "/console/schedules/")
	sc, err := e.store.Schedule(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	e.addRun(1, func(x *routine.Execution) { x.RoutineID, x.ScheduleID = r.ID, id })
	e.addRun(2, func(x *routine.Execution) { x.RoutineID = r.ID })
	claim := &routine.ScheduleClaim{ID: id, Revision: sc.Revision, Due: *sc.NextAt, MovedAt: routinetest.Time, Next: routinetest.Time.Add(time.Hour)}
	skip := &routine.Skip{At: routinetest.Time, Reason: routine.SkipStillRunning, Message: hostileText}
	if err := e.store.MoveSchedule(t.Context(), claim, skip); err != nil {
		t.Fatal(err)
	}
	page := e.get(path, http.StatusOK)
	text := outline(t, page.body)
	for _, want := range []string{"/console/executions/run-1)", "Last time without a run", `<script>alert(1)</script>"'&`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s:\n%s", want, text)
		}
	}
	if strings.Contains(text, "run-2") || strings.Contains(text, "has not run") || strings.Contains(page.body, "<script>alert") {
		t.Error(page.body)
	}
	e.get("/console/schedules", http.StatusOK)
}

// A secret value of another type than its parameter is refused in its field, and not shown.
func TestSecretParametersOfSchedules(t *testing.T) {
	t.Parallel()
	e := newEnv(t, withWebhooks)
	e.signIn()
	r, _, err := e.service.CreateRoutine(t.Context(), operator, []byte(`{"name": "pins", "description": "d", "parameters": [
		{"name": "pin", "type": "integer", "x-secret": true, "required": true, "description": "d"},
		{"name": "card", "type": "string", "x-secret": true, "required": false, "description": "d", "validation": {"pattern": "^[0-9]+$"}}],
		"operations": [{"type": "return_html"}]}`), service.Idempotency{})
	if err != nil {
		t.Fatal(err)
	}
	times := []string{"routine_id", r.ID, "cron", "0 7 * * *", "missed", "skip", "notify", "always"}
	for field, fields := range map[string][]string{
		"secret.pin":  {"secret.pin", hiddenValue},
		"secret.card": {"secret.pin", "73", "secret.card", hiddenValue},
	} {
		got := e.postForm("/console/schedules", append(fields, times...)...)
		if text := outline(t, got.body); got.StatusCode != http.StatusBadRequest || !strings.Contains(text, "input password "+field+`="" aria-invalid`) {
			t.Errorf("%s: %d\n%s", field, got.StatusCode, text)
		}
		checkHidden(t, got, hiddenValue)
	}
	path := e.post("/console/schedules", http.StatusSeeOther, append(times, "secret.pin", "730195", "secret.card", "12345678")...).Header.Get("Location")
	checkHidden(t, e.get(path, http.StatusOK), "730195", "12345678")
	e.post(path, http.StatusSeeOther, append(times, "forget", "card", "parameters", "{}")...)
	text := outline(t, e.get(path, http.StatusOK).body)
	if !strings.Contains(text, `input checkbox forget="pin"`) || strings.Contains(text, `input checkbox forget="card"`) {
		t.Error(text)
	}
	id := strings.TrimPrefix(path, "/console/schedules/")
	if values, err := e.store.ScheduleValues(t.Context(), id); err != nil || string(values) != `{"pin":730195}` {
		t.Error(string(values), err)
	}
}

func TestRefusedScheduleForms(t *testing.T) {
	t.Parallel()
	e := newEnv(t, withWebhooks)
	e.signIn()
	r := newScheduledRoutine(t, e)
	path := e.postHidden("/console/schedules", http.StatusSeeOther, postedSchedule(r)...).Header.Get("Location")
	secretInText, err := json.Marshal(map[string]string{"password": hiddenValue, "query": "desk"})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ field, value, want string }{
		"cron":                  {"cron", "at noon", `input cron="at noon" required aria-invalid`},
		"zone":                  {"zone", "Moon", `input zone="Moon" aria-invalid`},
		"timeout":               {"timeout_seconds", "long", `input timeout_seconds="long" aria-invalid`},
		"callback":              {"callback_url", "javascript:alert(1)", `input callback_url="javascript:alert(1)" aria-invalid`},
		"notify":                {"notify", "never", "Webhooks for"},
		"a wrong parameter":     {"parameters", `{"size": "x"}`, `textarea parameters="{"size": "x"}" aria-invalid`},
		"an unknown parameter":  {"parameters", `{"nothing": 1}`, `textarea parameters="{"nothing": 1}" aria-invalid`},
		"no JSON with a secret": {"parameters", string(secretInText) + "}", "The text is not shown again"},
		"a secret in the text":  {"parameters", string(secretInText), `textarea parameters="{ "query": "desk" }" aria-invalid`},
		"another version":       {"routine_version", "7", "Write the parameters again"},
	} {
		for _, to := range []string{"/console/schedules", path} {
			fields := postedSchedule(r)
			for i := 0; i < len(fields); i += 2 {
				if fields[i] == c.field {
					fields[i+1] = c.value
				}
			}
			if c.field == "routine_version" {
				fields = append(fields, c.field, c.value)
			}
			got := e.postForm(to, fields...)
			text := strings.ReplaceAll(outline(t, got.body), `\"`, `"`)
			if got.StatusCode < 400 || got.StatusCode >= 500 || !strings.Contains(text, c.want) || !strings.Contains(text, `select missed="skip"`) {
				t.Errorf("%s, %s: %d\n%s", to, name, got.StatusCode, text)
			}
			checkHidden(t, got, hiddenValue)
		}
	}
	if list, _, err := e.service.Schedules(t.Context(), operator, routine.ScheduleFilter{}); err != nil || len(list) != 1 || list[0].Cron != "0 7 * * 1-5" {
		t.Error(list, err)
	}
	for i, field := range postedSchedule(r) {
		if field == "zone" {
			fields := postedSchedule(r)
			fields[i+1] = hostileText
			if got := e.postHidden("/console/schedules", http.StatusBadRequest, fields...); !strings.Contains(html.UnescapeString(got.body), hostileText) ||
				strings.Contains(got.body, "<script>alert") {
				t.Error(got.body)
			}
		}
	}
}

func TestSchedulesNeedTheirScopes(t *testing.T) {
	t.Parallel()
	e := newEnv(t, withWebhooks)
	e.signIn()
	r := newScheduledRoutine(t, e)
	path := e.postHidden("/console/schedules", http.StatusSeeOther, postedSchedule(r)...).Header.Get("Location")
	e.signIn("executions:read")
	got := outline(t, e.get(path, http.StatusOK).body)
	if strings.Count(got, "(needs a token with the scope executions:run)> disabled") != 3 || !strings.Contains(got, "Schedule of "+r.ID) {
		t.Error(got)
	}
	e.get("/console/schedules/new", http.StatusForbidden)
	for _, to := range []string{"/console/schedules", path, path + "/enabled", path + "/delete"} {
		if got := e.postHidden(to, http.StatusForbidden, postedSchedule(r)...); !strings.Contains(got.body, "needs the scope executions:run") {
			t.Error(to, got.body)
		}
	}
}

// withWebhooks lets schedules have a callback, which may be any address with HTTPS.
func withWebhooks(c *envConfig) { c.service.Sender = anySender{} }

type anySender struct{}

func (anySender) Allows(_ context.Context, url string, _ []string) error {
	if !strings.HasPrefix(url, "https://") {
		return routine.Errorf(routine.CodeInvalid, "%s is no HTTPS address", url)
	}
	return nil
}

func (anySender) Send(context.Context, string, []string, map[string]string, []byte) (int, error) {
	return http.StatusOK, nil
}
