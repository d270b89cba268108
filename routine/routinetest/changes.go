package routinetest

import (
	"testing"

	"rote/routine"
)

var changePromises = []promise{
	{"changes to routines and tokens are counted, all else is not", changesAreCounted},
	{"of changes that come at once none is left out", changesAtOnce},
}

func changesOf(t *testing.T, s routine.Store) routine.Changes {
	t.Helper()
	c, err := s.Changes(t.Context())
	must(t, err)
	return c
}

func changesAreCounted(t *testing.T, s routine.Store) {
	r, k, e := Routine(t), Token(t), Execution(t)
	for _, step := range []struct {
		name             string
		do               func() error
		routines, tokens bool
	}{
		{"nothing", func() error { return nil }, false, false},
		{"a routine is created", func() error { return s.CreateRoutine(t.Context(), r) }, true, false},
		{"it is changed", func() error { return s.UpdateRoutine(t.Context(), changed(t, r), "bob") }, true, false},
		{"a token is created", func() error { return s.CreateToken(t.Context(), k) }, false, false},
		{"it is used", func() error { return s.UseToken(t.Context(), k.ID, Time) }, false, false},
		{"it is revoked", func() error { return s.RevokeToken(t.Context(), k.ID, Time) }, false, true},
		{"an execution", func() error { return s.CreateExecution(t.Context(), e) }, false, false},
	} {
		before := changesOf(t, s)
		must(t, step.do())
		after := changesOf(t, s)
		if (after.Routines > before.Routines) != step.routines || (after.Tokens > before.Tokens) != step.tokens ||
			after.Routines < before.Routines || after.Tokens < before.Tokens {
			t.Errorf("%s: %+v became %+v", step.name, before, after)
		}
	}
}

func changesAtOnce(t *testing.T, s routine.Store) {
	before := changesOf(t, s)
	for _, err := range race(8, func(int) error {
		was, err := s.Changes(t.Context())
		if err == nil {
			err = s.CreateRoutine(t.Context(), Routine(t))
		}
		if err != nil {
			return err
		}
		is, err := s.Changes(t.Context())
		if err == nil && is.Routines <= was.Routines {
			t.Errorf("%d changes before a routine was created, %d after", was.Routines, is.Routines)
		}
		return err
	}) {
		must(t, err)
	}
	if after := changesOf(t, s); after.Routines != before.Routines+8 {
		t.Errorf("%+v became %+v by 8 routines", before, after)
	}
}
