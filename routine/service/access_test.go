package service_test

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// shelf is a service with a routine for each object of the access matrix.
func shelf(t *testing.T) (*service.Service, map[string]string) {
	t.Helper()
	store := routinetest.NewStore()
	ids := map[string]string{"unknown": "Routine_x"}
	for object, edit := range map[string]func(*routine.Routine){
		"private":  func(*routine.Routine) {},
		"public":   func(r *routine.Routine) { r.IsPublic = true },
		"archived": func(r *routine.Routine) { r.Status = routine.StatusArchived },
	} {
		r := routinetest.Routine(t, func(r *routine.Routine) {
			r.Definition = routinetest.Parse(t, private)
		}, edit)
		if err := store.CreateRoutine(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		ids[object] = r.ID
	}
	return service.New(service.Config{Store: store, Browser: &routinetest.Browser{}}), ids
}

func TestWhoMayDoWhat(t *testing.T) {
	for _, c := range routinetest.Access() {
		t.Run(c.String(), func(t *testing.T) {
			s, ids := shelf(t)
			id := ids[c.Object]
			var err error
			switch c.Action {
			case "list":
				_, _, err = s.Routines(t.Context(), c.Caller, routine.RoutineFilter{Limit: 10})
				if _, _, brief := s.RoutineBriefs(t.Context(), c.Caller, routine.RoutineFilter{Limit: 10}); routine.CodeOf(brief) != routine.CodeOf(err) {
					t.Errorf("briefs: %v, all: %v", brief, err)
				}
			case "read":
				_, err = s.Routine(t.Context(), c.Caller, id)
			case "history":
				_, _, err = s.Versions(t.Context(), c.Caller, id, 10, 0)
			case "version":
				_, err = s.Version(t.Context(), c.Caller, id, 1)
			case "diff":
				_, err = s.DiffVersions(t.Context(), c.Caller, id, 1, 1)
			case "patch":
				_, _, err = s.PatchRoutine(t.Context(), c.Caller, id, []byte(`{"routine_status": "active"}`), nil)
			case "replace":
				_, _, err = s.ReplaceRoutine(t.Context(), c.Caller, id, []byte(private), nil)
			case "restore":
				_, _, err = s.RestoreRoutine(t.Context(), c.Caller, id, 1, nil)
			case "archive":
				_, err = s.ArchiveRoutine(t.Context(), c.Caller, id, nil)
			case "publish":
				_, err = s.PublishRoutine(t.Context(), c.Caller, id, true, nil)
			case "create":
				_, _, err = s.CreateRoutine(t.Context(), c.Caller, []byte(private), service.Idempotency{})
			case "validate":
				_, _, err = s.Validate(t.Context(), c.Caller, []byte(private))
			case "execute":
				_, err = s.Execute(t.Context(), c.Caller, id, service.Call{})
			case "tools":
				_, err = s.Tools(t.Context(), c.Caller)
			case "metrics":
				err = s.MayReadStatistics(c.Caller)
			default:
				t.Fatal("no such action")
			}
			if routine.CodeOf(err) != c.Want {
				t.Fatalf("%v, want %q", err, c.Want)
			}
			if c.LacksScope() && !strings.Contains(err.Error(), c.Scope) {
				t.Errorf("the scope %s is not named: %v", c.Scope, err)
			}
		})
	}
}

func TestListsShowWhatIsPublicOrOfTheOrganization(t *testing.T) {
	s, _ := shelf(t)
	create(t, s, bob, private)
	for _, row := range []struct {
		caller routine.Principal
		want   int
	}{{ann, 2}, {bob, 2}, {nobody, 1}} {
		for _, list := range []func(context.Context, routine.Principal, routine.RoutineFilter) ([]*routine.Routine, int, error){s.Routines, s.RoutineBriefs} {
			if list, total, err := list(t.Context(), row.caller, routine.RoutineFilter{OrganizationID: "acme", Limit: 10}); err != nil ||
				len(list) != row.want || total != row.want {
				t.Errorf("%q lists %d of %d (%v), want %d", row.caller.UserID, len(list), total, err, row.want)
			}
		}
	}
}

func TestScopes(t *testing.T) {
	all := []string{"routines:read", "routines:write", "executions:run", "executions:read", "admin", "secrets:read"}
	got, err := routine.ParseScopes(all)
	if err != nil || got != routine.DefaultScopes|routine.ScopeAdmin || got.String() != strings.Join(all, " ") {
		t.Errorf("%v %v", got, err)
	}
	if got := (routine.ScopeExecutionsRun | routine.ScopeRoutinesRead).String(); got != "routines:read executions:run" {
		t.Error(got)
	}
	for _, bad := range []string{"", "routines", "Admin", "routines:read routines:write"} {
		if _, err := routine.ParseScopes([]string{"admin", bad}); routine.CodeOf(err) != routine.CodeInvalid || !strings.Contains(err.Error(), all[2]) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestTokens(t *testing.T) {
	now := time.Now()
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: &routinetest.Browser{}, AdminToken: "letmein", Now: func() time.Time { return now }})
	defer s.Close(t.Context())
	narrow := ann
	narrow.Scopes, narrow.AllowedHosts = routine.ScopeExecutionsRun, []string{"shop.example"}
	secret, token, err := s.CreateToken(t.Context(), narrow, time.Hour)
	if err != nil || !strings.HasPrefix(secret, "rote_") || len(secret) != 48 {
		t.Fatal(secret, err)
	}
	narrow.TokenID = token.ID
	if p, err := s.Authenticate(t.Context(), secret); err != nil || !reflect.DeepEqual(p, narrow) {
		t.Fatal(p, err)
	}
	if p, err := s.Authenticate(t.Context(), "letmein"); err != nil || p.UserID != "admin" {
		t.Fatal(p, err)
	}
	for _, bad := range []string{"", "rote_x", secret + "x", strings.ToUpper(secret)} {
		if _, err := s.Authenticate(t.Context(), bad); routine.CodeOf(err) != routine.CodeUnauthenticated {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := s.RevokeToken(t.Context(), token.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Authenticate(t.Context(), secret); routine.CodeOf(err) != routine.CodeUnauthenticated {
		t.Fatal("revoked: ", err)
	}
	if err := s.RevokeToken(t.Context(), "none"); routine.CodeOf(err) != routine.CodeNotFound {
		t.Fatal(err)
	}
	secret, _, _ = s.CreateToken(t.Context(), ann, time.Hour)
	now = now.Add(time.Hour)
	if _, err := s.Authenticate(t.Context(), secret); routine.CodeOf(err) != routine.CodeUnauthenticated {
		t.Fatal("expired: ", err)
	}
	if _, _, err := s.CreateToken(t.Context(), ann, -time.Second); routine.CodeOf(err) != routine.CodeInvalid {
		t.Error("a negative time to live: ", err)
	}
	for _, useless := range []routine.Principal{{}, {UserID: "ann", Scopes: routine.ScopeAdmin}, {UserID: "ann", OrganizationID: "acme"}} {
		if _, _, err := s.CreateToken(t.Context(), useless, 0); routine.CodeOf(err) != routine.CodeInvalid {
			t.Errorf("%+v: %v", useless, err)
		}
	}
}

// counting counts how often the use of a token is recorded.
type counting struct {
	routine.Store
	uses chan time.Time
}

func (c *counting) UseToken(ctx context.Context, id string, at time.Time) error {
	c.uses <- at
	return c.Store.UseToken(ctx, id, at)
}

func TestLastUseIsRecordedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &counting{Store: routinetest.NewStore(), uses: make(chan time.Time, 100)}
		s := service.New(service.Config{Store: store, Browser: &routinetest.Browser{}})
		defer s.Close(t.Context())
		secret, token, err := s.CreateToken(t.Context(), ann, 0)
		if err != nil || token.LastUsedAt != nil {
			t.Fatal(token, err)
		}
		use := func() {
			if _, err := s.Authenticate(t.Context(), secret); err != nil {
				t.Fatal(err)
			}
		}
		start := time.Now()
		for range 150 { // 2.5 minutes
			use()
			synctest.Wait()
			time.Sleep(time.Second) // of the test's own clock
		}
		synctest.Wait()
		close(store.uses)
		var got []time.Duration
		for at := range store.uses {
			got = append(got, at.Sub(start))
		}
		if want := []time.Duration{0, time.Minute, 2 * time.Minute}; !reflect.DeepEqual(got, want) {
			t.Errorf("recorded at %v, want %v", got, want)
		}
		list, err := s.Tokens(t.Context())
		if err != nil || !list[0].LastUsedAt.Equal(start.Add(2*time.Minute).Truncate(time.Microsecond)) {
			t.Error(list[0].LastUsedAt, err)
		}
	})
}
