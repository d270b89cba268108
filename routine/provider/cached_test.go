package provider

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rote/routine"
)

// fakeSource answers with a function.
type fakeSource struct {
	asked  atomic.Int32
	answer func(ctx context.Context, path string) (routine.Hidden, error)
}

func (*fakeSource) Scheme() string { return "fake" }
func (f *fakeSource) ReadSecret(ctx context.Context, ref routine.ProviderReference) (routine.Hidden, error) {
	f.asked.Add(1)
	return f.answer(ctx, ref.Path)
}

func ref(path string) routine.ProviderReference {
	return routine.ProviderReference{OrganizationID: "acme", ProjectID: "shop", Path: path}
}

// A value is asked for once in a minute, and once for all who want it at the same time. An
// error is kept for five seconds.
func TestCachedValues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &fakeSource{answer: func(_ context.Context, path string) (routine.Hidden, error) {
			time.Sleep(time.Second)
			if path == "absent" {
				return "", routine.ErrNotFound
			}
			return routine.Hidden(path + " value"), nil
		}}
		c := newCached(source)
		read := func(path string, asked int32) {
			t.Helper()
			var all sync.WaitGroup
			for range 50 {
				all.Go(func() {
					value, err := c.ReadSecret(t.Context(), ref(path))
					if path == "absent" && !errors.Is(err, routine.ErrNotFound) || path != "absent" && (err != nil || value != "a value") {
						t.Errorf("%d bytes, %v", len(value), err)
					}
				})
			}
			all.Wait()
			if n := source.asked.Swap(0); n != asked {
				t.Errorf("%s: asked %d times, want %d", path, n, asked)
			}
		}
		read("a", 1)
		read("absent", 1)
		time.Sleep(errorAge - time.Nanosecond)
		read("absent", 0)
		time.Sleep(time.Nanosecond)
		read("absent", 1)
		time.Sleep(time.Minute - 7*time.Second - time.Nanosecond)
		read("a", 0)
		time.Sleep(time.Nanosecond)
		read("a", 1)
		// The value of another organization or project is another one.
		for _, other := range []routine.ProviderReference{{OrganizationID: "acme", Path: "a"}, {OrganizationID: "other", ProjectID: "shop", Path: "a"}} {
			if _, err := c.ReadSecret(t.Context(), other); err != nil || source.asked.Swap(0) != 1 {
				t.Errorf("%+v has the value of another", other)
			}
		}
	})
}

// After three failures the provider is left alone for ten seconds; then one caller asks. What
// was read before is still used.
func TestCachedBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := errors.New("down")
		var fail atomic.Bool
		source := &fakeSource{}
		source.answer = func(_ context.Context, path string) (routine.Hidden, error) {
			time.Sleep(time.Second)
			if fail.Load() {
				return "", down
			}
			return routine.Hidden(path), nil
		}
		c := newCached(source)
		n := 0
		read := func() error {
			n++
			_, err := c.ReadSecret(t.Context(), ref(fmt.Sprint(n)))
			return err
		}
		if err := read(); err != nil {
			t.Fatal(err)
		}
		fail.Store(true)
		for range 2 {
			if err := read(); !errors.Is(err, down) || c.Unavailable(ref("x")) != 0 {
				t.Fatal(err)
			}
		}
		fail.Store(false)
		if err := read(); err != nil { // a success starts the count again
			t.Fatal(err)
		}
		fail.Store(true)
		for range 3 {
			if err := read(); !errors.Is(err, down) {
				t.Fatal(err)
			}
		}
		if wait := c.Unavailable(ref("x")); wait != breakTime || c.Unavailable(ref("1")) != 0 {
			t.Errorf("unavailable for %s", wait)
		}
		source.asked.Store(0)
		time.Sleep(breakTime - time.Nanosecond)
		if err := read(); !errors.Is(err, down) || source.asked.Load() != 0 {
			t.Errorf("asked %d times, %v", source.asked.Load(), err)
		}
		if value, err := c.ReadSecret(t.Context(), ref("1")); value != "1" || err != nil {
			t.Errorf("%d bytes, %v", len(value), err)
		}
		for _, works := range []bool{false, true} {
			time.Sleep(breakTime)
			fail.Store(!works)
			source.asked.Store(0)
			var failures atomic.Int32
			var all sync.WaitGroup
			for i := range 10 {
				all.Go(func() {
					if _, err := c.ReadSecret(t.Context(), ref(fmt.Sprint(works, i))); err != nil {
						failures.Add(1)
					}
				})
			}
			all.Wait()
			if source.asked.Load() != 1 || works && failures.Load() != 9 || !works && failures.Load() != 10 {
				t.Errorf("asked %d times, %d errors", source.asked.Load(), failures.Load())
			}
		}
		if err := read(); err != nil || c.Unavailable(ref("x")) != 0 {
			t.Error(err)
		}
	})
}

// A caller who leaves is no failure of the provider, and others who wait for the same value get
// it all the same.
func TestCachedCallerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &fakeSource{answer: func(ctx context.Context, path string) (routine.Hidden, error) {
			select {
			case <-time.After(2 * time.Second):
				return routine.Hidden(path), nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}}
		c := newCached(source)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if _, err := c.ReadSecret(ctx, ref("a")); !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, errAbandoned) {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if value, err := c.ReadSecret(t.Context(), ref("a")); value != "a" || err != nil {
			t.Errorf("%d bytes, %v", len(value), err)
		}
		all.Wait()
		if c.failures != 0 || c.Unavailable(ref("x")) != 0 {
			t.Error("callers who leave count as failures")
		}
		// The one who asks after a pause leaves: another may ask.
		c.failures, c.lastFailure, c.askAgain = maxFailures, errors.New("down"), time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.ReadSecret(ctx, ref("b")); err == nil {
			t.Error("it is read in a second")
		}
		if value, err := c.ReadSecret(t.Context(), ref("c")); value != "c" || err != nil {
			t.Errorf("%d bytes, %v", len(value), err)
		}
	})
}

func TestCachedIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCached(&fakeSource{answer: func(_ context.Context, path string) (routine.Hidden, error) { return routine.Hidden(path), nil }})
		for i := range 3 * maxCached {
			if value, err := c.ReadSecret(t.Context(), ref(fmt.Sprint(i))); err != nil || value != routine.Hidden(fmt.Sprint(i)) {
				t.Fatal(err)
			}
		}
		if len(c.readings) > maxCached {
			t.Errorf("%d values are kept", len(c.readings))
		}
	})
}
