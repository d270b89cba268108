package httpapi

import (
	"fmt"
	"strings"
	"testing"

	"rote/routine"
)

func TestRoutineCacheKeepsCurrentVersionWithinLimits(t *testing.T) {
	b := newRoutineCache()
	show := func(r *routine.Routine) string {
		t.Helper()
		got, err := b.response(r)
		if err != nil || got.mediaType != "application/json" {
			t.Fatal(got, err)
		}
		return string(got.text)
	}
	r := &routine.Routine{ID: "Routine_a", Version: 1, Definition: routine.Definition{Name: "first & best"}}
	first := show(r)
	if again := show(r); again != first || !strings.Contains(first, `"name":"first & best"`) || b.bodies.Len() != 1 {
		t.Errorf("%s, then %s", first, again)
	}
	next := *r
	next.Version, next.Name = 2, "second"
	if got := show(&next); !strings.Contains(got, `"second"`) || !strings.Contains(got, `"version":2`) {
		t.Error(got)
	}
	if got := show(r); got != first { // an older answer that was still on its way
		t.Error(got)
	}
	show(&routine.Routine{ID: "Routine_long", Version: 1, Definition: routine.Definition{Description: strings.Repeat("x", maxCachedBytes)}})
	if b.bodies.Contains(routineVersion{"Routine_long", 1}) {
		t.Error("a long body is kept")
	}
	for i := range 3 * maxCachedRoutines {
		show(&routine.Routine{ID: fmt.Sprint("Routine_", i), Version: 1})
		if n := b.bodies.Len(); n > maxCachedRoutines {
			t.Fatalf("%d are kept", n)
		}
	}
}
