package service_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/definition"
	"rote/routine/routinetest"
)

// A value that is put in often is bounded by what that would write, before
// anything is written.
func TestFilledOperationsAreBounded(t *testing.T) {
	value := `{"p": "` + strings.Repeat("x", 1<<20) + `"}`
	fetch := func(tokens int) string {
		return `{"type": "fetch", "endpoint": {"url": "/a", "method": "POST", "body": "` + strings.Repeat("{{p}} ", tokens) + `"}}`
	}
	for name, row := range map[string]struct {
		operations string
		fits       bool
	}{
		"as much as there may be": {fetch(32), true},
		"in one text":             {fetch(33), false},
		"in many texts":           {fetch(20) + "," + fetch(13), false},
		"in many values":          {`{"type": "fetch", "endpoint": {"url": "/a", "method": "POST", "body": [` + strings.Repeat(`"{{p}}",`, 33) + `1]}}`, false},
	} {
		_, err := definition.Bind(parse(t, definitionOf(row.operations, `{"name": "p"}`)), []byte(value))
		if (err == nil) != row.fits {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			continue
		}
		problems := routine.AsError(err).Problems
		if len(problems) != 1 || problems[0].Pointer != "/p" || !strings.Contains(problems[0].Message, "more than 33554432 bytes") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// So is what the page holds.
func TestFilledSessionValuesAreBounded(t *testing.T) {
	page := routinetest.Page{SessionStorage: map[string]string{"k": strings.Repeat("x", 20<<20)}}
	_, err := runOnce(t, page, `{"type": "input_text", "selector": "a", "text": "{{sessionStorage:k}}{{sessionStorage:k}}"}`, "", `{}`)
	if err == nil || !strings.Contains(err.Error(), "{{sessionStorage:k}} does not fit here: with it values take more than 33554432 bytes") {
		t.Error(err)
	}
}

// A header of nothing but a parameter without value is left out.
func TestHeaderWithoutValueIsDropped(t *testing.T) {
	var did []string
	_, err := runOnce(t, routinetest.Page{Actions: &did},
		`{"type":"fetch","endpoint":{"url":"/a","headers":{"X-Opt":"{{q}}","X-Quoted":"\"{{q}}\"","X-Part":"a{{q}}","X-Given":"{{n}}"}}}`,
		`{"name":"q","required":false},{"name":"n","type":"integer"}`, `{"n":1}`)
	if want := "fetch GET /a map[X-Given:1 X-Part:a X-Quoted:] no body"; err != nil || strings.Join(did, "|") != want {
		t.Errorf("%q, want %q: %v", did, want, err)
	}
}

// The name of a download can be used as a file name.
func TestFilenameHasNoPathAndNoControlCharacters(t *testing.T) {
	page := routinetest.Page{Response: routine.Response{URL: "https://a.test/x", Status: 200}}
	for written, want := range map[string]string{`a/b.pdf`: "b.pdf", `..\\..\\x.sh`: "x.sh", `a\nb\u0085`: "ab", `a/\n{{p}}`: "q.pdf", `a\n{{p}}`: "aq.pdf"} {
		e, err := runOnce(t, page, `{"type":"download","endpoint":{"url":"https://a.test/x"},"filename":"`+written+`"}`, `{"name":"p","required":false,"default":"q.pdf"}`, `{}`)
		if err != nil || e.Result.Filename != want {
			t.Errorf("%s: %q, want %q: %v", written, e.Result.Filename, want, err)
		}
	}
}

// A secret is also hidden in its escaped form.
func TestSecretsAreHiddenAsTheyAreWritten(t *testing.T) {
	for _, row := range []struct{ operation, secret, written string }{
		{`{"type":"wait_for_url","url_regex":"code={{s}}","timeout_ms":1}`, `s3cr3t.value+1`, `s3cr3t\.value\+1`},
		{`{"type":"click","selector":"#{{s}}"}`, `1234567890`, `\31 234567890`},
		{`{"type":"click","selector":"[value=\"{{s}}\"]"}`, `pass"w0rd9`, `pass\"w0rd9`},
		{`{"type":"click","selector":"[value='a{{s}}']"}`, `pass"w0rd9`, `pass\"w0rd9`},
		{`{"type":"js_evaluate","js":"(() => '{{s}}')()"}`, `a/b$c`, `a\/b\$c`},
		{`{"type":"js_evaluate","js":"(() => {{s}})()"}`, `a/b$c`, `a\/b\$c`},
		{`{"type":"navigate","url":"https://a.test/?q={{s}}"}`, `a'b[c]`, `a%27b%5Bc%5D`},
	} {
		var did []string
		page := routinetest.Page{Actions: &did}
		page.Click = func(context.Context, routine.Click) (routine.Match, error) {
			return routine.Match{}, routine.Errorf(routine.CodeElementNotFound, "%q: %s is not there", did[0], did[0])
		}
		page.Evaluate = func(context.Context, routine.Script) (routine.Evaluation, error) {
			return routine.Evaluation{Console: []string{did[0]}}, routine.Errorf(routine.CodeScriptError, "%q: %s", did[0], did[0])
		}
		e, err := runOnce(t, page, row.operation, `{"name":"s","x-secret":true}`, `{"s":`+strconv.Quote(row.secret)+`}`)
		told, _ := json.Marshal(e)
		in := fmt.Sprint(err) + string(told)
		if len(did) > 0 && !strings.Contains(did[0], row.written) {
			t.Errorf("%s: the page was given %s", row.operation, did[0])
		}
		for _, spelling := range []string{row.secret, row.written, strings.ReplaceAll(row.written, `\`, `\\`), row.secret[1:], row.written[1:]} {
			if strings.Contains(in, spelling) {
				t.Errorf("%s: %s is shown: %s", row.operation, spelling, in)
			}
		}
		if !strings.Contains(in, "***") {
			t.Errorf("%s: nothing is hidden in %s", row.operation, in)
		}
	}
}

// The value of an HttpOnly cookie is a secret wherever a placeholder puts it.
func TestHTTPOnlyCookiesAreHidden(t *testing.T) {
	const sid = "Zeta+ion Omega"
	page := routinetest.Page{Status: 404,
		SentCookies: []routine.Cookie{{Name: "sid", Value: "Zeta%2Bion Omega", HTTPOnly: true}, {Name: "lang", Value: "english"}},
		Response:    routine.Response{URL: "https://a.test/x?s=Zeta%2Bion%20Omega", Status: 500, Headers: map[string]string{"X-Echo": sid}}}
	page.Click = func(context.Context, routine.Click) (routine.Match, error) {
		return routine.Match{}, routine.Errorf(routine.CodeElementNotFound, "no element matches %q", sid)
	}
	e, err := runOnce(t, page, `{"type":"navigate","url":"https://a.test/{{cookie:sid}}/{{cookie:lang}}"},
		{"type":"fetch","endpoint":{"url":"/x?s={{cookie:sid}}","method":"POST","headers":{"X-Session":"{{cookie:sid}}"},"body":{"a":"{{cookie:sid}}"}},"session_storage_key":"k-{{cookie:sid}}"},
		{"type":"click","selector":"[name='{{cookie:sid}}']"}`, "", `{}`)
	told, _ := json.Marshal(e)
	for _, spelling := range []string{"Zeta", "Omega"} {
		if in := fmt.Sprint(err) + string(told); strings.Contains(in, spelling) {
			t.Errorf("%s is shown: %s", spelling, in)
		}
	}
	for _, shown := range []string{`"url":"https://a.test/***/english"`, `"X-Session":"***"`, `"key":"k-***"`, `"cookie:sid":"***"`, `"cookie:lang":"english"`} {
		if !strings.Contains(string(told), shown) {
			t.Errorf("%s is not in %s", shown, told)
		}
	}
}

// The values of HttpOnly cookies that get_cookies has read are secrets of the run,
// also where a session value brings them. The routine's own data has them.
func TestHTTPOnlyCookiesOfGetCookiesAreHidden(t *testing.T) {
	page := routinetest.Page{Status: 404,
		Cookies:  []routine.Cookie{{Name: "sid", Value: "Zeta%2Bion Omega", HTTPOnly: true}, {Name: "empty", HTTPOnly: true}, {Name: "lang", Value: "english"}},
		Response: routine.Response{URL: "https://a.test/x?s=zeta%2bion+omega", Status: 500, Headers: map[string]string{"X-Echo": "Zeta+ion Omega"}}}
	page.Click = func(context.Context, routine.Click) (routine.Match, error) {
		return routine.Match{}, routine.Errorf(routine.CodeElementNotFound, "no element matches %q", "[x='Zeta%2Bion Omega']")
	}
	const operations = `{"type":"get_cookies","session_storage_key":"all"},
		{"type":"navigate","url":"https://a.test/?c={{sessionStorage:all}}&v={{sessionStorage:all.0.value}}&l={{sessionStorage:all.2.value}}"},
		{"type":"fetch","endpoint":{"url":"/x","method":"POST","body":{"a":"{{sessionStorage:all}}","b":"{{sessionStorage:all.0.value}}"}}},
		{"type":"return","session_storage_key":"all"}`
	e, err := runOnce(t, page, operations+`,{"type":"click","selector":"[x='{{sessionStorage:all.0.value}}']"}`, "", `{}`)
	if err == nil || !strings.Contains(string(e.Result.Data), `"Zeta%2Bion Omega"`) {
		t.Errorf("the data is %s, the error %v", e.Result.Data, err)
	}
	e.Result.Data = nil
	told, _ := json.Marshal(e)
	for _, spelling := range []string{"zeta", "omega"} {
		if in := strings.ToLower(fmt.Sprint(err) + string(told)); strings.Contains(in, spelling) {
			t.Errorf("%s is shown: %s", spelling, in)
		}
	}
	for _, shown := range []string{`"sessionStorage:all.0.value":"***"`, `"sessionStorage:all.2.value":"english"`, `\"name\":\"sid\",\"value\":\"***\"`} {
		if !strings.Contains(string(told), shown) {
			t.Errorf("%s is not in %s", shown, told)
		}
	}
}

// A request that has values of secret parameters says so, and which, as the page judges where
// its redirects lead.
func TestRequestsSayWhichSecretsTheyHave(t *testing.T) {
	for endpoint, want := range map[string]string{
		`{"url":"https://a.test/?k={{k}}"}`:                                          "key-1",
		`{"url":"https://a.test/","headers":{"X-K":"{{k}}","X-N":"n={{n}}"}}`:        "key-1 42",
		`{"url":"https://{{o}}:{{k}}@a.test/"}`:                                      "key-1",
		`{"url":"https://a.test/","method":"POST","body":{"k":"{{k}}","o":"{{o}}"}}`: "key-1",
		`{"url":"https://a.test/","method":"POST","body":["{{k}}","{{n}}"]}`:         "key-1 42",
		`{"url":"https://a.test/","method":"POST","body":"{{n}}"}`:                   "42",
		`{"url":"https://a.test/?o={{o}}"}`:                                          "",
	} {
		for _, operation := range []string{`{"type":"fetch","endpoint":` + endpoint + `}`, `{"type":"download","filename":"{{k}}","endpoint":` + endpoint + `}`} {
			var got []string
			page := routinetest.Page{Fetch: func(_ context.Context, f routine.Fetch, _ int64) (routine.Response, error) {
				if f.Release != nil {
					for _, text := range f.Release.Texts {
						got = append(got, string(text))
					}
					if f.Release.Rules != nil || f.Release.Secret != "" || len(got) == 0 {
						t.Errorf("%s: %+v", operation, f.Release)
					}
				}
				return routine.Response{URL: f.URL, Status: 200}, nil
			}}
			_, err := runOnce(t, page, operation+`,{"type":"sleep","timeout_seconds":0}`,
				`{"name":"k","x-secret":true},{"name":"n","type":"integer","x-secret":true},{"name":"o"}`, `{"k":"key-1","n":42,"o":"open"}`)
			if err != nil || strings.Join(got, " ") != want {
				t.Errorf("%s: %q, want %q: %v", operation, got, want, err)
			}
		}
	}
}
