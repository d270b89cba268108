package service_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/routinetest/optional"
	"rote/routine/service"
)

// largeRuns is set in the process that makes large runs and prints how much
// memory they took.
const largeRuns = "ROTE_TEST_LARGE_RUNS"

// Four runs with answers of 31 MiB at once stay below 500 MiB, whatever the
// answers are made of, and end well within their limit. They run in a process of
// their own, whose memory is theirs alone.
func TestLargeAnswersShareTheMemory(t *testing.T) {
	if os.Getenv(largeRuns) != "" {
		t.Skip("this is the process of the runs")
	}
	optional.FullSize(t)
	run := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRunsOfLargeAnswers$", "-test.v")
	run.Env = append(os.Environ(), largeRuns+"=1", "GOMEMLIMIT=400MiB") // as the program has it
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	_, after, found := strings.Cut(string(out), "peak of the process: ")
	text, _, _ := strings.Cut(after, " ")
	peak, err := strconv.Atoi(text)
	if !found || err != nil {
		t.Fatalf("no peak in %s", out)
	}
	t.Logf("the process took %d MiB", peak)
	if peak >= 500 {
		t.Errorf("the process took %d MiB\n%s", peak, out)
	}
}

// TestRunsOfLargeAnswers makes the runs, four at once.
func TestRunsOfLargeAnswers(t *testing.T) {
	if os.Getenv(largeRuns) == "" {
		t.Skip("TestLargeAnswersShareTheMemory starts it")
	}
	peak := watchMemory(t)
	const size = 31 << 20
	for _, row := range []struct{ name, sanitizer, part string }{
		{"too many values", `{"type":"json_path","path":"$[0]"}`, `{},`},
		{"most of it stays", `{"type":"drop","paths":["$[*].a"]}`, `{"b":"123456789","a":[],"c":1.25},`},
		{"the same name", `{"type":"drop","paths":["$[0].a"]}`, `{"a":"xxxxxxxxx","a":"xxxxxxx"},`},
		{"one filter", `{"type":"json_path","path":"$[?(@.a != 'x')]"}`, `{"a":"0123456789"},`},
	} {
		t.Run(row.name, func(t *testing.T) {
			var all sync.WaitGroup
			b := &routinetest.Browser{Page: routinetest.Page{Fetch: func(context.Context, routine.Fetch, int64) (routine.Response, error) {
				body := make([]byte, 0, size)
				for body = append(body, '['); len(body) < size-2-len(row.part); {
					body = append(body, row.part...)
				}
				return routine.Response{Status: 200, Body: append(body, "1]"...)}, nil
			}}}
			s := service.New(service.Config{Store: routinetest.NewStore(), Browser: b, Concurrency: 4, MaxResult: 32 << 20})
			d := parse(t, definitionOf(`{"type":"fetch","endpoint":{"url":"https://shop.test/"},"session_storage_key":"k","data_sanitizer":`+row.sanitizer+`}`, ""))
			for range 4 {
				all.Go(func() {
					start := time.Now()
					_, err := s.RunOnce(t.Context(), routine.Principal{}, d, service.Call{Parameters: json.RawMessage(`{}`), Timeout: time.Minute})
					if code := routine.CodeOf(err); err != nil && code != routine.CodeResultTooLarge {
						t.Errorf("%v: %v", code, err)
					}
					t.Logf("%.1f s, %v", time.Since(start).Seconds(), err)
				})
			}
			all.Wait()
		})
	}
	t.Logf("peak of the process: %d MiB", peak()>>20)
}

// watchMemory gives the most memory that the process has taken from the system
// since, in bytes.
func watchMemory(t *testing.T) func() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	var peak uint64
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			metrics.Read(sample)
			peak = max(peak, sample[0].Value.Uint64()-sample[1].Value.Uint64())
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() uint64 {
		stop()
		<-done
		return peak
	}
}
