package service_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
)

var (
	keeper = routine.Principal{UserID: "kim", OrganizationID: "acme", ProjectID: "p", Scopes: routine.DefaultScopes | routine.ScopeSecretsWrite}
	owner  = routine.Principal{UserID: "olga", OrganizationID: "acme", ProjectID: "p", Scopes: routine.DefaultScopes | routine.ScopeAdmin}
)

const loginSecret = `{"hosts": ["shop.example"], "fields": {"username": "ann", "password": "hunter2-very-secret"}}`

func saveSecret(t *testing.T, s *service.Service, p routine.Principal, name, text string) *service.SecretInfo {
	t.Helper()
	info, _, err := s.SaveSecret(t.Context(), p, routine.ViaREST, name, []byte(text), service.PutCondition{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return info
}

func newSecretService(t *testing.T) (*service.Service, *routinetest.Store, *routinetest.Browser) {
	t.Helper()
	store, b := routinetest.NewStore(), &routinetest.Browser{}
	s := service.New(service.Config{Store: store, Browser: b, Concurrency: 2})
	t.Cleanup(func() { s.Close(t.Context()) })
	return s, store, b
}

func TestSecretIsSavedAndChanged(t *testing.T) {
	s, store, _ := newSecretService(t)
	info := saveSecret(t, s, keeper, "shop", loginSecret)
	if info.Version != 1 || info.Kind != routine.SecretOfLogin || !info.Project ||
		info.Field != routine.FieldPassword || info.CreatedBy != "kim" || info.Withheld {
		t.Errorf("%+v", info)
	}
	text := routine.JSONText(info)
	if strings.Contains(text, "hunter2") || !strings.Contains(text, `"fields":[{"name":"password","totp":false,"source":"stored"},{"name":"username"`) {
		t.Error(text)
	}
	// What is left out stays, null deletes.
	info = saveSecret(t, s, keeper, "shop", `{"fields": {"username": null, "pin": "1234"}, "totp": "jbsw y3dp ehpk 3pxp", "description": "The shop"}`)
	if got := routine.JSONText(info.Fields); info.Version != 2 || info.Description != "The shop" ||
		got != `[{"name":"password","totp":false,"source":"stored"},{"name":"pin","totp":false,"source":"stored"},{"name":"totp","totp":true,"source":"stored"}]` {
		t.Errorf("%+v", info)
	}
	if value, err := routinetest.SecretValue(t.Context(), store, "acme", "p", "shop", "password"); err != nil || value != "hunter2-very-secret" {
		t.Errorf("the value that was left out is %d bytes, %v", len(value), err)
	}
	if value, err := routinetest.SecretValue(t.Context(), store, "acme", "p", "shop", "totp"); err != nil ||
		!strings.HasPrefix(string(value), "otpauth://totp/key?secret=JBSWY3DPEHPK3PXP&") {
		t.Errorf("the key is %d bytes, %v", len(value), err)
	}
	for _, condition := range []service.PutCondition{{New: true}, {Versions: []int{1}}, {Versions: []int{}}} {
		_, _, err := s.SaveSecret(t.Context(), keeper, routine.ViaREST, "shop", []byte(`{}`), condition)
		if routine.CodeOf(err) != routine.CodePreconditionFailed {
			t.Errorf("%+v: %v", condition, err)
		}
	}
	_, _, err := s.SaveSecret(t.Context(), keeper, routine.ViaREST, "shop", []byte(`{"description": null}`), service.PutCondition{Versions: []int{2}})
	if err != nil {
		t.Error(err)
	}
	if err := s.DeleteSecret(t.Context(), keeper, routine.ViaREST, "shop", true); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Secret(t.Context(), keeper, "shop", nil); routine.CodeOf(err) != routine.CodeNotFound {
		t.Error(err)
	}
	uses, total, err := s.SecretUses(t.Context(), keeper, "shop", new(true), 10, 0)
	if err != nil || total != 4 || uses[0].What != "deleted" || uses[3].What != "saved" || uses[3].UserID != "kim" || uses[3].Outcome != "ok" {
		t.Errorf("%d %+v %v", total, uses, err)
	}
}

// Nobody widens a secret whose values they do not know.
func TestWideningNeedsTheValues(t *testing.T) {
	s, _, _ := newSecretService(t)
	saveSecret(t, s, keeper, "shop", `{"hosts": ["shop.example"], "confine": true, "fields": {"username": "ann", "password": "hunter2-very-secret"}}`)
	widenings := []string{`"hosts": ["evil.example"]`, `"hosts": ["shop.example", "evil.example"]`, `"field_rule": "any"`, `"requests": true`,
		`"routines": ["Routine_x"]`, `"confine": false`}
	for _, widening := range widenings {
		for _, values := range []string{``, `, "fields": {"password": "x"}`, `, "fields": {"password": "x", "pin": "1"}`} {
			_, _, err := s.SaveSecret(t.Context(), keeper, routine.ViaREST, "shop", []byte(`{`+widening+values+`}`), service.PutCondition{})
			if routine.CodeOf(err) != routine.CodeValueRequired || !strings.Contains(err.Error(), "username") {
				t.Errorf("%s%s: %v", widening, values, err)
			}
		}
	}
	uses, _, err := s.SecretUses(t.Context(), keeper, "shop", nil, 1, 0)
	if err != nil || uses[0].Outcome != "value_required" {
		t.Errorf("%+v %v", uses, err)
	}
	for _, allowed := range []string{`{"hosts": ["SHOP.example"], "description": "x"}`,
		`{"hosts": ["evil.example"], "fields": {"username": "eve", "password": "mine"}}`,
		`{"requests": true, "fields": {"username": null, "password": "p"}}`} {
		saveSecret(t, s, keeper, "shop", allowed)
	}
}

func TestWrongSecrets(t *testing.T) {
	s, _, _ := newSecretService(t)
	for text, want := range map[string]string{
		``:                             "must be a JSON object",
		`[]`:                           "must be a JSON object",
		`{"value": "a", "value": "b"}`: "must be a JSON object",
		`{}`:                           "the secret has no field",
		`{"value": "hunter2"}`:         "hosts is missing",
		`{"hosts": ["shop.example"]}`:  "the secret has no field",
		`{"hosts": "shop.example", "value": "x"}`:                                    "hosts must be a list",
		`{"hosts": ["*"], "value": "x"}`:                                             "/hosts/0",
		`{"hosts": ["*.co.uk"], "value": "x"}`:                                       "many owners",
		`{"hosts": ["github.io"], "value": "x"}`:                                     "many owners",
		`{"hosts": ["10.0.0.0/8"], "value": "x"}`:                                    "range",
		`{"hosts": ["a.example"], "value": ""}`:                                      "is empty",
		`{"hosts": ["a.example"], "value": 7}`:                                       "must be a text",
		`{"hosts": ["a.example"], "value": "hunter2\u0000"}`:                         "U+0000",
		`{"hosts": ["a.example"], "fields": {"totp": "hunter2"}}`:                    "setting totp",
		`{"hosts": ["a.example"], "fields": {"a b": "hunter2"}}`:                     "name of a field",
		`{"hosts": ["a.example"], "totp": "hunter2!"}`:                               "no key of one-time codes",
		`{"hosts": ["a.example"], "value": "x", "fields": {"value": "y"}}`:           "given twice",
		`{"hosts": ["a.example"], "value": "x", "references": {"value": "env:X"}}`:   "given twice",
		`{"hosts": ["a.example"], "references": {"password": "http://x"}}`:           "must begin with env:",
		`{"hosts": ["a.example"], "references": {"password": "vault:../other#x"}}`:   `path element ".."`,
		`{"hosts": ["a.example"], "references": {"password": "vault:/abs"}}`:         "absolute",
		`{"hosts": ["a.example"], "references": {"password": "vault:a%2fb"}}`:        "must not contain",
		`{"hosts": ["a.example"], "references": {"password": "vault:a b#c"}}`:        "must not contain",
		`{"hosts": ["a.example"], "references": {"password": "vault:shop"}}`:         "must be vault:PATH#FIELD",
		`{"hosts": ["a.example"], "references": {"password": "vault:shop#"}}`:        "must be vault:PATH#FIELD",
		`{"hosts": ["a.example"], "references": {"password": "vault:a//b#c"}}`:       "must be vault:PATH#FIELD",
		`{"hosts": ["a.example"], "references": {"password": "vault:#c"}}`:           "must be vault:PATH#FIELD",
		`{"hosts": ["a.example"], "references": {"password": "op:acme/shop/pin"}}`:   "must be op://VAULT/ITEM/FIELD",
		`{"hosts": ["a.example"], "references": {"password": "op://acme/shop"}}`:     "must be op://VAULT/ITEM/FIELD",
		`{"hosts": ["a.example"], "references": {"password": "op://acme//pin"}}`:     "must be op://VAULT/ITEM/FIELD",
		`{"hosts": ["a.example"], "references": {"password": "op://a/b/c/d/e"}}`:     "must be op://VAULT/ITEM/FIELD",
		`{"hosts": ["a.example"], "references": {"password": "op://a/b/c?x=y"}}`:     "must be op://VAULT/ITEM/FIELD",
		`{"hosts": ["a.example"], "value": "x", "field_rule": "all"}`:                "field_rule must be one of password, any, none",
		`{"hosts": ["a.example"], "value": "x", "requests": "yes"}`:                  "requests must be true or false",
		`{"hosts": ["a.example"], "value": "x", "routines": ["shop"]}`:               "ids of routines",
		`{"hosts": ["a.example"], "value": "x", "host": ["b.example"]}`:              "hosts",
		`{"hosts": ["a.example"], "value": "` + strings.Repeat("h", 64<<10+1) + `"}`: "more than 65536 bytes",
	} {
		_, _, err := s.SaveSecret(t.Context(), owner, routine.ViaREST, "shop", []byte(text), service.PutCondition{})
		e := routine.AsError(err)
		all := e.Message + fmt.Sprint(e.Problems)
		if e.Code != routine.CodeInvalid || !strings.Contains(all, want) || strings.Contains(all, "hunter2") || strings.Contains(all, "hhhh") {
			t.Errorf("%.80s: %v", text, err)
		}
	}
	for _, name := range []string{"", "1a", "a b", "a.b", strings.Repeat("a", 65)} {
		_, _, err := s.SaveSecret(t.Context(), owner, routine.ViaREST, name, []byte(loginSecret), service.PutCondition{})
		if routine.CodeOf(err) != routine.CodeInvalid {
			t.Errorf("name %q: %v", name, err)
		}
	}
}

func TestWhoMayReadAndChangeSecrets(t *testing.T) {
	s, _, _ := newSecretService(t)
	only := func(scopes routine.Scopes) routine.Principal {
		p := keeper
		p.Scopes = scopes
		return p
	}
	save := func(p routine.Principal, text string) error {
		_, _, err := s.SaveSecret(t.Context(), p, routine.ViaREST, "a", []byte(text), service.PutCondition{})
		return err
	}
	own, shared := `{"hosts": ["a.example"], "value": "x"}`, `{"hosts": ["a.example"], "value": "x", "project": false}`
	projectless := keeper
	projectless.ProjectID = ""
	for name, row := range map[string]struct {
		err  error
		want routine.Code
	}{
		"nobody":                             {save(nobody, own), routine.CodeUnauthenticated},
		"default scopes":                     {save(ann, own), routine.CodeForbidden},
		"secrets:read":                       {save(only(routine.ScopeSecretsRead), own), routine.CodeForbidden},
		"secrets:write, of the organization": {save(only(routine.ScopeSecretsWrite), shared), routine.CodeForbidden},
		"secrets:write without a project":    {save(projectless, own), routine.CodeForbidden},
		"secrets:write, reference":           {save(keeper, `{"hosts": ["a.example"], "references": {"value": "env:X"}}`), routine.CodeForbidden},
		"secrets:write":                      {save(only(routine.ScopeSecretsWrite), own), ""},
		"admin, of the organization":         {save(owner, shared), ""},
		"admin, reference":                   {save(owner, `{"hosts": ["a.example"], "references": {"value": "env:X"}}`), ""},
		"deleting that of the organization":  {s.DeleteSecret(t.Context(), keeper, routine.ViaREST, "a", false), routine.CodeForbidden},
		"deleting without a project":         {s.DeleteSecret(t.Context(), projectless, routine.ViaREST, "a", true), routine.CodeForbidden},
		"deleting with secrets:read":         {s.DeleteSecret(t.Context(), ann, routine.ViaREST, "a", true), routine.CodeForbidden},
	} {
		if got := routine.CodeOf(row.err); got != row.want {
			t.Errorf("%s: %v, want %s", name, row.err, row.want)
		}
	}
	if _, _, err := s.Secrets(t.Context(), only(routine.ScopeSecretsWrite), 10, 0); routine.CodeOf(err) != routine.CodeForbidden {
		t.Error(err)
	}
	info, _, err := s.SaveSecret(t.Context(), only(routine.ScopeSecretsWrite), routine.ViaREST, "a", []byte(own), service.PutCondition{})
	if err != nil || !info.Withheld {
		t.Errorf("%+v %v", info, err)
	}
	if list, total, err := s.Secrets(t.Context(), bob, 10, 0); err != nil || total != 0 || len(list) != 0 {
		t.Errorf("another organization sees %+v %v", list, err)
	}
	list, total, err := s.Secrets(t.Context(), ann, 1, 1)
	if err != nil || total != 2 || len(list) != 1 || list[0].Project {
		t.Errorf("%+v %d %v", list, total, err)
	}
}

const typesPassword = `{"type":"navigate","url":"https://shop.example/login"},{"type":"input_text","selector":"#p","text":"{{secret:shop.password}}"},` +
	`{"type":"input_text","selector":"#c","text":"{{totp:shop}}"},{"type":"return_html"}`

// A run that lacks a secret says so before a browser is taken, and how a person sets it.
func TestRunWithoutItsSecret(t *testing.T) {
	s, _, b := newSecretService(t)
	r, warnings, err := s.CreateRoutine(t.Context(), ann, []byte(definitionOf(typesPassword, "")), service.Idempotency{})
	if err != nil {
		t.Fatal(err)
	}
	const missing = "there is no secret shop for project p: ask a person to run: rote secret set shop --host shop.example --field password --totp"
	if len(warnings) != 2 || warnings[0].Code != "unknown_secret" || warnings[0].Pointer != "/operations/1" || warnings[0].Message != missing {
		t.Errorf("%+v", warnings)
	}
	run := func(want routine.Code, message string) {
		t.Helper()
		e, err := s.Execute(t.Context(), ann, r.ID, service.Call{})
		if routine.CodeOf(err) != want || routine.AsError(err).Message != message ||
			e.ErrorCode != want || e.Status != routine.ExecutionFailed || b.Opened() != 0 {
			t.Errorf("%+v %v, %d pages", e, err, b.Opened())
		}
	}
	run(routine.CodeSecretMissing, missing)
	saveSecret(t, s, keeper, "shop", loginSecret)
	run(routine.CodeSecretMissing, "secret shop has no key of one-time codes: ask a person to run: rote secret set shop --totp")
	saveSecret(t, s, keeper, "shop", `{"totp": "JBSWY3DPEHPK3PXP", "fields": {"username": "ann", "password": "hunter2"}, "routines": ["Routine_other"]}`)
	run(routine.CodeSecretDenied, "secret shop is for certain routines only, and the routine "+r.ID+" is none of them")
	uses, _, err := s.SecretUses(t.Context(), keeper, "shop", nil, 5, 0)
	if err != nil || uses[0].Outcome != "secret_denied" || uses[0].RoutineID != r.ID || uses[0].ExecutionID == "" || uses[0].UserID != "ann" {
		t.Errorf("%+v %v", uses, err)
	}
	_, warnings, err = s.Validate(t.Context(), ann, []byte(definitionOf(typesPassword, "")))
	if err != nil || len(warnings) != 0 {
		t.Errorf("%+v %v", warnings, err)
	}
	_, warnings, err = s.PatchRoutine(t.Context(), ann, r.ID,
		[]byte(`{"operations":[{"type":"input_text","selector":"#p","text":"{{secret:bank}}"},{"type":"return_html"}]}`), nil)
	if err != nil || len(warnings) != 2 || !strings.HasSuffix(warnings[1].Message, "rote secret set bank --host HOST") {
		t.Errorf("%+v %v", warnings, err)
	}
	_, warnings, err = s.PatchRoutine(t.Context(), ann, r.ID,
		[]byte(`{"parameters":[{"name":"p","description":"P","x-secret":true,"x-from-secret":"bank.pin"}],`+
			`"operations":[{"type":"input_text","selector":"#p","text":"{{p}}"},{"type":"return_html"}]}`), nil)
	if err != nil || len(warnings) != 2 || warnings[1].Pointer != "/parameters/0/x-from-secret" {
		t.Errorf("%+v %v", warnings, err)
	}
	if _, err := s.Execute(t.Context(), ann, r.ID, service.Call{Parameters: json.RawMessage(`{"p":"given"}`)}); err != nil {
		t.Errorf("a value that the caller gives needs no secret: %v", err)
	}
}
