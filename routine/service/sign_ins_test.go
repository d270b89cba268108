package service_test

import (
	"context"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

func wantSignedIn(t *testing.T, s *service.Service, secret string, want routine.Principal) {
	t.Helper()
	if p, err := s.SignedIn(t.Context(), secret); err != nil || !reflect.DeepEqual(p, want) {
		t.Errorf("signed in as %+v (%v), want %+v", p, err, want)
	}
}

func wantSignedOut(t *testing.T, s *service.Service, secret, why string) {
	t.Helper()
	if p, err := s.SignedIn(t.Context(), secret); routine.CodeOf(err) != routine.CodeUnauthenticated || !p.Anonymous() {
		t.Errorf("%s: %+v, %v", why, p, err)
	}
}

func TestSignIn(t *testing.T) {
	store := routinetest.NewStore()
	open := func(admin string) *service.Service {
		return service.New(service.Config{Store: store, Browser: &routinetest.Browser{}, AdminToken: admin})
	}
	s := open("letmein")
	defer s.Close(t.Context())
	tokenSecret, token, err := s.CreateToken(t.Context(), ann, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	in := func(tokenSecret string, want routine.Principal) string {
		secret, p, err := s.SignIn(t.Context(), tokenSecret)
		if err != nil || len(secret) != 43 || !reflect.DeepEqual(p, want) {
			t.Fatalf("%q %+v %v", secret, p, err)
		}
		return secret
	}
	want := ann
	want.TokenID = token.ID
	admin, err := s.Authenticate(t.Context(), "letmein")
	if err != nil {
		t.Fatal(err)
	}
	first, second, configured := in(tokenSecret, want), in(tokenSecret, want), in("letmein", admin)
	if first == second {
		t.Fatal("two sign-ins have one secret")
	}
	for _, bad := range []string{"", "letmein2", first, tokenSecret + "x"} {
		if secret, p, err := s.SignIn(t.Context(), bad); secret != "" || !p.Anonymous() || routine.CodeOf(err) != routine.CodeUnauthenticated {
			t.Errorf("signing in with %q: %q %+v %v", bad, secret, p, err)
		}
		if bad != first {
			wantSignedOut(t, s, bad, "the secret "+bad)
		}
	}
	if _, err := s.Authenticate(t.Context(), first); routine.CodeOf(err) != routine.CodeUnauthenticated {
		t.Errorf("the secret of a sign-in as a service token: %v", err)
	}

	other := open("changed") // another process, which was started with another admin token
	defer other.Close(t.Context())
	for _, secret := range []string{first, second} {
		wantSignedIn(t, s, secret, want)
		wantSignedIn(t, other, secret, want)
	}
	wantSignedIn(t, s, configured, admin)
	wantSignedOut(t, other, configured, "another admin token")
	without := open("")
	defer without.Close(t.Context())
	wantSignedOut(t, without, configured, "no admin token")

	for range 2 {
		if err := other.SignOut(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		wantSignedOut(t, s, first, "signed out through another process")
	}
	wantSignedIn(t, s, second, want)
	if err := other.RevokeToken(t.Context(), token.ID); err != nil {
		t.Fatal(err)
	}
	wantSignedOut(t, s, second, "its token was revoked through another process")
	wantSignedIn(t, s, configured, admin)
}

// A sign-in ends when it is not used for 12 hours, seven days after it began, and with its
// token. Its use is recorded once a minute.
func TestSignInEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &countingSignIns{Store: routinetest.NewStore()}
		s := service.New(service.Config{Store: store, Browser: &routinetest.Browser{}})
		defer s.Close(t.Context())
		in := func(validFor time.Duration) (string, routine.Principal) {
			tokenSecret, _, err := s.CreateToken(t.Context(), ann, validFor)
			if err != nil {
				t.Fatal(err)
			}
			secret, p, err := s.SignIn(t.Context(), tokenSecret)
			if err != nil {
				t.Fatal(err)
			}
			return secret, p
		}
		later := func(d time.Duration) {
			synctest.Wait()
			time.Sleep(d) // of the test's own clock
		}
		idle, pIdle := in(0)
		later(12*time.Hour - time.Second)
		wantSignedIn(t, s, idle, pIdle)
		later(12 * time.Hour)
		wantSignedOut(t, s, idle, "not used for 12 hours")

		short, pShort := in(time.Hour)
		later(time.Hour - time.Second)
		wantSignedIn(t, s, short, pShort)
		later(time.Second)
		wantSignedOut(t, s, short, "its token has expired")

		store.uses = 0
		minutely, pMinutely := in(0)
		for range 150 { // 2.5 minutes
			wantSignedIn(t, s, minutely, pMinutely)
			later(time.Second)
		}
		if store.uses != 2 {
			t.Errorf("%d uses were recorded in 2.5 minutes, want 2", store.uses)
		}
		for range 6*24 + 23 {
			later(time.Hour)
			wantSignedIn(t, s, minutely, pMinutely)
		}
		later(time.Hour)
		wantSignedOut(t, s, minutely, "seven days old")
	})
}

// countingSignIns counts how often the use of a sign-in is recorded.
type countingSignIns struct {
	routine.Store
	uses int
}

func (c *countingSignIns) UseSignIn(ctx context.Context, hash [32]byte, at time.Time) error {
	c.uses++
	return c.Store.UseSignIn(ctx, hash, at)
}
