package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
	"rote/routine/totp"
)

// A run types its secrets by their rules, its records have none of them, and each use is
// recorded.
func TestRunUsesItsSecrets(t *testing.T) {
	var released []routine.Release
	store, b := routinetest.NewStore(), &routinetest.Browser{Page: routinetest.Page{HTML: "hello hunter2-very-secret", Releases: &released}}
	s := service.New(service.Config{Store: store, Browser: b, Now: func() time.Time { return routinetest.Time }})
	defer s.Close(t.Context())
	saveSecret(t, s, owner, "shop", `{"project": false, "hosts": ["other.example"], "value": "of the organization"}`)
	saveSecret(t, s, keeper, "shop", loginSecret)
	saveSecret(t, s, keeper, "shop", `{"totp": "JBSWY3DPEHPK3PXP"}`)
	r := create(t, s, ann, definitionOf(`{"type":"navigate","url":"https://shop.example/login"},`+
		`{"type":"input_text","selector":"#u","text":"{{secret:shop.username}}"},`+typesPassword[strings.Index(typesPassword, "},")+2:], ""))
	e, err := s.Execute(t.Context(), ann, r.ID, service.Call{Via: routine.ViaREST})
	if err != nil {
		t.Fatal(err)
	}
	key, _ := totp.ParseKey("JBSWY3DPEHPK3PXP")
	step, _ := key.Step(routinetest.Time)
	want := []routine.Hidden{"ann", "hunter2-very-secret", routine.Hidden(key.Code(step))}
	if len(released) != 3 {
		t.Fatalf("%d releases", len(released))
	}
	for i, release := range released {
		if release.Texts[0] != want[i] || release.Secret != "shop" || release.Rules.Hosts[0] != "shop.example" ||
			release.Username != (i == 0) || release.Code != (i == 2) {
			t.Errorf("release %d: %+v", i, release)
		}
	}
	kept, err := store.Execution(t.Context(), e.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{routine.JSONText(e), routine.JSONText(kept), fmt.Sprintf("%+v", released)} {
		for _, secret := range want[1:] {
			if strings.Contains(text, string(secret)) {
				t.Errorf("%s is in %s", secret, text)
			}
		}
	}
	uses, total, err := s.SecretUses(t.Context(), ann, "shop", nil, 3, 0)
	if err != nil || total != 5 {
		t.Fatalf("%d %+v %v", total, uses, err)
	}
	for _, use := range uses {
		if use.What != "typed" || use.Outcome != "ok" || use.Host != "shop.example" || use.ExecutionID != e.ID || use.RoutineID != r.ID || use.RoutineVersion != 1 ||
			use.UserID != "ann" || use.Via != routine.ViaREST || use.Operation < 2 || use.Field == "" {
			t.Errorf("%+v", use)
		}
	}
	info, err := s.Secret(t.Context(), ann, "shop", nil)
	if err != nil || info.LastUsedAt == nil || len(info.UsedBy) != 1 || info.UsedBy[0].RoutineID != r.ID {
		t.Errorf("%+v %v", info, err)
	}
	// Neither many later changes nor many other routines hide them.
	for i := range 101 {
		saveSecret(t, s, keeper, "shop", fmt.Sprintf(`{"description": "%d"}`, i))
		create(t, s, ann, fmt.Sprintf(`{"name": "other %d", "description": "d", "operations": [{"type": "navigate", "url": "https://shop.example/"}]}`, i))
	}
	info, err = s.Secret(t.Context(), ann, "shop", nil)
	if err != nil || info.LastUsedAt == nil || len(info.UsedBy) != 1 {
		t.Errorf("%+v %v", info, err)
	}
}

// A one-time code is used once. The next run waits for the next code, as long as its time allows.
func TestOneTimeCodeIsUsedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var released []routine.Release
		s := service.New(service.Config{Store: routinetest.NewStore(), Browser: &routinetest.Browser{Page: routinetest.Page{Releases: &released}}})
		defer s.Close(t.Context())
		saveSecret(t, s, keeper, "shop", `{"hosts": ["shop.example"], "totp": "JBSWY3DPEHPK3PXP"}`)
		r := create(t, s, ann, definitionOf(`{"type":"navigate","url":"https://shop.example/"},`+
			`{"type":"input_text","selector":"#c","text":"{{totp:shop}}","timeout_ms":60000},{"type":"return_html"}`, ""))
		key, _ := totp.ParseKey("JBSWY3DPEHPK3PXP")
		run := func() (code string, at time.Time) {
			t.Helper()
			released = nil
			if _, err := s.Execute(t.Context(), ann, r.ID, service.Call{}); err != nil || len(released) != 1 {
				t.Fatal(released, err)
			}
			return string(released[0].Texts[0]), time.Now()
		}
		code, at := run()
		first, end := key.Step(at)
		if code != key.Code(first) {
			t.Errorf("%s at %v", code, at)
		}
		if code, at = run(); code != key.Code(first+1) || at.Before(end) {
			t.Errorf("the second code is %s, at %v", code, at)
		}
		// A code that is about to end is not used.
		_, end = key.Step(time.Now())
		end = end.Add(30 * time.Second)
		time.Sleep(time.Until(end.Add(-2 * time.Second)))
		if code, at = run(); code != key.Code(first+3) || at.Before(end) {
			t.Errorf("two seconds before the end of a step, the code is %s at %v", code, at)
		}
		short := create(t, s, ann, definitionOf(`{"type":"navigate","url":"https://shop.example/"},`+
			`{"type":"input_text","selector":"#c","text":"{{totp:shop}}","timeout_ms":1000},{"type":"return_html"}`, ""))
		_, err := s.Execute(t.Context(), ann, short.ID, service.Call{})
		if routine.CodeOf(err) != routine.CodeTimeout || !strings.Contains(err.Error(), "waiting for the next one-time code of secret shop") {
			t.Error(err)
		}
	})
}

// Ten runs that want the code of the same time step get ten codes, each of a step of its own.
func TestTenRunsGetTenCodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const runs = 10
		typed := make(chan string, runs)
		s := service.New(service.Config{Store: routinetest.NewStore(), Concurrency: runs, Browser: &routinetest.Browser{Page: routinetest.Page{
			Type: func(_ context.Context, typing routine.Typing) (routine.Match, error) {
				typed <- typing.Text + time.Now().Format(" 15:04:05")
				return routine.Match{Matches: 1}, nil
			}}}})
		defer s.Close(t.Context())
		saveSecret(t, s, keeper, "shop", `{"hosts": ["shop.example"], "totp": "JBSWY3DPEHPK3PXP"}`)
		r := create(t, s, ann, definitionOf(`{"type":"navigate","url":"https://shop.example/"},`+
			`{"type":"input_text","selector":"#c","text":"{{totp:shop}}","timeout_ms":300000}`, ""))
		key, _ := totp.ParseKey("JBSWY3DPEHPK3PXP")
		time.Sleep(29*time.Second + 900*time.Millisecond) // a tenth of a second before the next step
		first, end := key.Step(time.Now())
		if time.Until(end) > 3*time.Second {
			t.Fatalf("the step ends at %v", end)
		}
		errs := make(chan error, runs)
		for range runs {
			go func() {
				_, err := s.Execute(t.Context(), ann, r.ID, service.Call{Timeout: 300 * time.Second})
				errs <- err
			}()
		}
		for i := range int64(runs) {
			if got, want := <-typed, key.Code(first+1+i)+end.Add(time.Duration(i)*30*time.Second).Format(" 15:04:05"); got != want {
				t.Errorf("code %d is %s, want %s", i, got, want)
			}
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
	})
}

const typesValue = `{"type":"navigate","url":"https://shop.example/"},{"type":"input_text","selector":"#p","text":"{{secret:shop}}"},{"type":"return_html"}`

// A secret of the call is for that run, and wins over a stored one.
func TestSecretOfTheCall(t *testing.T) {
	var released []routine.Release
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: &routinetest.Browser{Page: routinetest.Page{Releases: &released}}})
	defer s.Close(t.Context())
	d := parse(t, definitionOf(typesValue, ""))
	run := func(given service.GivenSecret) error {
		released = nil
		_, err := s.RunOnce(t.Context(), owner, d, service.Call{Secrets: map[string]service.GivenSecret{"shop": given}})
		return err
	}
	fields := map[string]routine.Hidden{"value": "of the call"}
	if err := run(service.GivenSecret{Fields: fields}); routine.CodeOf(err) != routine.CodeSecretDenied || !strings.Contains(err.Error(), "is for no host") {
		t.Error(err)
	}
	if err := run(service.GivenSecret{Fields: fields, Hosts: []string{"shop.example"}}); err != nil || released[0].Texts[0] != "of the call" {
		t.Error(err)
	}
	if err := run(service.GivenSecret{Fields: fields, Hosts: []string{"other.example"}}); routine.CodeOf(err) != routine.CodeSecretDenied {
		t.Error(err)
	}
	saveSecret(t, s, owner, "shop", `{"hosts": ["shop.example"], "value": "stored", "routines": ["Routine_x"]}`)
	if err := run(service.GivenSecret{Fields: fields}); err != nil || released[0].Texts[0] != "of the call" {
		t.Error(err)
	}
	uses, _, err := s.SecretUses(t.Context(), owner, "shop", nil, 1, 0)
	if err != nil || uses[0].What != "typed" || uses[0].UserID != "olga" {
		t.Errorf("%+v %v", uses, err)
	}
}

type fakeProvider struct {
	asked routine.ProviderReference
	text  routine.Hidden
	err   error
	// down returns for how long it is unavailable for all values but that at known#x; nil: it works.
	down func() time.Duration
}

func (*fakeProvider) Scheme() string { return "vault" }
func (f *fakeProvider) Unavailable(ref routine.ProviderReference) time.Duration {
	if f.down == nil || ref.Path == "known#x" {
		return 0
	}
	return f.down()
}
func (f *fakeProvider) ReadSecret(_ context.Context, ref routine.ProviderReference) (routine.Hidden, error) {
	f.asked = ref
	return f.text, f.err
}

func TestValuesOfProviders(t *testing.T) {
	var released []routine.Release
	p := &fakeProvider{text: "from the vault"}
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: &routinetest.Browser{Page: routinetest.Page{Releases: &released}},
		Providers: []routine.SecretProvider{p}})
	defer s.Close(t.Context())
	saveSecret(t, s, owner, "shop", `{"hosts": ["shop.example"], "references": {"value": "vault:shop#password", "pin": "env:PIN"}}`)
	r := create(t, s, ann, definitionOf(typesValue, ""))
	run := func() error {
		_, err := s.Execute(t.Context(), ann, r.ID, service.Call{})
		return err
	}
	if err := run(); err != nil || released[0].Texts[0] != "from the vault" ||
		p.asked != (routine.ProviderReference{OrganizationID: "acme", ProjectID: "p", Path: "shop#password"}) {
		t.Errorf("%+v %v", p.asked, err)
	}
	for _, row := range []struct {
		text routine.Hidden
		err  error
		want routine.Code
	}{
		{"", routine.ErrNotFound, routine.CodeSecretMissing},
		{"", nil, routine.CodeSecretMissing},
		{"", fmt.Errorf("%w: no policy", routine.ErrProviderDenied), routine.CodeSecretUnavailable},
		{"", context.DeadlineExceeded, routine.CodeSecretUnavailable},
		{routine.Hidden(strings.Repeat("x", 70_000)), nil, routine.CodeSecretUnavailable},
		{"otpauth://totp/Shop?secret=JBSWY3DPEHPK3PXP", nil, routine.CodeSecretUnavailable}, // a key is not typed
	} {
		p.text, p.err = row.text, row.err
		if err := run(); routine.CodeOf(err) != row.want || strings.Contains(err.Error(), "xxx") {
			t.Errorf("%v: %v, want %s", row.err, err, row.want)
		}
	}
	p.text, p.err = "from the vault", nil
	tested, err := s.TestSecret(t.Context(), ann, "shop")
	if err != nil || len(tested) != 2 || tested[0].Field != "pin" || routine.CodeOf(tested[0].Err) != routine.CodeSecretUnavailable || tested[1].Err != nil {
		t.Errorf("%+v %v", tested, err)
	}
}

// While the provider of a secret does not work, a run that needs the secret is refused before
// it begins. A value that is still known and other runs are not concerned.
func TestProviderIsDown(t *testing.T) {
	p := &fakeProvider{text: "from the vault", down: func() time.Duration { return 7 * time.Second }}
	browser := &routinetest.Browser{}
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: browser, Providers: []routine.SecretProvider{p}})
	defer s.Close(t.Context())
	saveSecret(t, s, owner, "shop", `{"hosts": ["shop.example"], "references": {"value": "vault:shop#x"}}`)
	saveSecret(t, s, owner, "known", `{"hosts": ["shop.example"], "references": {"value": "vault:known#x"}}`)
	saveSecret(t, s, owner, "stored", `{"hosts": ["shop.example"], "value": "stored"}`)
	routines := map[string]*routine.Routine{}
	for _, name := range []string{"shop", "known", "stored"} {
		routines[name] = create(t, s, ann, definitionOf(strings.Replace(typesValue, "secret:shop", "secret:"+name, 1), ""))
	}
	pin := create(t, s, ann, definitionOf(strings.Replace(typesValue, "{{secret:shop}}", "{{pin}}", 1), `{"name":"pin","x-secret":true,"x-from-secret":"shop"}`))
	unsaved := parse(t, definitionOf(typesValue, ""))
	for what, call := range map[string]func(service.Call) (*routine.Execution, error){
		"execute": func(c service.Call) (*routine.Execution, error) {
			return s.Execute(t.Context(), ann, routines["shop"].ID, c)
		},
		"start": func(c service.Call) (*routine.Execution, error) {
			return s.Start(t.Context(), ann, routines["shop"].ID, c)
		},
		"unsaved": func(c service.Call) (*routine.Execution, error) {
			c.Definition = unsaved
			return s.Execute(t.Context(), ann, "", c)
		},
		"parameter": func(c service.Call) (*routine.Execution, error) { return s.Execute(t.Context(), ann, pin.ID, c) },
	} {
		e, err := call(service.Call{Idempotency: service.Idempotency{Key: what}})
		if e != nil || routine.CodeOf(err) != routine.CodeSecretUnavailable || routine.AsError(err).RetryAfter != 7*time.Second {
			t.Errorf("%s: %v %v", what, e, err)
		}
	}
	if _, err := s.RunOnce(t.Context(), ann, unsaved, service.Call{}); routine.CodeOf(err) != routine.CodeSecretUnavailable || browser.Opened() != 0 {
		t.Errorf("%v, %d pages opened", err, browser.Opened())
	}
	for _, ok := range []string{"known", "stored"} {
		if _, err := s.Execute(t.Context(), ann, routines[ok].ID, service.Call{}); err != nil {
			t.Errorf("%s: %v", ok, err)
		}
	}
	if _, err := s.Execute(t.Context(), ann, pin.ID, service.Call{Parameters: json.RawMessage(`{"pin":"1234"}`)}); err != nil {
		t.Error(err)
	}
	p.down = nil // the idempotency key of the refused call is free
	if _, err := s.Execute(t.Context(), ann, routines["shop"].ID, service.Call{Idempotency: service.Idempotency{Key: "execute"}}); err != nil {
		t.Error(err)
	}
	p.err = errors.New("connection refused")
	e, err := s.Execute(t.Context(), ann, routines["shop"].ID, service.Call{})
	if e == nil || e.Status != routine.ExecutionFailed || routine.CodeOf(err) != routine.CodeSecretUnavailable || strings.Contains(err.Error(), "refused") {
		t.Errorf("%+v %v", e, err)
	}
}

// A parameter with x-from-secret has the stored value if the call gives none.
func TestParameterFromSecret(t *testing.T) {
	var released []routine.Release
	s := service.New(service.Config{Store: routinetest.NewStore(), Browser: &routinetest.Browser{Page: routinetest.Page{Releases: &released}}})
	defer s.Close(t.Context())
	r := create(t, s, ann, definitionOf(strings.Replace(typesValue, "{{secret:shop}}", "{{pin}}", 1),
		`{"name":"pin","x-secret":true,"x-from-secret":"shop.pin"}`))
	if _, err := s.Execute(t.Context(), ann, r.ID, service.Call{}); routine.CodeOf(err) != routine.CodeSecretMissing ||
		!strings.HasSuffix(err.Error(), "rote secret set shop --host shop.example --field pin") {
		t.Error(err)
	}
	saveSecret(t, s, keeper, "shop", `{"hosts": ["shop.example"], "fields": {"pin": "12345"}}`)
	for given, want := range map[string]routine.Hidden{`{}`: "12345", `{"pin":"98765"}`: "98765"} {
		released = nil
		_, err := s.Execute(t.Context(), ann, r.ID, service.Call{Parameters: json.RawMessage(given)})
		if err != nil || len(released) != 1 || released[0].Texts[0] != want {
			t.Errorf("%s: %v", given, err)
		}
	}
}

// changedStore is a store in which a secret is changed just before its value is read.
type changedStore struct {
	routine.Store
	change func()
}

func (s *changedStore) SecretValue(ctx context.Context, of *routine.Secret, field string) (routine.Hidden, error) {
	if change := s.change; change != nil {
		s.change = nil
		change()
	}
	return s.Store.SecretValue(ctx, of, field)
}

// A new value is not released by the rules that the secret had before.
func TestSecretThatIsChangedMeanwhile(t *testing.T) {
	var released []routine.Release
	store := &changedStore{Store: routinetest.NewStore()}
	s := service.New(service.Config{Store: store, Browser: &routinetest.Browser{Page: routinetest.Page{Releases: &released}}})
	defer s.Close(t.Context())
	saveSecret(t, s, keeper, "shop", `{"hosts": ["old.example"], "value": "old-value-1", "field_rule": "any"}`)
	r := create(t, s, ann, definitionOf(`{"type":"navigate","url":"https://old.example/"},{"type":"input_text","selector":"#c","text":"{{secret:shop}}"}`, ""))
	store.change = func() {
		saveSecret(t, s, keeper, "shop", `{"hosts": ["new.example"], "value": "new-value-2", "field_rule": "any"}`)
	}
	_, err := s.Execute(t.Context(), ann, r.ID, service.Call{})
	if routine.CodeOf(err) != routine.CodeSecretDenied {
		t.Errorf("the page is of the hosts before: %v", err)
	}
	for _, x := range released {
		if x.Texts[0] == "new-value-2" && x.Rules.Hosts[0] != "new.example" {
			t.Errorf("the new value is released for %v", x.Rules.Hosts)
		}
	}
}
