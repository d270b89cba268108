package httpapi

import (
	"fmt"
	"strings"
	"testing"

	"rote/routine"
)

func TestRoutineCacheKeepsCurrentVersionWithinLimits(t *testing.T) {
	var b routineCache
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
	if again := show(r); again != first || !strings.Contains(first, `"name":"first & best"`) || len(b.entries) != 1 {
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
	if _, kept := b.entries["Routine_long"]; kept {
		t.Error("a long body is kept")
	}
	for i := range 3 * maxCachedRoutines {
		show(&routine.Routine{ID: fmt.Sprint("Routine_", i), Version: 1})
		if len(b.entries) > maxCachedRoutines {
			t.Fatalf("%d are kept", len(b.entries))
		}
	}
}
