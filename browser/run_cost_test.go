package browser

import (
	"math"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/go-rod/rod/lib/proto"

	"rote/routine"
	"rote/routine/routinetest/optional"
)

// Bounds of the cost of one form task in this process, including the preparation of the next
// context. They are a tenth above the measured costs, and half above for the bytes, which
// vary with buffers that are allocated anew.
const (
	maxTaskMessages  = 120
	maxTaskAllocated = 220 << 10 // bytes, with those of the site
	maxTaskCalls     = 1900      // allocations
)

// A form task takes few messages and little memory. Unlike times, both hardly depend on what
// else the machine does.
func TestFormTaskCosts(t *testing.T) {
	optional.OneGoroutine(t) // the race detector allocates too
	const runs = 8
	url := site(t, map[string]any{"/form": form}) + "/form"
	b := own(t)
	run := func() {
		opened, err := b.Open(t.Context(), routine.PageOptions{})
		if err != nil {
			t.Fatal(err)
		}
		formTask(t, opened.(*tabs).first, url)
		opened.Close()
		waitIdle(t, b)
	}
	for range 2 {
		run()
	}
	var messages atomic.Int64
	client := mustCurrent(t, b).client
	client.Observe(func(_ proto.TargetSessionID, _, _ string) { messages.Add(1) })
	defer client.Observe(nil)
	// The smallest of each counts: what other goroutines of the tests and waitIdle allocate, and how
	// often an element is looked at, vary with the load.
	sent, allocated, calls := int64(math.MaxInt64), uint64(math.MaxUint64), uint64(math.MaxUint64)
	for range runs {
		messages.Store(0)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		run()
		runtime.ReadMemStats(&after)
		sent = min(sent, messages.Load())
		allocated, calls = min(allocated, after.TotalAlloc-before.TotalAlloc), min(calls, after.Mallocs-before.Mallocs)
	}
	t.Logf("a form task takes %d messages, and %d bytes in %d allocations", sent, allocated, calls)
	if sent > maxTaskMessages || allocated > maxTaskAllocated || calls > maxTaskCalls {
		t.Errorf("a form task takes %d messages, and %d bytes in %d allocations; at most %d, %d and %d are allowed",
			sent, allocated, calls, maxTaskMessages, maxTaskAllocated, maxTaskCalls)
	}
}

// mustCurrent is the browser process that the next run gets.
func mustCurrent(t *testing.T, b *Browser) *instance {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.current == nil {
		t.Fatal("no browser is running")
	}
	return b.current
}
