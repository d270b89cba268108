package service_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// order has a secret parameter.
const order = `{"name":"order","description":"Orders.","parameters":[
	{"name":"item","description":"What"},{"name":"code","description":"Whose","required":false,"x-secret":true}],
	"operations":[{"type":"navigate","url":"https://shop.example/{{item}}?{{code}}"},{"type":"return_html"}]}`

// scheduler is a service that starts scheduled runs, on a clock that begins in the year 2000.
type scheduler struct {
	*service.Service
	store   *routinetest.Store
	browser *routinetest.Browser
	r       *receiver
}

// newScheduler gives a service whose maintenance ends with the test.
func newScheduler(t *testing.T, edits ...func(*service.Config)) *scheduler {
	t.Helper()
	sc := &scheduler{store: routinetest.NewStore(), browser: &routinetest.Browser{}, r: &receiver{statuses: []int{204}}}
	s, stop := maintained(sc.store, sc.r, append([]func(*service.Config){func(c *service.Config) { c.Browser, c.Schedules = sc.browser, true }}, edits...)...)
	t.Cleanup(stop)
	sc.Service = s
	return sc
}

// add creates a schedule of a routine with more settings.
func (s *scheduler) add(t *testing.T, p routine.Principal, routineID, more string) *routine.Schedule {
	t.Helper()
	sc, err := s.CreateSchedule(t.Context(), p, fmt.Appendf(nil, `{"routine_id": %q, %s}`, routineID, more), service.Idempotency{})
	if err != nil {
		t.Fatal(err)
	}
	return sc
}

func (s *scheduler) read(t *testing.T, id string) *routine.Schedule {
	t.Helper()
	sc, err := s.Schedule(t.Context(), ann, id)
	if err != nil {
		t.Fatal(err)
	}
	return sc
}

// runs returns when the executions of ann's organization were accepted, oldest first.
func (s *scheduler) runs(t *testing.T) (at []string, all []*routine.Execution) {
	t.Helper()
	all, _, err := s.Executions(t.Context(), ann, routine.ExecutionFilter{})
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(all)
	for _, e := range all {
		at = append(at, e.CreatedAt.Format("02 15:04"))
	}
	return at, all
}

func wantTimes(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func wantSkip(t *testing.T, sc *routine.Schedule, reason, part string) {
	t.Helper()
	if sc.LastSkip == nil || sc.LastSkip.Reason != reason || !strings.Contains(sc.LastSkip.Message, part) {
		t.Errorf("skipped: %+v, want %s: %s", sc.LastSkip, reason, part)
	}
}

func TestScheduledRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScheduler(t)
		r := create(t, s.Service, ann, order)
		sc := s.add(t, ann, r.ID, `"cron": "0 7 * * *", "zone": "Europe/Berlin", "parameters": {"item": "tea", "code": "s3cret"}, "timeout_seconds": 30`)
		if got := sc.NextAt.Format(time.RFC3339); got != "2000-01-01T06:00:00Z" {
			t.Errorf("next at %s", got)
		}
		if text := routine.JSONText(sc); strings.Contains(text, "s3cret") || !strings.Contains(text, `"parameters":{"code":"***","item":"tea"}`) {
			t.Errorf("answer: %s", text)
		}
		time.Sleep(55 * time.Hour)
		at, all := s.runs(t)
		wantTimes(t, "runs", at, "01 06:00", "02 06:00", "03 06:00")
		last := all[2]
		if last.Via != routine.ViaSchedule || last.ScheduleID != sc.ID || last.CreatedBy != "ann" || string(last.Parameters) != `{"code":"***","item":"tea"}` {
			t.Errorf("execution %+v", last)
		}
		if late := last.CreatedAt.Sub(*s.read(t, sc.ID).LastAt); late < 0 || late > 3*time.Second {
			t.Errorf("started %v late", late)
		}
		now := s.read(t, sc.ID)
		if now.LastExecutionID != last.ID || now.LastStatus != routine.ExecutionCompleted || now.LastSkip != nil || now.NextAt.Format("02 15:04") != "04 06:00" {
			t.Errorf("schedule %+v", now)
		}
		if err := s.DeleteSchedule(t.Context(), ann, sc.ID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(48 * time.Hour)
		if at, _ := s.runs(t); len(at) != 3 {
			t.Errorf("runs of a deleted schedule: %q", at)
		}
	})
}

// Three processes share the store and each starts runs: each time has one.
func TestScheduledRunsOfProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScheduler(t)
		for range 2 {
			_, stop := maintained(s.store, s.r, func(c *service.Config) { c.Schedules, c.ShareRuns, c.Async, c.Queue = true, true, 2, 10 })
			t.Cleanup(stop)
			time.Sleep(3 * time.Second)
		}
		s.add(t, ann, create(t, s.Service, ann, private).ID, `"cron": "*/10 * * * *"`)
		time.Sleep(time.Hour)
		at, _ := s.runs(t)
		wantTimes(t, "runs", at, "01 00:10", "01 00:20", "01 00:30", "01 00:40", "01 00:50", "01 01:00")
	})
}

// A process that starts no scheduled runs leaves them to others.
func TestSchedulesWithoutServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScheduler(t, func(c *service.Config) { c.Schedules = false })
		s.add(t, ann, create(t, s.Service, ann, private).ID, `"cron": "@hourly"`)
		time.Sleep(5*time.Hour + 30*time.Minute)
		at, _ := s.runs(t)
		wantTimes(t, "runs", at)
		_, stop := maintained(s.store, s.r, func(c *service.Config) { c.Schedules = true })
		t.Cleanup(stop)
		time.Sleep(time.Hour)
		at, _ = s.runs(t)
		wantTimes(t, "one for all missed, and the next", at, "01 05:30", "01 06:00")
	})
}

func TestMissedRunsAreSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScheduler(t, func(c *service.Config) { c.Schedules = false })
		sc := s.add(t, ann, create(t, s.Service, ann, private).ID, `"cron": "@hourly", "missed": "skip"`)
		time.Sleep(5*time.Hour + 30*time.Minute)
		_, stop := maintained(s.store, s.r, func(c *service.Config) { c.Schedules = true })
		t.Cleanup(stop)
		time.Sleep(time.Hour)
		at, _ := s.runs(t)
		wantTimes(t, "runs", at, "01 06:00")
		wantSkip(t, s.read(t, sc.ID), routine.SkipMissed, "no process could start the run within 5m0s")
	})
}

func TestRunThatStillRunsIsNotOverlapped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScheduler(t)
		free := make(chan struct{})
		var opened atomic.Int32
		s.browser.OnOpen = func(ctx context.Context, _ *routinetest.Page) error {
			if opened.Add(1) == 1 {
				select {
				case <-free:
				case <-ctx.Done():
				}
			}
			return nil
		}
		sc := s.add(t, ann, create(t, s.Service, ann, private).ID, `"cron": "* * * * *", "timeout_seconds": 300`)
		time.Sleep(3*time.Minute + 30*time.Second)
		now := s.read(t, sc.ID)
		wantSkip(t, now, routine.SkipStillRunning, "the run before has not ended: execution "+now.LastExecutionID)
		at, _ := s.runs(t)
		wantTimes(t, "runs", at, "01 00:01")
		close(free)
		time.Sleep(time.Minute)
		at, _ = s.runs(t)
		wantTimes(t, "runs after its end", at, "01 00:01", "01 00:04")
	})
}

// Whatever prevents a run, the schedule says why, and continues when it is gone.
func TestSkippedRuns(t *testing.T) {
	for _, row := range []struct {
		name           string
		break_, mend   func(*testing.T, *scheduler, *routine.Routine, *routine.Schedule)
		reason, detail string
	}{
		{"archived routine", func(t *testing.T, s *scheduler, r *routine.Routine, _ *routine.Schedule) {
			_, err := s.ArchiveRoutine(t.Context(), ann, r.ID, nil)
			wantNoError(t, err)
		}, func(t *testing.T, s *scheduler, r *routine.Routine, _ *routine.Schedule) {
			_, _, err := s.PatchRoutine(t.Context(), ann, r.ID, []byte(`{"routine_status": "active"}`), nil)
			wantNoError(t, err)
		}, "conflict", "the routine is archived: make it active first"},
		{"revoked token", func(t *testing.T, s *scheduler, _ *routine.Routine, sc *routine.Schedule) {
			wantNoError(t, s.RevokeToken(t.Context(), sc.TokenID))
		}, func(t *testing.T, s *scheduler, _ *routine.Routine, sc *routine.Schedule) {
			_, err := s.PatchSchedule(t.Context(), ann, sc.ID, []byte(`{"enabled": true}`))
			wantNoError(t, err)
		}, "unauthenticated", "is revoked or expired: enable the schedule again with another token"},
		{"new version with another parameter", func(t *testing.T, s *scheduler, r *routine.Routine, _ *routine.Schedule) {
			_, _, err := s.ReplaceRoutine(t.Context(), ann, r.ID, []byte(strings.NewReplacer(`"item"`, `"thing"`, `{{item}}`, `{{thing}}`).Replace(order)), nil)
			wantNoError(t, err)
		}, func(t *testing.T, s *scheduler, _ *routine.Routine, sc *routine.Schedule) {
			_, err := s.PatchSchedule(t.Context(), ann, sc.ID, []byte(`{"parameters": {"thing": "tea", "item": null}}`))
			wantNoError(t, err)
		}, "invalid", "the settings do not fit the routine any longer: /item (unknown_parameter), /thing (required)"},
		{"callback that is refused now", func(t *testing.T, s *scheduler, _ *routine.Routine, sc *routine.Schedule) {
			stored, err := s.store.Schedule(t.Context(), sc.ID)
			wantNoError(t, err)
			stored.CallbackURL = "https://forbidden.example/"
			wantNoError(t, s.store.UpdateSchedule(t.Context(), stored, routine.ScheduleChange{}))
		}, func(t *testing.T, s *scheduler, _ *routine.Routine, sc *routine.Schedule) {
			_, err := s.PatchSchedule(t.Context(), ann, sc.ID, []byte(`{"callback_url": null}`))
			wantNoError(t, err)
		}, "invalid", "/callback_url (callback_url)"},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScheduler(t)
				r := create(t, s.Service, ann, order)
				secret, _, err := s.CreateToken(t.Context(), ann, 0)
				wantNoError(t, err)
				p, err := s.Authenticate(t.Context(), secret)
				wantNoError(t, err)
				sc := s.add(t, p, r.ID, `"cron": "@hourly", "parameters": {"item": "s3cret", "code": "s3cret"}`)
				row.break_(t, s, r, sc)
				time.Sleep(90 * time.Minute)
				at, _ := s.runs(t)
				wantTimes(t, "runs", at)
				now := s.read(t, sc.ID)
				wantSkip(t, now, row.reason, row.detail)
				if strings.Contains(now.LastSkip.Message, "s3cret") || now.LastSkip.At.Format("15:04") != "01:00" || now.NextAt.Format("15:04") != "02:00" {
					t.Errorf("%+v, next at %v", now.LastSkip, now.NextAt)
				}
				row.mend(t, s, r, sc)
				time.Sleep(time.Hour)
				at, _ = s.runs(t)
				wantTimes(t, "runs after that", at, "01 02:00")
			})
		})
	}
}

func wantNoError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A token that expires stops its schedules, and those without the right start nothing.
func TestScheduleOfExpiredToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScheduler(t)
		r := create(t, s.Service, ann, private)
		secret, _, err := s.CreateToken(t.Context(), ann, 90*time.Minute)
		wantNoError(t, err)
		p, err := s.Authenticate(t.Context(), secret)
		wantNoError(t, err)
		sc := s.add(t, p, r.ID, `"cron": "@hourly"`)
		time.Sleep(150 * time.Minute)
		at, _ := s.runs(t)
		wantTimes(t, "runs", at, "01 01:00")
		wantSkip(t, s.read(t, sc.ID), "unauthenticated", "is revoked or expired")
		stored, err := s.store.Schedule(t.Context(), sc.ID)
		wantNoError(t, err)
		stored.TokenID, stored.Scopes = "", routine.ScopeRoutinesRead
		wantNoError(t, s.store.UpdateSchedule(t.Context(), stored, routine.ScheduleChange{}))
		time.Sleep(time.Hour)
		wantSkip(t, s.read(t, sc.ID), "forbidden", "needs the scope executions:run")
	})
}

// A run for which there is no room is started later, once.
func TestScheduledRunWaitsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScheduler(t, func(c *service.Config) { c.Concurrency, c.Queue = 1, 0 })
		busy := create(t, s.Service, ann, strings.Replace(nap, "10", "240", 1))
		sc := s.add(t, ann, create(t, s.Service, ann, order).ID, `"cron": "@hourly", "parameters": {"item": "tea"}`)
		time.Sleep(59 * time.Minute)
		_, err := s.Start(t.Context(), ann, busy.ID, service.Call{Timeout: 300 * time.Second})
		wantNoError(t, err)
		time.Sleep(20 * time.Minute)
		at, _ := s.runs(t)
		wantTimes(t, "runs", at, "01 00:59", "01 01:03")
		if now := s.read(t, sc.ID); now.LastAt.Format("15:04") != "01:00" || now.LastSkip != nil {
			t.Errorf("%+v", now)
		}
	})
}

// A run whose secret cannot be read at the moment is started later, once.
func TestScheduledRunWaitsForProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		works := time.Now().Add(time.Hour + 3*time.Minute)
		p := &fakeProvider{text: "from the vault", down: func() time.Duration { return max(time.Until(works), 0) }}
		s := newScheduler(t, func(c *service.Config) { c.Providers = []routine.SecretProvider{p} })
		saveSecret(t, s.Service, owner, "shop", `{"hosts": ["shop.example"], "references": {"value": "vault:shop#x"}}`)
		s.add(t, ann, create(t, s.Service, ann, definitionOf(typesValue, "")).ID, `"cron": "0 1 * * *"`)
		time.Sleep(2 * time.Hour)
		at, all := s.runs(t)
		wantTimes(t, "runs", at, "01 01:03")
		if len(all) == 1 && all[0].Status != routine.ExecutionCompleted {
			t.Errorf("%+v", all[0])
		}
	})
}

// A clock that was years ahead does not stop a schedule, and starts no run twice.
func TestScheduleAfterAWrongClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ahead atomic.Int64
		s := newScheduler(t, func(c *service.Config) {
			c.Now = func() time.Time { return time.Now().UTC().Truncate(time.Microsecond).Add(time.Duration(ahead.Load())) }
		})
		sc := s.add(t, ann, create(t, s.Service, ann, private).ID, `"cron": "0 7 * * *"`)
		ahead.Store(int64(7*time.Hour + time.Minute)) // it is taken for 07:01
		time.Sleep(time.Minute)
		ahead.Store(0)
		time.Sleep(32 * time.Hour)
		at, _ := s.runs(t)
		wantTimes(t, "runs: one too early, none twice", at, "01 07:01", "02 07:00")
		ahead.Store(int64(4 * 365 * 24 * time.Hour))
		time.Sleep(time.Minute)
		if next := s.read(t, sc.ID).NextAt; next.Year() != 2004 && next.Year() != 2003 {
			t.Errorf("next at %v", next)
		}
		ahead.Store(0)
		time.Sleep(48 * time.Hour)
		at, _ = s.runs(t) // the run of the 3rd was started by the wrong clock, in 2004
		wantTimes(t, "runs after a clock that was years ahead", at, "01 07:01", "02 07:00", "04 07:00", "01 08:01")
	})
}

// sealedSchedules cannot open the values of schedules.
type sealedSchedules struct{ *routinetest.Store }

func (sealedSchedules) ScheduleValues(context.Context, string) (json.RawMessage, error) {
	return nil, fmt.Errorf("open: %w", routine.ErrSealed)
}

// Without the key a schedule starts nothing and says why. It can be paused and deleted.
func TestScheduleWithoutItsKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var locked sealedSchedules
		s := newScheduler(t, func(c *service.Config) {
			locked.Store, _ = c.Store.(*routinetest.Store)
			c.Store = locked
		})
		sc := s.add(t, ann, create(t, s.Service, ann, private).ID, `"cron": "@hourly"`)
		time.Sleep(61 * time.Minute)
		wantSkip(t, s.read(t, sc.ID), "store_unavailable", "bring back its key file (--state-key), or delete the schedule and create it again")
		_, err := s.PatchSchedule(t.Context(), ann, sc.ID, []byte(`{"parameters": {}}`))
		if routine.CodeOf(err) != routine.CodeStoreUnavailable {
			t.Errorf("a change of parameters: %v", err)
		}
		_, err = s.PatchSchedule(t.Context(), ann, sc.ID, []byte(`{"enabled": false}`))
		wantNoError(t, err)
		wantNoError(t, s.DeleteSchedule(t.Context(), ann, sc.ID))
	})
}
