package routinetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rote/routine"
)

// promise is one sentence of the Store's contract.
type promise struct {
	name  string
	holds func(t *testing.T, s routine.Store)
}

// TestStore checks that a Store fulfils its contract. open returns a new, empty
// Store each time and closes it after the test.
func TestStore(t *testing.T, open func(t *testing.T) routine.Store) {
	for _, group := range []struct {
		name     string
		promises []promise
	}{
		{"routines", routinePromises},
		{"versions", versionPromises},
		{"changes", changePromises},
		{"executions", executionPromises},
		{"ledger", ledgerPromises},
		{"queue", queuePromises},
		{"signals", signalPromises},
		{"webhooks", webhookPromises},
		{"repeated jobs", repeatedPromises},
		{"schedules", schedulePromises},
		{"retention", retentionPromises},
		{"tokens", tokenPromises},
		{"sign-ins", signInPromises},
		{"idempotency keys", keyPromises},
		{"project states", statePromises},
		{"secrets", secretPromises},
		{"sessions", sessionPromises},
		{"texts", textPromises},
		{"store", []promise{{"an open store answers a ping", pings}}},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, p := range group.promises {
				t.Run(p.name, func(t *testing.T) { p.holds(t, open(t)) })
			}
		})
	}
}

func pings(t *testing.T, s routine.Store) {
	must(t, s.Ping(t.Context()))
}

// asKept compares whole values as a Store has to keep them. Operations have to
// come back as they were written, except for the spaces between JSON tokens.
var asKept = cmp.Options{
	cmpopts.EquateEmpty(),
	// Byte by byte, a large file would take seconds.
	cmp.FilterValues(func(a, b []byte) bool { return len(a)+len(b) > 0 }, cmp.Comparer(bytes.Equal)),
	cmp.Comparer(func(a, b routine.Operation) bool {
		return a.Type() == b.Type() && compactJSON(a) == compactJSON(b)
	}),
}

func compactJSON(o routine.Operation) string {
	var b bytes.Buffer
	raw, err := o.MarshalJSON()
	if err != nil {
		return err.Error()
	}
	if err := json.Compact(&b, raw); err != nil {
		return err.Error()
	}
	return b.String()
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, asKept); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t *testing.T, doing string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: error %v, want %q", doing, err, want)
	}
}

// race runs attempts at once and returns the errors, one for each.
func race(attempts int, attempt func(i int) error) []error {
	errs := make([]error, attempts)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range attempts {
		all.Go(func() {
			<-start
			errs[i] = attempt(i)
		})
	}
	close(start)
	all.Wait()
	return errs
}

// onlyWinner wants exactly one success; every other attempt must have lost with
// the given error. It returns the winner's index.
func onlyWinner(t *testing.T, errs []error, lost error) int {
	t.Helper()
	winner := -1
	for i, err := range errs {
		switch {
		case err == nil && winner >= 0:
			t.Fatalf("attempts %d and %d both succeeded", winner, i)
		case err == nil:
			winner = i
		case !errors.Is(err, lost):
			t.Errorf("attempt %d: error %v, want %q", i, err, lost)
		}
	}
	if winner < 0 {
		t.Fatalf("no attempt succeeded: %v", errs[0])
	}
	return winner
}
