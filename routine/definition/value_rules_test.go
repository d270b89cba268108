package definition

import (
	"strings"
	"testing"
	"time"

	"rote/routine/pattern"
	"rote/routine/routinetest/stopwatch"
)

// All matches of one definition together end in time.
func TestMatchingIsBounded(t *testing.T) {
	const most = time.Second // maxMatchTime, on a slow machine
	text := strings.Repeat("a", 50_000) + "!"
	var m matchBudget
	re, err := pattern.Compile(`^(a+)+$`)
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := m.match(re, text); ok || err == nil {
		t.Fatalf("a catastrophic match ended: %v %v", ok, err)
	}
	if took := stopwatch.Time(func() {
		for range 1000 {
			if ok, err := m.match(re, text); !ok || err != nil {
				t.Fatalf("a problem is told once: %v %v", ok, err)
			}
		}
	}); took > most {
		t.Errorf("1000 more matches took %v", took)
	}
}
