package sqlite

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
)

func TestRetentionClock(t *testing.T) {
	const month = 30 * 24 * time.Hour
	path := tempPath(t)
	s := open(t, path)
	e := routinetest.Execution(t, func(e *routine.Execution) { e.CreatedAt = time.Now().Add(-2 * month) })
	must(t, s.CreateExecution(t.Context(), e))
	must(t, s.FinishExecution(t.Context(), routinetest.Ended(e)))
	want := func(s *Store, age, ahead time.Duration, want int) {
		t.Helper()
		if n, err := s.Prune(t.Context(), routine.Retention{Age: age}, time.Now().Add(ahead)); err != nil || n != want {
			t.Errorf("%d are deleted, want %d: %v", n, want, err)
		}
	}
	want(s, 3*month, 2*month, 0) // a clock that was set forward

	again := open(t, path) // by its clock, all executions were too old before it started
	want(again, month, 0, 0)
	again.clock.opened = again.clock.opened.Add(-clockDoubtTime)
	want(again, month, 0, 1) // they are
}

// A clock that is set forward counts when it has held for a day, also if it was years behind
// when the process started.
func TestRetentionClockThatIsSetForward(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		c := &retentionClock{log: slog.New(slog.NewTextHandler(&log, nil))}
		const years = 6 * 365 * 24 * time.Hour
		start := time.Now().Round(0)
		c.start(t.Context(), start.Add(years).UnixMicro())
		logged := func(want string) {
			t.Helper()
			if n := strings.Count(log.String(), "level="); n != 1 || !strings.Contains(log.String(), want) {
				t.Errorf("the log has %d records, want one of %q: %s", n, want, log.String())
			}
			log.Reset()
		}
		logged("behind the newest execution")
		want := func(set, want time.Duration) {
			t.Helper()
			if got := c.bound(t.Context(), time.Now().Round(0).Add(set), time.Hour).Sub(start); got != want {
				t.Errorf("with a clock that was set by %v the bound is %v after the start, want %v", set, got, want)
			}
		}
		want(0, 0)
		time.Sleep(time.Hour)
		want(0, time.Hour)
		want(years, time.Hour+maxClockDrift) // it is corrected
		logged("was set forward")
		time.Sleep(23 * time.Hour)
		want(years, 24*time.Hour+maxClockDrift)
		want(0, 24*time.Hour) // and set back
		want(years, 24*time.Hour+maxClockDrift)
		logged("was set forward")
		time.Sleep(12 * time.Hour)
		want(years+time.Hour, 36*time.Hour+maxClockDrift) // another one
		logged("was set forward")
		time.Sleep(12 * time.Hour)
		want(years+time.Hour, 48*time.Hour+maxClockDrift)
		time.Sleep(12 * time.Hour)
		want(years+time.Hour, years+61*time.Hour)
		logged("has held for a day")
		time.Sleep(time.Hour)
		want(years+time.Hour, years+62*time.Hour)
		if log.Len() > 0 {
			t.Errorf("logged again: %s", log.String())
		}
	})
}
