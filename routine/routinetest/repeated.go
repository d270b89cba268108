package routinetest

import (
	"testing"
	"time"

	"rote/routine"
)

var repeatedPromises = []promise{
	{"a repeated job is claimed again when its time is over, each kind for itself", repeatedIsClaimed},
	{"a claim that lasts much longer than the interval of the job has expired", repeatedByWrongClock},
	{"of many that claim a repeated job at once one gets it", repeatedRace},
}

func repeatedIsClaimed(t *testing.T, s routine.Store) {
	for _, row := range []struct {
		kind        routine.JobKind
		now, next   time.Duration // after Time
		wantClaimed bool
	}{
		{"a", 0, time.Hour, true},
		{"a", 0, time.Hour, false},
		{"b", time.Minute, time.Hour, true},
		{"a", time.Hour - time.Microsecond, 2 * time.Hour, false},
		{"a", time.Hour, 2 * time.Hour, true},
		{"a", time.Hour, 3 * time.Hour, false},
		{"b", time.Hour, 2 * time.Hour, true},
		{"a", 9 * time.Hour, 10 * time.Hour, true},
	} {
		claimed, err := s.ClaimRepeated(t.Context(), row.kind, Time.Add(row.now), Time.Add(row.next))
		must(t, err)
		if claimed != row.wantClaimed {
			t.Errorf("%s after %v: claimed %t, want %t", row.kind, row.now, claimed, row.wantClaimed)
		}
	}
}

func repeatedByWrongClock(t *testing.T, s routine.Store) {
	for _, row := range []struct {
		now         time.Duration // after Time; each claim is for an hour
		wantClaimed bool
	}{
		{1000 * time.Hour, true}, // a clock that is weeks ahead
		{0, true},
		{-time.Hour, false}, // a clock that is behind, as far as is borne
		{-time.Hour - time.Microsecond, true},
		{0, true},
	} {
		claimed, err := s.ClaimRepeated(t.Context(), "a", Time.Add(row.now), Time.Add(row.now+time.Hour))
		must(t, err)
		if claimed != row.wantClaimed {
			t.Errorf("after %v: claimed %t, want %t", row.now, claimed, row.wantClaimed)
		}
	}
}

func repeatedRace(t *testing.T, s routine.Store) {
	for round := range 3 {
		now := Time.Add(time.Duration(round) * time.Hour)
		won := make([]bool, 16)
		for _, err := range race(len(won), func(i int) (err error) {
			won[i], err = s.ClaimRepeated(t.Context(), routine.JobPrune, now, now.Add(time.Hour))
			return err
		}) {
			must(t, err)
		}
		winners := 0
		for _, w := range won {
			if w {
				winners++
			}
		}
		equal(t, "winners", winners, 1)
	}
}
