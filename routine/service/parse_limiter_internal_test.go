package service

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"rote/routine"
)

var (
	nobody   = routine.Principal{}
	somebody = routine.Principal{UserID: "ann", OrganizationID: "acme", Scopes: routine.DefaultScopes}
)

func TestAdmission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newParseLimiter()
		enter := func(p routine.Principal, size int) func() {
			t.Helper()
			done, err := a.admit(t.Context(), p, size)
			if err != nil {
				t.Fatal(err)
			}
			return done
		}
		// waits reports whether a call has to wait for release.
		waits := func(p routine.Principal, size int, release func()) bool {
			t.Helper()
			entered := make(chan func(), 1)
			go func() { entered <- enter(p, size) }()
			synctest.Wait()
			waiting := len(entered) == 0
			release()
			(<-entered)()
			return waiting
		}
		if !waits(nobody, 1, enter(nobody, 1)) {
			t.Error("two calls without a token are admitted at the same time")
		}
		if waits(somebody, maxAdmitted, enter(nobody, 1)) || waits(nobody, 1, enter(somebody, maxAdmitted)) {
			t.Error("a call without a token and one with a token wait for each other")
		}
		if waits(somebody, maxAdmitted/2, enter(somebody, maxAdmitted/2)) {
			t.Error("two halves do not fit")
		}
		if waits(somebody, smallDefinition, enter(somebody, maxAdmitted)) || waits(somebody, maxAdmitted, enter(somebody, smallDefinition)) {
			t.Error("a small definition and a large one wait for each other")
		}
		if !waits(somebody, smallDefinition+1, enter(somebody, maxAdmitted)) || !waits(somebody, 100*maxAdmitted, enter(somebody, smallDefinition+1)) {
			t.Error("more than the bound is admitted")
		}
	})
}

func TestAdmissionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newParseLimiter()
		done, err := a.admit(t.Context(), nobody, 1)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		_, err = a.admit(t.Context(), nobody, 1)
		if e := routine.AsError(err); e.Code != routine.CodeBusy || e.RetryAfter <= 0 || time.Since(began) != maxParseWait {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err = a.admit(ctx, nobody, 1); routine.CodeOf(err) != routine.CodeTimeout {
			t.Errorf("after the caller's deadline: %v", err)
		}
		errs := make(chan error, maxAnonymousWaiting)
		for range maxAnonymousWaiting {
			go func() {
				done, err := a.admit(t.Context(), nobody, 1)
				if err == nil {
					done()
				}
				errs <- err
			}()
		}
		synctest.Wait()
		began = time.Now()
		if _, err := a.admit(t.Context(), nobody, 1); routine.CodeOf(err) != routine.CodeBusy || time.Since(began) != 0 {
			t.Errorf("one too many waits for %v: %v", time.Since(began), err)
		}
		done()
		for range maxAnonymousWaiting {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		if done, err := a.admit(t.Context(), nobody, 1); err != nil {
			t.Error(err)
		} else {
			done()
		}
	})
}
