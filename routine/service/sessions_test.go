package service_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/browserstate"
	"rote/routine/routinetest"
	"rote/routine/service"
)

// exported is a state of two sites with the cookie value hunter2-session.
const exported = `{"cookies": [
	{"name": "sid", "value": "hunter2-session", "domain": "shop.example", "path": "/", "expires": 9999999999, "httpOnly": true, "secure": true, "sameSite": "Lax"},
	{"name": "ad", "value": "x", "domain": ".ads.example", "path": "/", "expires": -1, "httpOnly": false, "secure": true, "sameSite": "None"}],
	"origins": [{"origin": "https://shop.example", "localStorage": [{"name": "k", "value": "v"}], "indexedDB": []}]`

func saveSession(t *testing.T, s *service.Service, name, text string) *service.SessionInfo {
	t.Helper()
	info, _, err := s.SaveSession(t.Context(), keeper, routine.ViaREST, name, []byte(text), service.PutCondition{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return info
}

func importSession(t *testing.T, s *service.Service, name, text string) *service.SessionImport {
	t.Helper()
	got, err := s.ImportSession(t.Context(), keeper, routine.ViaREST, name, []byte(text), nil, service.PutCondition{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return got
}

// refusedSave returns the code and the text of the error of a change.
func refusedSave(t *testing.T, s *service.Service, text string, condition service.PutCondition) (routine.Code, string) {
	t.Helper()
	_, _, err := s.SaveSession(t.Context(), keeper, routine.ViaREST, "shop", []byte(text), condition)
	return routine.CodeOf(err), fmt.Sprint(err)
}

// refusedImport returns the code and the text of the error of an import.
func refusedImport(t *testing.T, s *service.Service, text string) (routine.Code, string) {
	t.Helper()
	_, err := s.ImportSession(t.Context(), keeper, routine.ViaREST, "shop", []byte(text), nil, service.PutCondition{})
	return routine.CodeOf(err), fmt.Sprint(err)
}

// failingStore fails what needs the key.
type failingStore struct {
	*routinetest.Store
	err error
}

func (s *failingStore) SessionState(ctx context.Context, organizationID, projectID, name string) (*routine.Session, []byte, error) {
	if s.err != nil {
		return nil, nil, fmt.Errorf("open: %w", s.err)
	}
	return s.Store.SessionState(ctx, organizationID, projectID, name)
}

func (s *failingStore) SaveSession(ctx context.Context, session *routine.Session, state []byte, before int) error {
	if s.err != nil && state != nil {
		return fmt.Errorf("seal: %w", s.err)
	}
	return s.Store.SaveSession(ctx, session, state, before)
}

func TestSessionIsSavedAndChanged(t *testing.T) {
	s, _, _ := newSecretService(t)
	info, created, err := s.SaveSession(t.Context(), keeper, routine.ViaREST, "shop", []byte(`{"hosts": ["Shop.example", "*.shop.example"], "max_age": "90m"}`),
		service.PutCondition{New: true})
	if err != nil || !created || info.Version != 1 || info.Condition != routine.SessionEmpty || info.Withheld {
		t.Fatalf("%+v, %v", info, err)
	}
	if got := routine.JSONText(info); !strings.Contains(got, `"hosts":["*.shop.example","shop.example"],"mode":"shared","max_age":"1h30m","readable":false`) {
		t.Error(got)
	}
	info = saveSession(t, s, "shop", `{"mode": "exclusive", "max_age": null}`)
	if info.Version != 2 || info.Mode != routine.SessionExclusive || info.MaxAge != nil || len(info.Hosts) != 2 {
		t.Errorf("%+v", info)
	}
	for _, condition := range []service.PutCondition{{New: true}, {Versions: []int{1}}} {
		if code, message := refusedSave(t, s, `{}`, condition); code != routine.CodePreconditionFailed {
			t.Errorf("%+v: %s", condition, message)
		}
	}
	saveSession(t, s, "bank", `{"hosts": ["bank.example"]}`)
	if list, total, err := s.Sessions(t.Context(), keeper, 1, 1); err != nil || total != 2 || len(list) != 1 || list[0].Name != "shop" {
		t.Errorf("%+v of %d, %v", list, total, err)
	}
	if err := s.DeleteSession(t.Context(), keeper, routine.ViaCLI, "shop"); err != nil {
		t.Error(err)
	}
	if _, err := s.Session(t.Context(), keeper, "shop"); routine.CodeOf(err) != routine.CodeNotFound {
		t.Error(err)
	}
	uses, total, err := s.SessionUses(t.Context(), keeper, "shop", 10, 0)
	if err != nil || total != 3 || uses[0].What != "deleted" || uses[0].Via != routine.ViaCLI || uses[2].What != "saved" || uses[2].UserID != "kim" {
		t.Errorf("%+v of %d, %v", uses, total, err)
	}
	if _, total, err := s.SessionUses(t.Context(), keeper, "bank", 10, 0); err != nil || total != 1 {
		t.Error(total, err)
	}
	if _, _, err := s.SessionUses(t.Context(), keeper, "other", 10, 0); routine.CodeOf(err) != routine.CodeNotFound {
		t.Error(err)
	}
	if _, total, err := s.SecretUses(t.Context(), keeper, "shop", new(true), 10, 0); err != nil || total != 0 {
		t.Errorf("a secret of the same name has %d uses, %v", total, err)
	}
}

func TestSessionSettingsAreChecked(t *testing.T) {
	s, _, _ := newSecretService(t)
	for text, want := range map[string]string{
		`[]`:                                   "must be a JSON object",
		`{"hosts": ["a.example"]} x`:           "must be a JSON object",
		`{"hosts": [], "hosts": []}`:           "must be a JSON object",
		`{}`:                                   "hosts is missing",
		`{"hosts": ["*.co.uk"]}`:               "/hosts/0",
		`{"hosts": "a.example"}`:               "must be a list",
		`{"host": ["a.example"]}`:              `has no setting "host"; did you mean "hosts"`,
		`{"hosts": ["a"], "mode": "one"}`:      "/mode",
		`{"hosts": ["a"], "max_age": 12}`:      "/max_age",
		`{"hosts": ["a"], "max_age": "1"}`:     "/max_age",
		`{"hosts": ["a"], "max_age": "59s"}`:   "/max_age",
		`{"hosts": ["a"], "max_age": "9601h"}`: "/max_age",
		`{"hosts": ["a"], "readable": 1}`:      "/readable",
	} {
		if code, message := refusedSave(t, s, text, service.PutCondition{}); code != routine.CodeInvalid || !strings.Contains(message, want) {
			t.Errorf("%s: %s, want %s", text, message, want)
		}
	}
	_, _, err := s.SaveSession(t.Context(), keeper, routine.ViaREST, "a b", []byte(`{"hosts": ["a"]}`), service.PutCondition{})
	if routine.CodeOf(err) != routine.CodeInvalid {
		t.Error(err)
	}
}

// A state is imported as far as it belongs to the hosts. Nobody reads it again.
func TestSessionStateIsImported(t *testing.T) {
	s, store, _ := newSecretService(t)
	if code, message := refusedImport(t, s, exported+"}"); code != routine.CodeNotFound || !strings.Contains(message, "ads.example, shop.example") {
		t.Error("hosts that nobody has confirmed: ", message)
	}
	got := importSession(t, s, "shop", exported+`, "hosts": ["shop.example"], "user_agent": "Agent/1"}`)
	if got.Condition != routine.SessionFresh || got.UserAgent != "Agent/1" || got.Version != 1 ||
		got.LoggedInAt == nil || got.SavedAt == nil || got.ExpiresAt == nil {
		t.Errorf("%+v", got.SessionInfo)
	}
	text := routine.JSONText(got)
	for _, want := range []string{`"state":[{"host":"shop.example","cookies":1,"local_storage":true}]`,
		`"left_out":[{"host":"ads.example","cookies":1,"local_storage":false}]`, `"pointer":"/origins/0/indexedDB","code":"not_kept"`} {
		if strings.Contains(text, "hunter2") || !strings.Contains(text, want) {
			t.Errorf("%s, want %s", text, want)
		}
	}
	info, err := s.Session(t.Context(), keeper, "shop")
	if err != nil || len(info.State) != 1 || info.State[0] != (browserstate.Count{Host: "shop.example", Cookies: 1, Storage: true}) {
		t.Errorf("%+v, %v", info, err)
	}
	_, state, err := store.SessionState(t.Context(), "acme", "p", "shop")
	if err != nil || !strings.Contains(string(state), "hunter2-session") || strings.Contains(string(state), "ads.example") {
		t.Errorf("stored: %s, %v", state, err)
	}
	got = importSession(t, s, "shop", "# Netscape\nshop.example\tFALSE\t/\tTRUE\t0\tsid\tv\n")
	if got.UserAgent != "" || got.ExpiresAt != nil || got.Version != 2 || len(got.LeftOut) != 0 {
		t.Errorf("%+v", got.SessionInfo)
	}
	for text, want := range map[string]string{
		`{"cookies": [{"name": "a"}]}`:                       "/cookies/0/domain",
		"# Netscape\na.example\tFALSE\t/\tTRUE\t0\tsid\tv\n": "(shop.example): it is for a.example",
		exported + `, "hosts": ["*"]}`:                       "/hosts/0",
		exported + `, "hosts": []}`:                          "hosts is missing",
	} {
		if code, message := refusedImport(t, s, text); code != routine.CodeInvalid || !strings.Contains(message, want) {
			t.Errorf("%s: %s, want %s", text, message, want)
		}
	}
	err = s.ClearSession(t.Context(), keeper, routine.ViaREST, "shop", service.PutCondition{Versions: []int{1}})
	if routine.CodeOf(err) != routine.CodePreconditionFailed {
		t.Error(err)
	}
	if err := s.ClearSession(t.Context(), keeper, routine.ViaREST, "shop", service.PutCondition{}); err != nil {
		t.Error(err)
	}
	info, err = s.Session(t.Context(), keeper, "shop")
	if err != nil || len(info.State) != 0 || info.Condition != routine.SessionEmpty || info.LoggedInAt != nil || info.SavedAt != nil || info.Version != 3 {
		t.Errorf("%+v, %v", info, err)
	}
	if err := s.ClearSession(t.Context(), keeper, routine.ViaREST, "other", service.PutCondition{}); routine.CodeOf(err) != routine.CodeNotFound {
		t.Error(err)
	}
	uses, _, err := s.SessionUses(t.Context(), keeper, "shop", 10, 0)
	if err != nil || len(uses) != 3 || uses[0].What != "cleared" || uses[1].What != "imported" {
		t.Errorf("%+v, %v", uses, err)
	}
}

// A stored login is not given to more hosts or to authors of routines, unless the caller has it.
func TestSessionIsNotWidened(t *testing.T) {
	s, _, _ := newSecretService(t)
	importSession(t, s, "shop", exported+`, "hosts": ["shop.example"]}`)
	for _, text := range []string{`{"hosts": ["shop.example", "evil.example"]}`, `{"hosts": ["*.shop.example"]}`, `{"readable": true}`} {
		if code, message := refusedSave(t, s, text, service.PutCondition{}); code != routine.CodeValueRequired {
			t.Errorf("%s: %s", text, message)
		}
	}
	uses, _, err := s.SessionUses(t.Context(), keeper, "shop", 1, 0)
	if err != nil || uses[0].What != "saved" || uses[0].Outcome != string(routine.CodeValueRequired) {
		t.Errorf("%+v, %v", uses, err)
	}
	saveSession(t, s, "shop", `{"mode": "exclusive", "readable": false}`)
	importSession(t, s, "shop", exported+`, "hosts": ["shop.example", "ads.example"]}`) // gives the login itself
	saveSession(t, s, "shop", `{"hosts": ["shop.example"]}`)
	if info, err := s.Session(t.Context(), keeper, "shop"); err != nil || len(info.State) != 1 {
		t.Errorf("the state of a host that is gone: %+v, %v", info, err)
	}
	if err := s.ClearSession(t.Context(), keeper, routine.ViaREST, "shop", service.PutCondition{}); err != nil {
		t.Fatal(err)
	}
	if info := saveSession(t, s, "shop", `{"readable": true, "hosts": ["b.example"]}`); !info.Readable {
		t.Errorf("%+v", info)
	}
}

// A change ends the condition in which logins are not tried again.
func TestChangeOfFailedSession(t *testing.T) {
	s, store, _ := newSecretService(t)
	failed := routinetest.Session(func(s *routine.Session) {
		s.Condition, s.Failures, s.Reason = routine.SessionFailed, 2, "wrong password"
	})
	if err := store.SaveSession(t.Context(), failed, nil, 0); err != nil {
		t.Fatal(err)
	}
	if info := saveSession(t, s, "shop", `{}`); info.Condition != routine.SessionStale || info.Failures != 0 || info.Reason != "" {
		t.Errorf("%+v", info)
	}
}

func TestSessionsAreProtected(t *testing.T) {
	s, _, _ := newSecretService(t)
	importSession(t, s, "shop", exported+`, "hosts": ["shop.example"]}`)
	calls := func(p routine.Principal) map[string]error {
		_, _, save := s.SaveSession(t.Context(), p, routine.ViaREST, "shop", []byte(`{"mode": "shared"}`), service.PutCondition{Versions: []int{1}})
		_, imported := s.ImportSession(t.Context(), p, routine.ViaREST, "shop", []byte("a"), nil, service.PutCondition{})
		_, _, list := s.Sessions(t.Context(), p, 1, 0)
		_, read := s.Session(t.Context(), p, "shop")
		_, _, uses := s.SessionUses(t.Context(), p, "shop", 1, 0)
		clear := s.ClearSession(t.Context(), p, routine.ViaREST, "shop", service.PutCondition{Versions: []int{1}})
		return map[string]error{"save": save, "import": imported, "clear": clear,
			"delete": s.DeleteSession(t.Context(), p, routine.ViaREST, "shop"), "may save": s.MaySaveSession(p), "list": list, "read": read, "uses": uses}
	}
	runner := keeper
	runner.Scopes = routine.ScopeExecutionsRun
	for name, p := range map[string]routine.Principal{"without scopes": runner, "without a token": {}} {
		for call, err := range calls(p) {
			if code := routine.CodeOf(err); code != routine.CodeForbidden && code != routine.CodeUnauthenticated {
				t.Errorf("%s: %s %s", name, call, fmt.Sprint(err))
			}
		}
	}
	project, organization := keeper, keeper
	project.ProjectID, organization.OrganizationID = "q", "other"
	for _, foreign := range []routine.Principal{project, organization} {
		errs := calls(foreign)
		for _, call := range []string{"delete", "read", "uses"} {
			if routine.CodeOf(errs[call]) != routine.CodeNotFound {
				t.Errorf("%s: %v", call, errs[call])
			}
		}
		if routine.CodeOf(errs["save"]) != routine.CodePreconditionFailed || routine.CodeOf(errs["clear"]) != routine.CodePreconditionFailed {
			t.Error(errs)
		}
	}
	writer := keeper
	writer.Scopes = routine.ScopeSecretsWrite
	info, _, err := s.SaveSession(t.Context(), writer, routine.ViaREST, "shop", []byte(`{}`), service.PutCondition{})
	if err != nil || !info.Withheld {
		t.Errorf("%+v, %v", info, err)
	}
}

// What needs the key says so, and nothing is widened that cannot be read.
func TestSessionsWithoutTheKey(t *testing.T) {
	store := &failingStore{Store: routinetest.NewStore()}
	s := service.New(service.Config{Store: store, Browser: &routinetest.Browser{}, Concurrency: 1})
	t.Cleanup(func() { s.Close(t.Context()) })
	importSession(t, s, "shop", exported+`, "hosts": ["shop.example"]}`)
	for _, err := range []error{routine.ErrSealed, routine.ErrStateKey} {
		store.err = err
		if _, err := s.Session(t.Context(), keeper, "shop"); routine.CodeOf(err) != routine.CodeSecretUnavailable || !strings.Contains(err.Error(), "--state-key") {
			t.Error(err)
		}
		if code, message := refusedSave(t, s, `{"readable": true}`, service.PutCondition{}); code != routine.CodeValueRequired {
			t.Error(message)
		}
		if code, message := refusedImport(t, s, exported+"}"); code != routine.CodeSecretUnavailable {
			t.Error(message)
		}
	}
}

// Two people who change a session at once do not undo what the other has done.
func TestSessionChangesAtOnce(t *testing.T) {
	s, _, _ := newSecretService(t)
	saveSession(t, s, "shop", `{"hosts": ["shop.example"]}`)
	done := make(chan error, 2)
	for _, text := range []string{`{"mode": "exclusive"}`, `{"max_age": "12h"}`} {
		go func() {
			_, _, err := s.SaveSession(t.Context(), keeper, routine.ViaREST, "shop", []byte(text), service.PutCondition{})
			done <- err
		}()
	}
	for range cap(done) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	info, err := s.Session(t.Context(), keeper, "shop")
	if err != nil || info.Mode != routine.SessionExclusive || info.MaxAge == nil || *info.MaxAge != "12h" || info.Version != 3 {
		t.Errorf("%+v, %v", info, err)
	}
}
