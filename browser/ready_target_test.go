package browser

import (
	"testing"
	"testing/synctest"
	"time"
)

// As many contexts are kept ready as there were runs at once in the last minutes.
func TestReadyTarget(t *testing.T) {
	type step struct {
		after time.Duration
		burst int // runs that start before all have ended
		want  int
	}
	for name, steps := range map[string][]step{
		"before any burst":             {{0, 0, 2}},
		"one call after the other":     {{0, 1, 2}, {time.Second, 1, 2}, {time.Second, 1, 2}},
		"a small burst":                {{0, 3, 3}},
		"more than the bound":          {{0, 100, 8}},
		"the largest counts":           {{0, 6, 6}, {time.Second, 4, 6}},
		"while it is recent":           {{0, 6, 6}, {4 * time.Minute, 0, 6}},
		"no longer":                    {{0, 6, 6}, {5 * time.Minute, 0, 2}},
		"a smaller one after it":       {{0, 8, 8}, {3 * time.Minute, 4, 8}, {2 * time.Minute, 0, 4}, {3 * time.Minute, 0, 2}},
		"after a long time without it": {{0, 8, 8}, {24 * time.Hour, 0, 2}, {0, 5, 5}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				target := readyTarget{since: time.Now()}
				for n, s := range steps {
					<-time.After(s.after)
					target.note(s.burst)
					if got := target.contexts(2, 8); got != s.want {
						t.Fatalf("step %d: %d contexts, want %d", n+1, got, s.want)
					}
				}
			})
		})
	}
}
