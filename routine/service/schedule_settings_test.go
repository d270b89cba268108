package service_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// Each row is what is sent, and the problems of the answer in the form pointer code: part of
// the message.
func TestScheduleProblems(t *testing.T) {
	s := newScheduler(t)
	r := create(t, s.Service, ann, order)
	valid := fmt.Sprintf(`"routine_id": %q, "cron": "0 7 * * *", "parameters": {"item": "tea"}`, r.ID)
	for _, row := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", ``, []string{"/cron required: cron is missing", "/routine_id required: routine_id is missing"}},
		{"no object", `[]`, []string{" json_syntax: the schedule must be a JSON object"}},
		{"a key twice", `{"cron": "@daily", "cron": "@hourly"}`, []string{" json_syntax: with each field once"}},
		{"cron and zone", `{"routine_id": "x", "cron": "0 25 * * *", "zone": "Mars/Olympus"}`,
			[]string{"/cron cron: the hour \"25\" in cron is wrong: it is 0 to 23, as in", "/zone zone: is not known"}},
		{"30 February", `{"routine_id": "x", "cron": "0 7 30 2 *"}`, []string{"/cron never: selects no time"}},
		{"unknown setting", `{` + valid + `, "crom": 1, "id": "x"}`, []string{"/crom unknown_field: has no setting", "/id unknown_field: has no setting"}},
		{"types", `{"routine_id": 1, "cron": 2, "zone": 3, "enabled": "yes", "timeout_seconds": 301, "missed": "never", "notify": "no", "callback_url": {}, ` +
			`"parameters": [], "routine_version": -1}`,
			[]string{"/callback_url type", "/cron type", "/enabled type: must be true or false", "/missed type: must be one of run_once, skip",
				"/notify type: must be one of always, on_failure, on_change", "/parameters type", "/routine_id type", "/routine_version type",
				"/timeout_seconds type: must be a number from 1 to 300", "/zone type"}},
		{"values", `{"routine_id": "` + r.ID + `", "cron": "@daily", "parameters": {"thing": "tea"}}`,
			[]string{"/parameters/item required: is required", "/parameters/thing unknown_parameter: is not a parameter"}},
		{"a mask instead of a secret", strings.Replace("{"+valid+"}", `"tea"`, `"tea", "code": "***"`, 1),
			[]string{"/parameters/code masked: give the value itself"}},
		{"too large", strings.Replace("{"+valid+"}", `tea`, strings.Repeat("x", 257<<10), 1), []string{"/parameters too_large: at most 262144 bytes"}},
		{"notify without callback", `{` + valid + `, "notify": "on_change"}`, []string{"/notify needs_callback: callback_url, which is missing"}},
		{"callback", `{` + valid + `, "callback_url": "ftp://x"}`, []string{"/callback_url callback_url: give an absolute http or https URL"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := s.CreateSchedule(t.Context(), ann, []byte(row.text), service.Idempotency{})
			problems := routine.AsError(err).Problems
			if routine.CodeOf(err) != routine.CodeInvalid || len(problems) != len(row.want) {
				t.Fatalf("%v: %v", err, problems)
			}
			for i, want := range row.want {
				place, part, _ := strings.Cut(want, ": ")
				if p := problems[i]; p.Pointer+" "+p.Code != place || !strings.Contains(p.Message, part) {
					t.Errorf("%s %s: %s, want %s", p.Pointer, p.Code, p.Message, want)
				}
			}
		})
	}
	for _, row := range []struct {
		p    routine.Principal
		text string
		want routine.Code
	}{
		{ann, `{"routine_id": "Routine_x", "cron": "@daily"}`, routine.CodeNotFound},
		{ann, `{` + valid + `, "routine_version": 2}`, routine.CodeNotFound},
		{bob, `{` + valid + `}`, routine.CodeForbidden},
		{nobody, `{` + valid + `}`, routine.CodeUnauthenticated},
		{routine.Principal{UserID: "ann", OrganizationID: "acme", Scopes: routine.ScopeExecutionsRead}, `{` + valid + `}`, routine.CodeForbidden},
	} {
		if _, err := s.CreateSchedule(t.Context(), row.p, []byte(row.text), service.Idempotency{}); routine.CodeOf(err) != row.want {
			t.Errorf("%s: %v, want %s", row.text, err, row.want)
		}
	}
	if _, total, err := s.Schedules(t.Context(), ann, routine.ScheduleFilter{}); total != 0 || err != nil {
		t.Errorf("%d schedules, %v", total, err)
	}
}

// One organization cannot see or change the schedules of another.
func TestSchedulesAreOfTheirOrganization(t *testing.T) {
	s := newScheduler(t)
	sc := s.add(t, ann, create(t, s.Service, ann, private).ID, `"cron": "@daily"`)
	for name, call := range map[string]func(p routine.Principal, id string) error{
		"read":   func(p routine.Principal, id string) error { _, err := s.Schedule(t.Context(), p, id); return err },
		"delete": func(p routine.Principal, id string) error { return s.DeleteSchedule(t.Context(), p, id) },
		"change": func(p routine.Principal, id string) error {
			_, err := s.PatchSchedule(t.Context(), p, id, []byte(`{"enabled": false}`))
			return err
		},
	} {
		for _, row := range []struct {
			p    routine.Principal
			id   string
			want routine.Code
		}{{bob, sc.ID, routine.CodeForbidden}, {nobody, sc.ID, routine.CodeUnauthenticated}, {ann, "Schedule_x", routine.CodeNotFound}} {
			if err := call(row.p, row.id); routine.CodeOf(err) != row.want {
				t.Errorf("%s %s as %q: %v, want %s", name, row.id, row.p.UserID, err, row.want)
			}
		}
	}
	if list, total, err := s.Schedules(t.Context(), bob, routine.ScheduleFilter{}); len(list)+total != 0 || err != nil {
		t.Errorf("bob sees %d, %v", total, err)
	}
	writer := routine.Principal{UserID: "w", OrganizationID: "acme", Scopes: routine.ScopeExecutionsRun}
	if got, err := s.PatchSchedule(t.Context(), writer, sc.ID, []byte(`{"cron": "@hourly"}`)); err != nil || !got.Withheld || got.Cron != "" || got.NextAt == nil {
		t.Errorf("answer to a caller who may not read: %+v, %v", got, err)
	}
}

func TestScheduleLimit(t *testing.T) {
	s := newScheduler(t)
	r := create(t, s.Service, ann, private)
	for range 100 {
		s.add(t, ann, r.ID, `"cron": "@daily"`)
	}
	_, err := s.CreateSchedule(t.Context(), ann, fmt.Appendf(nil, `{"routine_id": %q, "cron": "@daily"}`, r.ID), service.Idempotency{})
	if routine.CodeOf(err) != routine.CodeConflict || !strings.Contains(err.Error(), "has 100 schedules, and may not have more: delete one first") {
		t.Error(err)
	}
}

func TestPatchSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScheduler(t)
		ben := routine.Principal{UserID: "ben", OrganizationID: "acme", ProjectID: "q", Scopes: routine.DefaultScopes, AllowedHosts: []string{"shop.example"}}
		r, other := create(t, s.Service, ann, order), create(t, s.Service, ann, private)
		sc := s.add(t, ann, r.ID, `"cron": "0 7 * * *", "parameters": {"item": "tea", "code": "s3cret"}, "zone": "Asia/Tokyo"`)
		patch := func(p routine.Principal, text string) *routine.Schedule {
			t.Helper()
			got, err := s.PatchSchedule(t.Context(), p, sc.ID, []byte(text))
			wantNoError(t, err)
			if kept := s.read(t, sc.ID); routine.JSONText(kept) != routine.JSONText(got) {
				t.Errorf("answer %s, kept %s", routine.JSONText(got), routine.JSONText(kept))
			}
			return got
		}
		var url string
		s.browser.OnOpen = func(_ context.Context, p *routinetest.Page) error {
			p.Navigate = func(_ context.Context, to string) (routine.Navigation, error) {
				url = to
				return routine.Navigation{Status: 200}, nil
			}
			return nil
		}
		got := patch(ben, `{"enabled": false}`)
		if got.Enabled || got.NextAt != nil || got.RunsAs != "ann" || got.ProjectID != "p" {
			t.Errorf("paused: %+v", got)
		}
		got = patch(ben, `{"enabled": true, "parameters": {"item": "coffee"}, "zone": null}`)
		if got.RunsAs != "ben" || got.ProjectID != "q" || got.CreatedBy != "ann" || got.Zone != "UTC" || got.NextAt.Format("15:04") != "07:00" ||
			string(got.Parameters) != `{"code":"***","item":"coffee"}` {
			t.Errorf("changed: %+v", got)
		}
		time.Sleep(8 * time.Hour)
		if _, runs := s.runs(t); len(runs) != 1 || runs[0].CreatedBy != "ben" || !strings.HasSuffix(url, "/coffee?s3cret") ||
			!slices.Equal(s.browser.LastOpening().AllowedHosts, ben.AllowedHosts) {
			t.Errorf("runs %+v to %s", runs, url)
		}
		_, err := s.PatchSchedule(t.Context(), ben, sc.ID, fmt.Appendf(nil, `{"routine_id": %q}`, other.ID))
		if p := routine.AsError(err).Problems; len(p) != 1 || !strings.Contains(p[0].Message, "those that are stored are of another routine") {
			t.Errorf("another routine with the parameters of this one: %v", err)
		}
		got = patch(ben, fmt.Sprintf(`{"routine_id": %q, "parameters": {}}`, other.ID))
		if string(got.Parameters) != `{}` || got.RoutineID != other.ID {
			t.Errorf("another routine: %+v", got)
		}
	})
}

// A schedule of one version runs that, whatever the newest is.
func TestScheduleOfOneVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScheduler(t)
		r := create(t, s.Service, ann, private)
		sc := s.add(t, ann, r.ID, `"cron": "@hourly", "routine_version": 1`)
		_, _, err := s.ReplaceRoutine(t.Context(), ann, r.ID, []byte(order), nil)
		wantNoError(t, err)
		time.Sleep(61 * time.Minute)
		if _, runs := s.runs(t); len(runs) != 1 || runs[0].RoutineVersion != 1 || runs[0].Status != routine.ExecutionCompleted {
			t.Errorf("%+v, %+v", runs, s.read(t, sc.ID).LastSkip)
		}
	})
}

// Each row is the notify of a schedule and, for each hour, the data of its run ("fail": it
// fails), and the hours whose ends are reported.
func TestNotify(t *testing.T) {
	for _, row := range []struct {
		notify string
		data   []string
		want   []int
	}{
		{"always", []string{"a", "a", "fail"}, []int{0, 1, 2}},
		{"on_failure", []string{"a", "fail", "b", "fail"}, []int{1, 3}},
		{"on_change", []string{"a", "a", "fail", "a", "b", "b", "a"}, []int{4, 6}},
	} {
		t.Run(row.notify, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScheduler(t)
				run := 0
				s.browser.OnOpen = func(_ context.Context, p *routinetest.Page) error {
					data := row.data[min(run, len(row.data)-1)]
					run++
					if data == "fail" {
						return routine.Errorf(routine.CodeBrowserUnavailable, "no browser")
					}
					p.HTML = data
					return nil
				}
				sc := s.add(t, ann, create(t, s.Service, ann, private).ID, `"cron": "@hourly", "callback_url": "`+hook+`", "notify": "`+row.notify+`"`)
				time.Sleep(time.Duration(len(row.data))*time.Hour + 30*time.Minute)
				var got []int
				for _, d := range s.r.deliveries() {
					var body struct {
						Data struct {
							Via        string
							ScheduleID string `json:"schedule_id"`
						}
					}
					if err := json.Unmarshal([]byte(d.body), &body); err != nil || body.Data.Via != "schedule" || body.Data.ScheduleID != sc.ID {
						t.Errorf("%s: %v", d.body, err)
					}
					got = append(got, d.at.Hour()-1)
				}
				if !slices.Equal(got, row.want) {
					t.Errorf("reported %v, want %v", got, row.want)
				}
			})
		})
	}
}

// A call that is repeated with its key, also at the same time, makes one schedule.
func TestScheduleWithKey(t *testing.T) {
	s := newScheduler(t)
	text := fmt.Appendf(nil, `{"routine_id": %q, "cron": "@daily"}`, create(t, s.Service, ann, private).ID)
	key := service.Idempotency{Key: "k", Body: text}
	var ids [8]string
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() {
			sc, err := s.CreateSchedule(t.Context(), ann, text, key)
			if err != nil {
				t.Error(err)
				return
			}
			ids[i] = sc.ID
		})
	}
	all.Wait()
	if n := len(slices.Compact(ids[:])); n != 1 {
		t.Fatalf("%d schedules", n)
	}
	_, err := s.PatchSchedule(t.Context(), ann, ids[0], []byte(`{"enabled": false}`))
	wantNoError(t, err)
	sc, err := s.CreateSchedule(t.Context(), ann, text, key)
	wantNoError(t, err)
	if sc.ID != ids[0] || sc.Enabled {
		t.Errorf("again: %+v", sc)
	}
	runner := ann
	runner.Scopes = routine.ScopeExecutionsRun
	sc, err = s.CreateSchedule(t.Context(), runner, text, key)
	wantNoError(t, err)
	if sc.ID != ids[0] || !sc.Withheld {
		t.Errorf("for a caller who may not read schedules: %+v", sc)
	}
	wantNoError(t, s.DeleteSchedule(t.Context(), ann, ids[0]))
	_, err = s.CreateSchedule(t.Context(), ann, text, key)
	if routine.CodeOf(err) != routine.CodeConflict || !strings.Contains(err.Error(), "use a new key") {
		t.Errorf("after it was deleted: %v", err)
	}
}
