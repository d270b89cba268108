package operation_test

import (
	"encoding/json"
	"testing"

	"rote/routine"
	"rote/routine/operation"
)

// The origin of requests is written as a browser writes it.
func TestNeedsSiteOrigin(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"https://user:pw@API.example:443/x": "https://api.example",
		"HTTP://127.0.0.1:8080?q={{q}}":     "http://127.0.0.1:8080",
		"http://[::1]:80/":                  "http://[::1]",
	} {
		o := decoded(t, `{"type":"fetch","endpoint":{"url":`+routine.JSONText(url)+`}}`)
		if need, origin := operation.NeedsSite([]routine.Operation{o}); need != operation.NoSite || origin != want {
			t.Errorf("%s: %q, %q, want %q", url, need, origin, want)
		}
	}
}

// Each reason for which a run needs a page of the site has a row, and so has each form that
// needs none.
func TestNeedsSite(t *testing.T) {
	t.Parallel()
	fetch := func(fields string) string {
		return `{"type":"fetch","session_storage_key":"a","endpoint":{` + fields + `}}`
	}
	const get = `{"type":"fetch","session_storage_key":"a","endpoint":{"url":"https://api.example/v1"}}`
	const returns = `{"type":"return","session_storage_key":"a"}`
	for _, row := range []struct {
		name, operations string
		want             operation.SiteNeed
	}{
		{"two requests", get + `,` + fetch(`"url":"https://api.example/v2","headers":{"x-id":"{{uuid}}"}`) + `,` + returns, operation.NoSite},
		{"every operation that only requests", `{"type":"sleep","timeout_seconds":1},{"type":"get_cookies","session_storage_key":"c"},` + get +
			`,{"type":"download","filename":"{{name}}.pdf","endpoint":{"url":"https://api.example/{{id}}.pdf","method":"HEAD"}},` + returns, operation.NoSite},
		{"cookies alone", `{"type":"get_cookies","session_storage_key":"a"},` + returns, operation.NoSite},
		{"parameters in path and query", fetch(`"url":"https://api.example/{{id}}?q={{q}}&t={{epoch_milliseconds}}"`), operation.NoSite},
		{"a query without a path", fetch(`"url":"https://api.example?q={{q}}"`), operation.NoSite},
		{"a value that the run stored", get + `,` + fetch(`"url":"https://api.example/{{sessionStorage:a.items.0.id}}"`), operation.NoSite},
		{"one origin, written in several ways", get + `,` + fetch(`"url":"HTTPS://user:pw@API.example:443/x"`) + `,` + fetch(`"url":"/x/{{id}}"`), operation.NoSite},
		{"a change without cookies", fetch(`"url":"https://api.example/","method":"POST","body":{"q":"{{q}}"},"credentials":"omit"`), operation.NoSite},

		{"navigate", `{"type":"navigate","url":"https://api.example/"},` + get, operation.SiteForOperation},
		{"a click", get + `,{"type":"click","selector":"a"}`, operation.SiteForOperation},
		{"a script", get + `,{"type":"js_evaluate","js":"(() => 1)()"}`, operation.SiteForOperation},
		{"the page's HTML", get + `,{"type":"return_html"}`, operation.SiteForOperation},
		{"a type of a later version", `{"type":"teleport"}`, operation.SiteForOperation},
		{"a cookie", fetch(`"url":"https://api.example/","headers":{"x-csrf":"{{cookie:csrf}}"}`), operation.SiteForPlaceholder},
		{"a meta tag", fetch(`"url":"https://api.example/?t={{meta:csrf}}"`), operation.SiteForPlaceholder},
		{"local storage", fetch(`"url":"https://api.example/?t={{localStorage:t||x}}"`), operation.SiteForPlaceholder},
		{"a property of window", get + `,{"type":"download","filename":"{{windowProperty:a.b}}","endpoint":{"url":"/a"}}`, operation.SiteForPlaceholder},
		{"a placeholder in a body",
			fetch(`"url":"https://api.example/","method":"POST","credentials":"omit","body":{"a":[{"{{meta:m}}":1}]}`), operation.SiteForPlaceholder},
		{"a value that the page may have stored", fetch(`"url":"https://api.example/{{sessionStorage:b}}"`) + `,` + returns, operation.SiteForPlaceholder},
		{"a value that is stored later", fetch(`"url":"https://api.example/{{sessionStorage:a.x}}"`), operation.SiteForPlaceholder},
		{"a result that nothing stores", get + `,{"type":"return","session_storage_key":"b"}`, operation.SiteForValue},
		{"a key of the caller", `{"type":"fetch","session_storage_key":"{{k}}","endpoint":{"url":"https://api.example/"}},` +
			`{"type":"return","session_storage_key":"{{k}}"}`,
			operation.SiteForValue},
		{"a relative URL first", fetch(`"url":"/v1"`), operation.SiteForOrigin},
		{"a URL relative to the page", get + `,` + fetch(`"url":"v2"`), operation.SiteForOrigin},
		{"a URL without a scheme", get + `,` + fetch(`"url":"//api.example/v2"`), operation.SiteForOrigin},
		{"a backslash", get + `,` + fetch(`"url":"/\\api.example/v2"`), operation.SiteForOrigin},
		{"another scheme", fetch(`"url":"ftp://api.example/v2"`), operation.SiteForOrigin},
		{"a URL of the caller", fetch(`"url":"{{url}}"`), operation.SiteForOrigin},
		{"a host of the caller", fetch(`"url":"https://{{host}}/v1"`), operation.SiteForOrigin},
		{"a part of the host of the caller", fetch(`"url":"https://api.example{{rest}}"`), operation.SiteForOrigin},
		{"a port of the caller", fetch(`"url":"https://api.example:{{port}}/"`), operation.SiteForOrigin},
		{"two hosts", get + `,` + fetch(`"url":"https://example/"`), operation.SiteForSecondOrigin},
		{"two schemes", get + `,` + fetch(`"url":"http://api.example/"`), operation.SiteForSecondOrigin},
		{"two ports", get + `,` + fetch(`"url":"https://api.example:8443/"`), operation.SiteForSecondOrigin},
		{"a change with cookies", get + `,` + fetch(`"url":"https://api.example/","method":"POST"`), operation.SiteForChange},
	} {
		t.Run(row.name, func(t *testing.T) {
			var operations []routine.Operation
			if err := json.Unmarshal([]byte(`[`+row.operations+`]`), &operations); err != nil {
				t.Fatal(err)
			}
			if got, origin := operation.NeedsSite(operations); got != row.want || got != operation.NoSite && origin != "" {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}
