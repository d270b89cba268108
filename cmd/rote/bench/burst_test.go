package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"rote/browser/chromium"
	"rote/routine/routinetest/optional"
)

// The calls of a burst are under way together. The first and the last end are recorded.
func TestBurst(t *testing.T) {
	const calls = 4
	var arrived sync.WaitGroup
	arrived.Add(calls)
	together := &load{name: floorFresh, engine: "shell", run: func(context.Context) (string, error) {
		arrived.Done()
		arrived.Wait()
		return greeting, nil
	}}
	b := &bench{progress: io.Discard}
	if err := b.bursts(t.Context(), []*load{together}, calls, 1, 0); err != nil {
		t.Fatal(err)
	}
	if got := together.burst; len(got.first) != 1 || len(got.last) != 1 || got.first[0] <= 0 || got.first[0] > got.last[0] {
		t.Fatalf("recorded %+v", got)
	}
	broken := &load{name: oursREST, engine: "shell", run: func(context.Context) (string, error) { return "", errors.New("boom") }}
	if err := b.bursts(t.Context(), []*load{broken}, calls, 1, 0); err == nil || !strings.Contains(err.Error(), "a burst of 4 calls: boom") {
		t.Fatal(err)
	}
}

func TestBurstTable(t *testing.T) {
	ms := func(all ...time.Duration) []time.Duration {
		for i := range all {
			all[i] *= time.Millisecond
		}
		return all
	}
	got := burstTable([]*load{
		{name: floorFresh, engine: "shell", burst: burst{first: ms(90, 100, 900), last: ms(400, 500, 900)}},
		{name: oursREST, engine: "shell", burst: burst{first: ms(50), last: ms(450)}},
		{name: oursMCP, engine: "full", burst: burst{first: ms(50), last: ms(450)}}, // without a floor
	}, 8)
	for _, want := range []string{
		"| " + floorFresh + " | shell | 100 | 500 | 1.00 |\n", "| " + oursREST + " | shell | 50 | 450 | 0.90 |\n", "| " + oursMCP + " | full | 50 | 450 | – |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

// A burst after a quiet time ends as soon as with the bare protocol, and one caller waits
// little longer for each call. Both have some attempts, because other work on the machine
// blurs them.
func TestSpeedOfBurstsAndOneCaller(t *testing.T) {
	optional.Speed(t)
	executable, err := chromium.Find("")
	if err != nil {
		t.Fatalf("this test needs a browser (go run ./cmd/rote browser install): %v", err)
	}
	b := &bench{rest: 300 * time.Millisecond, progress: io.Discard}
	t.Cleanup(func() {
		if err := b.close(); err != nil {
			t.Error(err)
		}
	})
	if err := b.prepare(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	loads, err := b.addLoads(t.Context(), engine{"shell", executable})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.bursts(t.Context(), loads, burstCalls, 1, 0); err != nil { // the pool of ready contexts follows it
		t.Fatal(err)
	}
	const mostLast, mostEach = 1.15, 1.3 // times the floor
	for range 6 {
		for _, l := range loads {
			l.burst = burst{}
		}
		if err := b.bursts(t.Context(), loads, burstCalls, 3, 2*time.Second); err != nil {
			t.Fatal(err)
		}
		if err := b.throughput(t.Context(), loads, []int{1}, 3, time.Second); err != nil {
			t.Fatal(err)
		}
		t.Log("\n" + burstTable(loads, burstCalls) + throughputTable(loads, []int{1}))
		ratio := func(of func(*load) []time.Duration) float64 {
			return float64(quantile(of(loads[1]), 0.5)) / float64(quantile(of(loads[0]), 0.5))
		}
		last := ratio(func(l *load) []time.Duration { return l.burst.last })
		each := ratio(func(l *load) []time.Duration { return l.windows[1].times })
		if last <= mostLast && each <= mostEach {
			return
		}
	}
	t.Fatalf("in no attempt did a burst end within %g and one caller's call within %g times those of the bare protocol", mostLast, mostEach)
}

const burstCalls = 8
