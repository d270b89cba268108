package routinetest

import (
	"crypto/rand"
	"testing"
	"time"

	"rote/routine"
)

var signInPromises = []promise{
	{"a sign-in is found by its hash, whole, until it is ended", signInIsKept},
	{"a sign-in needs no token in the store, and a token can have several", signInsOfAToken},
	{"the latest use of a sign-in is kept", latestUseOfSignInIsKept},
	{"the hash of a sign-in belongs to it alone", signInHashIsUnique},
	{"sign-ins that are not valid any longer are deleted with old executions", pruneSignIns},
}

// signIn saves a sign-in with hashes of its own.
func signIn(t *testing.T, s routine.Store, edits ...func(*routine.SignIn)) *routine.SignIn {
	t.Helper()
	in := &routine.SignIn{CreatedAt: Time, LastUsedAt: Time}
	rand.Read(in.Hash[:])
	rand.Read(in.TokenHash[:])
	for _, edit := range edits {
		edit(in)
	}
	must(t, s.CreateSignIn(t.Context(), in))
	return in
}

func wantSignIn(t *testing.T, s routine.Store, want *routine.SignIn) {
	t.Helper()
	got, err := s.SignInByHash(t.Context(), want.Hash)
	must(t, err)
	equal(t, "sign-in", got, want)
}

func wantNoSignIn(t *testing.T, s routine.Store, in *routine.SignIn) {
	t.Helper()
	_, err := s.SignInByHash(t.Context(), in.Hash)
	wantErr(t, "SignInByHash", err, routine.ErrNotFound)
	wantErr(t, "UseSignIn", s.UseSignIn(t.Context(), in.Hash, Time), routine.ErrNotFound)
}

func signInIsKept(t *testing.T, s routine.Store) {
	in := signIn(t, s, func(in *routine.SignIn) { in.LastUsedAt = Time.Add(time.Hour) })
	outdated := signIn(t, s, func(in *routine.SignIn) {
		in.CreatedAt, in.LastUsedAt = time.UnixMicro(1).UTC(), time.UnixMicro(2).UTC()
	})
	wantSignIn(t, s, in)
	wantSignIn(t, s, outdated)
	for range 2 {
		must(t, s.EndSignIn(t.Context(), in.Hash))
		wantNoSignIn(t, s, in)
	}
	wantSignIn(t, s, outdated)
}

func signInsOfAToken(t *testing.T, s routine.Store) {
	k := Token(t)
	must(t, s.CreateToken(t.Context(), k))
	first := signIn(t, s, func(in *routine.SignIn) { in.TokenHash = k.Hash })
	second := signIn(t, s, func(in *routine.SignIn) { in.TokenHash = k.Hash })
	other := signIn(t, s)
	must(t, s.RevokeToken(t.Context(), k.ID, Time))
	must(t, s.EndSignIn(t.Context(), first.Hash))
	wantNoSignIn(t, s, first)
	wantSignIn(t, s, second)
	wantSignIn(t, s, other)
}

func latestUseOfSignInIsKept(t *testing.T, s routine.Store) {
	in, other := signIn(t, s), signIn(t, s)
	latest := Time.Add(time.Hour)
	for _, at := range []time.Time{Time, latest, latest.Add(-time.Minute)} {
		must(t, s.UseSignIn(t.Context(), in.Hash, at))
	}
	in.LastUsedAt = latest
	wantSignIn(t, s, in)
	wantSignIn(t, s, other)
}

func signInHashIsUnique(t *testing.T, s routine.Store) {
	in := signIn(t, s)
	second := *in
	second.TokenHash[0]++
	if err := s.CreateSignIn(t.Context(), &second); err == nil {
		t.Error("a second sign-in with the hash of the first was saved")
	}
	wantSignIn(t, s, in)
}

func pruneSignIns(t *testing.T, s routine.Store) {
	used := func(created, used time.Duration) *routine.SignIn {
		return signIn(t, s, func(in *routine.SignIn) { in.CreatedAt, in.LastUsedAt = Time.Add(-created), Time.Add(-used) })
	}
	kept := []*routine.SignIn{used(0, 0), used(routine.SignInIdleTime, routine.SignInIdleTime-time.Microsecond), used(routine.SignInTime-time.Microsecond, 0)}
	gone := []*routine.SignIn{used(routine.SignInIdleTime, routine.SignInIdleTime), used(routine.SignInTime, 0)}
	for _, r := range []routine.Retention{{}, {Age: 1000 * time.Hour}} {
		wantPruned(t, s, r, Time, 0)
		for _, in := range kept {
			wantSignIn(t, s, in)
		}
		for _, in := range gone {
			wantNoSignIn(t, s, in)
		}
	}
}
