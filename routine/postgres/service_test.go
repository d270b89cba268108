package postgres

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/definition"
	"rote/routine/routinetest"
	"rote/routine/service"
	"rote/routine/totp"
)

var caller = routine.Principal{UserID: "ann", OrganizationID: "acme", ProjectID: "p", Scopes: routine.DefaultScopes}

// replica is a service of its own on a database.
type replica struct {
	*service.Service
	browser *routinetest.Browser
	store   *Store
}

func newReplica(t *testing.T, url string, onOpen func(context.Context, *routinetest.Page) error) *replica {
	t.Helper()
	r := &replica{browser: &routinetest.Browser{OnOpen: onOpen}, store: open(t, url)}
	r.Service = maintained(t, service.Config{Store: r.store, Browser: r.browser, Concurrency: 50, Jobs: r.store.JobQueue(),
		Log: slog.New(slog.DiscardHandler)})
	return r
}

// maintained returns a service that does its background work until the test ends.
func maintained(t *testing.T, c service.Config) *service.Service {
	t.Helper()
	s := service.New(c)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var maintaining sync.WaitGroup
	maintaining.Go(func() { s.Maintain(ctx) })
	t.Cleanup(func() {
		s.Close(ctx)
		stop()
		maintaining.Wait()
	})
	return s
}

func (r *replica) create(t *testing.T) (id string) {
	t.Helper()
	const definition = `{"name": "n", "description": "d", "operations": [{"type": "return_html"}]}`
	saved, _, err := r.CreateRoutine(t.Context(), caller, json.RawMessage(definition), service.Idempotency{})
	must(t, err)
	return saved.ID
}

// A run that is in flight when the database crashes completes, and is recorded when the
// database is back. New calls fail with CodeStoreUnavailable meanwhile. A request to cancel
// that comes afterwards is heard again.
func TestRunsOutliveAnOutage(t *testing.T) {
	url := emptyDatabase(t)
	opened, gate := make(chan struct{}, 2), make(chan struct{})
	wait := func(ctx context.Context, _ *routinetest.Page) error {
		opened <- struct{}{}
		select {
		case <-gate:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	runs, other := newReplica(t, url, wait), newReplica(t, url, nil)
	id := runs.create(t)
	e, err := runs.Start(t.Context(), caller, id, service.Call{})
	must(t, err)
	<-opened

	must(t, server.Crash())
	began := time.Now()
	if _, err := other.Start(t.Context(), caller, id, service.Call{}); routine.CodeOf(err) != routine.CodeStoreUnavailable {
		t.Errorf("call without a database: %v", err)
	}
	if took := time.Since(began); took > operationTimeout+time.Second {
		t.Errorf("the error took %v", took)
	}
	gate <- struct{}{}
	eventually(t, func() bool { return runs.Statistics().Running == 0 })
	must(t, server.Start())
	eventually(t, func() bool {
		e, err = other.Execution(t.Context(), caller, e.ID)
		return err == nil && !e.Open()
	})
	if e.Status != routine.ExecutionCompleted {
		t.Errorf("%+v", e)
	}

	if e, err = runs.Start(t.Context(), caller, id, service.Call{}); err != nil {
		t.Fatal(err)
	}
	<-opened
	if e, err = other.Cancel(t.Context(), caller, e.ID); err != nil || e.ErrorCode != routine.CodeCancelled {
		t.Errorf("%+v, %v", e, err)
	}
}

// Of many calls with one idempotency key, through two services, one runs.
func TestOneRunForAKey(t *testing.T) {
	url := emptyDatabase(t)
	replicas := []*replica{newReplica(t, url, nil), newReplica(t, url, nil)}
	id := replicas[0].create(t)
	const calls = 50
	ids := make(chan string, calls)
	var all sync.WaitGroup
	for i := range calls {
		all.Go(func() {
			e, err := replicas[i%2].Start(t.Context(), caller, id, service.Call{Idempotency: service.Idempotency{Key: "k"}})
			if err != nil {
				t.Error(err)
				return
			}
			ids <- e.ID
		})
	}
	all.Wait()
	close(ids)
	different := map[string]bool{}
	for id := range ids {
		different[id] = true
	}
	list, total, err := replicas[0].store.Executions(t.Context(), routine.ExecutionFilter{OrganizationID: "acme"})
	must(t, err)
	if len(different) != 1 || total != 1 || !different[list[0].ID] {
		t.Errorf("calls have %d executions, the ledger %d", len(different), total)
	}
	eventually(t, func() bool {
		e, err := replicas[0].store.Execution(t.Context(), list[0].ID)
		must(t, err)
		return !e.Open()
	})
}

// A token that is revoked through one service is refused by the others at once, and its
// sign-ins have ended.
func TestRevocationIsSeenAtOnce(t *testing.T) {
	url := emptyDatabase(t)
	first, second := newReplica(t, url, nil), newReplica(t, url, nil)
	secret, token, err := first.CreateToken(t.Context(), caller, 0)
	must(t, err)
	if p, err := second.Authenticate(t.Context(), secret); err != nil || p.UserID != "ann" {
		t.Fatalf("%+v, %v", p, err)
	}
	signIn, _, err := first.SignIn(t.Context(), secret)
	must(t, err)
	if p, err := second.SignedIn(t.Context(), signIn); err != nil || p.TokenID != token.ID {
		t.Fatalf("%+v, %v", p, err)
	}
	must(t, first.RevokeToken(t.Context(), token.ID))
	if _, err := second.Authenticate(t.Context(), secret); routine.CodeOf(err) != routine.CodeUnauthenticated {
		t.Errorf("a revoked token: %v", err)
	}
	if _, err := second.SignedIn(t.Context(), signIn); routine.CodeOf(err) != routine.CodeUnauthenticated {
		t.Errorf("a sign-in with a revoked token: %v", err)
	}
}

// Machines whose clocks are an hour wrong type the codes of now, each of a step of its own, and
// nobody has to wait for an hour afterwards.
func TestCodesAreMadeByTheDatabaseClock(t *testing.T) {
	url := emptyDatabase(t)
	key, err := totp.ParseKey("otpauth://totp/x?secret=JBSWY3DPEHPK3PXP&period=10")
	must(t, err)
	keeper := caller
	keeper.Scopes |= routine.ScopeSecretsWrite
	last := int64(0)
	for _, wrong := range []time.Duration{time.Hour, -time.Hour, 0} {
		var typed string
		s := service.New(service.Config{Store: open(t, url), Now: func() time.Time { return time.Now().Add(wrong) }, Browser: &routinetest.Browser{
			Page: routinetest.Page{Type: func(_ context.Context, typing routine.Typing) (routine.Match, error) {
				typed = typing.Text
				return routine.Match{Matches: 1}, nil
			}}}})
		defer s.Close(t.Context())
		if last == 0 {
			_, _, err := s.SaveSecret(t.Context(), keeper, routine.ViaREST, "shop", []byte(`{"hosts": ["shop.example"], "totp": "`+key.URI()+`"}`),
				service.PutCondition{})
			must(t, err)
		}
		d, _, err := definition.Parse([]byte(`{"name": "n", "description": "d", "operations": [{"type": "navigate", "url": "https://shop.example/"},
			{"type": "input_text", "selector": "#c", "text": "{{totp:shop}}", "timeout_ms": 30000}]}`))
		must(t, err)
		_, err = s.RunOnce(t.Context(), caller, d, service.Call{})
		must(t, err)
		step, _ := key.Step(time.Now())
		if typed != key.Code(step) && typed != key.Code(step-1) || typed == key.Code(last) {
			t.Errorf("with a clock that is %v wrong, %s was typed at step %d, after %d", wrong, typed, step, last)
		}
		last = step
	}
}
