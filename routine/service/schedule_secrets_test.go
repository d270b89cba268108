package service_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rote/routine"
)

// wantHidden checks that no answer about the schedules and runs of ann shows the secret.
func wantHidden(t *testing.T, s *scheduler, sc *routine.Schedule) {
	t.Helper()
	_, all := s.runs(t)
	if text := routine.JSONText(s.read(t, sc.ID)) + routine.JSONText(all); strings.Contains(text, "s3cret") {
		t.Errorf("the secret is shown: %s", text)
	}
}

// A value that was secret when it was given is not shown by a version in which it is not.
func TestSecretOfAScheduleStaysSecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plain := strings.Replace(order, `,"x-secret":true`, "", 1)
		s := newScheduler(t)
		r := create(t, s.Service, ann, plain)
		_, _, err := s.ReplaceRoutine(t.Context(), ann, r.ID, []byte(order), nil)
		wantNoError(t, err)
		sc := s.add(t, ann, r.ID, `"cron": "@hourly", "parameters": {"item": "***", "code": "s3cret"}`)
		for _, change := range []string{`{"routine_version": 1}`, `{"routine_version": 1, "parameters": {"item": "tea"}}`} {
			_, err = s.PatchSchedule(t.Context(), ann, sc.ID, []byte(change))
			text := routine.JSONText(routine.AsError(err).Problems)
			if !strings.HasPrefix(text, `[{"pointer":"/parameters/code","code":"no_longer_secret"`) || strings.Contains(text, "s3cret") {
				t.Errorf("%s: %v, problems %s", change, err, text)
			}
			wantHidden(t, s, sc)
		}
		time.Sleep(90 * time.Minute)
		at, _ := s.runs(t)
		wantTimes(t, "runs with the secret", at, "01 01:00")

		_, _, err = s.ReplaceRoutine(t.Context(), ann, r.ID, []byte(plain), nil)
		wantNoError(t, err)
		time.Sleep(time.Hour)
		at, _ = s.runs(t)
		wantTimes(t, "runs", at, "01 01:00")
		wantSkip(t, s.read(t, sc.ID), "invalid", `the parameter "code" was secret when its value was given, and is not secret in version 3 of the routine: give`)
		wantHidden(t, s, sc)

		_, err = s.PatchSchedule(t.Context(), ann, sc.ID, []byte(`{"parameters": {"code": "for all"}}`))
		wantNoError(t, err)
		time.Sleep(time.Hour)
		at, _ = s.runs(t)
		wantTimes(t, "runs with the value that was given again", at, "01 01:00", "01 03:00")
		if got := string(s.read(t, sc.ID).Parameters); got != `{"code":"for all","item":"***"}` {
			t.Errorf("parameters %s", got)
		}
	})
}
