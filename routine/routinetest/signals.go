package routinetest

import (
	"context"
	"testing"
	"time"

	"rote/routine"
)

var signalPromises = []promise{
	{"a request to cancel is heard, also one that was made before", cancelIsHeard},
	{"a request to cancel an execution that has ended is not heard", endedIsNotHeard},
	{"changes of routines and tokens are heard", changesAreHeard},
	{"every listener hears a signal", listenersHear},
	{"signals end without an error when their context ends", signalsEnd},
}

// signalTime is how long a signal may take here. Stores are faster, but the machine may
// be busy.
const signalTime = 20 * time.Second

// listen collects the signals of a Store until the test ends.
func listen(t *testing.T, s routine.Store) <-chan routine.Signal {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	heard := make(chan routine.Signal, 1000)
	ended := make(chan error, 1)
	go func() { ended <- s.Signals(ctx, func(signal routine.Signal) { heard <- signal }) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Signals: %v", err)
		}
	})
	return heard
}

// await returns all signals up to one that is wanted.
func await(t *testing.T, heard <-chan routine.Signal, want func(routine.Signal) bool) (all []routine.Signal) {
	t.Helper()
	timer := time.NewTimer(signalTime)
	defer timer.Stop()
	for {
		select {
		case signal := <-heard:
			all = append(all, signal)
			if want(signal) {
				return all
			}
		case <-timer.C:
			t.Fatalf("not heard in %v; heard %+v", signalTime, all)
		}
	}
}

func cancelOf(id string) func(routine.Signal) bool {
	return func(signal routine.Signal) bool { return signal.Cancel == id }
}

func isChange(signal routine.Signal) bool { return signal.Changed }

func wantCancelHeard(t *testing.T, s routine.Store, id string) {
	t.Helper()
	await(t, listen(t, s), cancelOf(id))
}

func cancelIsHeard(t *testing.T, s routine.Store) {
	before, after, other := create(t, s), create(t, s), create(t, s)
	must(t, s.RequestCancel(t.Context(), before.ID, Time))
	heard := listen(t, s)
	signals := await(t, heard, cancelOf(before.ID))
	for range 2 {
		must(t, s.RequestCancel(t.Context(), after.ID, Time))
	}
	for _, signal := range append(signals, await(t, heard, cancelOf(after.ID))...) {
		if signal.Cancel == other.ID {
			t.Error("a signal for an execution that nobody cancels")
		}
	}
	for _, e := range []*routine.Execution{before, after} {
		wantExecution(t, s, e)
	}
}

func endedIsNotHeard(t *testing.T, s routine.Store) {
	ended, open := create(t, s), create(t, s)
	must(t, s.RequestCancel(t.Context(), ended.ID, Time))
	must(t, s.FinishExecution(t.Context(), Failed(ended)))
	must(t, s.RequestCancel(t.Context(), open.ID, Time))
	for _, signal := range await(t, listen(t, s), cancelOf(open.ID)) {
		if signal.Cancel == ended.ID {
			t.Error("a signal for an execution that has ended")
		}
	}
}

func changesAreHeard(t *testing.T, s routine.Store) {
	r, k := Routine(t), Token(t)
	must(t, s.CreateToken(t.Context(), k))
	heard := listen(t, s)
	for _, change := range []func() error{
		func() error { return s.CreateRoutine(t.Context(), r) },
		func() error { return s.UpdateRoutine(t.Context(), changed(t, r), "bob") },
		func() error { return s.RevokeToken(t.Context(), k.ID, Time) },
	} {
		e := create(t, s) // its signal comes after those of earlier changes
		must(t, s.RequestCancel(t.Context(), e.ID, Time))
		await(t, heard, cancelOf(e.ID))
		for len(heard) > 0 {
			<-heard
		}
		must(t, change())
		await(t, heard, isChange)
	}
}

func listenersHear(t *testing.T, s routine.Store) {
	first, second := listen(t, s), listen(t, s)
	e := create(t, s)
	must(t, s.RequestCancel(t.Context(), e.ID, Time))
	await(t, first, cancelOf(e.ID))
	await(t, second, cancelOf(e.ID))
}

func signalsEnd(t *testing.T, s routine.Store) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	must(t, s.Signals(ctx, func(routine.Signal) {}))
}
