package requests

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rote/routine"
	"rote/routine/definition"
)

const (
	csrf  = "Zk3f9-Qw81mm2"
	jwtOf = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVP-mB92K27uhbUJU1p1r"
)

var sentAt = time.UnixMilli(1_750_000_000_000)

// traced traces a request and checks that its operations make a valid routine.
func traced(t *testing.T, log routine.RequestLog, number int, from Origins) *Traced {
	t.Helper()
	got, err := Trace(log, number, from)
	if err != nil {
		t.Fatal(err)
	}
	checkRoutine(t, got, from)
	return got
}

// failer is a test, also one of rapid.
type failer interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// checkRoutine parses the operations as a routine with the parameters that they name.
func checkRoutine(t failer, got *Traced, from Origins) {
	t.Helper()
	parameters := append([]routine.Parameter{}, got.Parameters...)
	for _, typed := range from.Typed {
		if typed.Name != "" {
			parameters = append(parameters, routine.Parameter{Name: typed.Name, Type: routine.TypeString, Required: true})
		}
	}
	operations := append(append([]json.RawMessage{}, got.Before...), got.Operation, got.Return)
	text, err := json.Marshal(map[string]any{"name": "traced", "description": "traced", "parameters": parameters, "operations": operations})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := definition.Parse(text); err != nil {
		t.Fatalf("the operations are no routine: %v %+v\n%s", err, routine.AsError(err).Problems, text)
	}
}

// operationTexts are the operations of a traced request, one in each line, then its notes.
func operationTexts(got *Traced) string {
	var b strings.Builder
	for _, o := range got.Before {
		b.WriteString(string(o) + "\n")
	}
	b.WriteString(string(got.Operation) + "\n")
	for _, note := range append(got.Notes, got.Warnings...) {
		b.WriteString(note + "\n")
	}
	return short.Replace(b.String())
}

// short shortens what all operations have.
var short = strings.NewReplacer(`{"type":"fetch","endpoint":{"url":"https://shop.example`, `fetch {"url":"`, `{"type":"fetch","endpoint":{`, `fetch {`,
	`"headers":{"Content-Type":"application/json"`, `"headers":{JSON`, `,"session_storage_key":`, `,"key":`)

func TestTrace(t *testing.T) {
	session := get(3, "/api/session", `{"user":{"id":7},"csrf":"`+csrf+`"}`)
	search := with(post(7, "/api/search", `{"q":"lamp","page":1}`, `{"items":[],"total":0}`), "X-CSRF-Token", csrf, "User-Agent", "x",
		"sec-ch-ua", "x", "Origin", "https://shop.example", "Referer", page, "Content-Length", "21")
	query := []Typed{{Name: "query", Value: "lamp", Operation: 2}}
	meta := []routine.PageValues{{URL: page, Metas: map[string]string{"csrf-token": csrf}}}
	for _, c := range []struct {
		name   string
		log    []routine.Request
		number int
		from   Origins
		want   string
	}{
		{"a token of an earlier answer, and what was typed", []routine.Request{session, search}, 7, Origins{Typed: query},
			`fetch {"url":"/api/session","method":"GET"},"key":"session"}
fetch {"url":"/api/search","method":"POST","headers":{JSON,"X-CSRF-Token":"{{sessionStorage:session.csrf}}"},"body":{"page":1,"q":"{{query}}"}},"key":"search"}
X-CSRF-Token: answer of request 3, path csrf
"{{query}}": typed in operation 2
`},
		{"a literal that was typed", []routine.Request{get(1, "/api/search?q=desk+lamp", `{}`)}, 1,
			Origins{Typed: []Typed{{Value: "desk lamp", Operation: 2}}},
			`fetch {"url":"/api/search?q=desk+lamp","method":"GET"},"key":"search"}
q: "desk lamp", which was typed in operation 2: write {{q}} instead to make it a parameter
`},
		{"a parameter in the query and in the path", []routine.Request{get(1, "/api/desk%20lamp/items?q=desk+lamp&n=5", `{}`)}, 1,
			Origins{Typed: []Typed{{Name: "query", Value: "desk lamp", Operation: 2}, {Name: "n", Value: json.Number("5")}}},
			`fetch {"url":"/api/{{query}}/items?q={{query}}&n={{n}}","method":"GET"},"key":"items"}
"{{query}}": typed in operation 2
"{{n}}": the value of the parameter
`},
		{"a word of the path that is also searched for", []routine.Request{get(1, "/api/lamp?q=lamp", `{}`)}, 1, Origins{Typed: query},
			`fetch {"url":"/api/lamp?q={{query}}","method":"GET"},"key":"lamp"}
"{{query}}": typed in operation 2
`},
		{"a short secret is not named", []routine.Request{get(1, "/api/a?digit=7&pin=7", `{}`)}, 1,
			Origins{Typed: []Typed{{Name: "pin", Value: "7", Operation: 2}}, Secrets: []string{"7"}},
			`fetch {"url":"/api/a?digit={{digit}}&pin={{pin}}","method":"GET"},"key":"a"}
"{{digit}}": not found: likely computed by a script; a click path is steadier. It may be secret, so it is a parameter
"{{pin}}": typed in operation 2
`},
		{"a short value needs a similar name", []routine.Request{post(1, "/api/a", `{"n":5,"page":5,"text":"5"}`, `{}`)}, 1,
			Origins{Typed: []Typed{{Name: "n", Value: json.Number("5"), Operation: 1}}},
			`fetch {"url":"/api/a","method":"POST","headers":{JSON},"body":{"n":"{{n}}","page":5,"text":"5"}},"key":"a"}
"{{n}}": typed in operation 1
page: stays "5", which is also the value of {{n}}: write that if it is meant
text: stays "5", which is also the value of {{n}}: write that if it is meant
`},
		{"a number in a text stays a text", []routine.Request{post(1, "/api/a", `{"amount":"500"}`, `{}`)}, 1,
			Origins{Typed: []Typed{{Name: "amount", Value: json.Number("500"), Operation: 1}}},
			`fetch {"url":"/api/a","method":"POST","headers":{JSON},"body":{"amount":"\"{{amount}}\""}},"key":"a"}
"{{amount}}": typed in operation 1
`},
		{"meta", []routine.Request{search}, 7, Origins{Typed: query, Pages: meta},
			`{"type":"navigate","url":"https://shop.example/lamps"}
fetch {"url":"/api/search","method":"POST","headers":{JSON,"X-CSRF-Token":"{{meta:csrf-token}}"},"body":{"page":1,"q":"{{query}}"}},"key":"search"}
X-CSRF-Token: meta csrf-token
"{{query}}": typed in operation 2
`},
		{"an earlier answer comes before the page", []routine.Request{session, search}, 7, Origins{Pages: meta},
			`fetch {"url":"/api/session","method":"GET"},"key":"session"}
fetch {"url":"/api/search","method":"POST","headers":{JSON,"X-CSRF-Token":"{{sessionStorage:session.csrf}}"},"body":{"page":1,"q":"lamp"}},"key":"search"}
X-CSRF-Token: answer of request 3, path csrf
`},
		{"a bearer token in the page's storage", []routine.Request{with(get(1, "/api/me", `{}`), "Authorization", "Bearer "+jwtOf)}, 1,
			Origins{Pages: []routine.PageValues{{URL: page, LocalStorage: map[string]string{"auth": `{"access":{"token":"` + jwtOf + `"}}`}}}},
			`{"type":"navigate","url":"https://shop.example/lamps"}
fetch {"url":"/api/me","method":"GET","headers":{"Authorization":"Bearer {{localStorage:auth.access.token}}"}},"key":"me"}
Authorization: localStorage auth.access.token
`},
		{"the page comes before the answer to a log-in",
			[]routine.Request{post(1, "/login", `{"name":"ada"}`, `{"token":"`+csrf+`"}`), with(get(2, "/api/me", `{}`), "X-Token", csrf)}, 2,
			Origins{Pages: []routine.PageValues{{URL: page, LocalStorage: map[string]string{"token": csrf}}}},
			`{"type":"navigate","url":"https://shop.example/lamps"}
fetch {"url":"/api/me","method":"GET","headers":{"X-Token":"{{localStorage:token}}"}},"key":"me"}
X-Token: localStorage token
`},
		{"a bearer token that nothing has", []routine.Request{with(get(1, "/api/me", `{}`), "Authorization", "Bearer "+jwtOf)}, 1, Origins{},
			`fetch {"url":"/api/me","method":"GET","headers":{"Authorization":"Bearer {{authorization}}"}},"key":"me"}
"{{authorization}}": not found: likely computed by a script; a click path is steadier. It may be secret, so it is a parameter
`},
		{"a cookie, percent-decoded", []routine.Request{with(get(1, "/api/me", `{}`), "X-XSRF-TOKEN", "ab12==cd34")}, 1,
			Origins{Pages: []routine.PageValues{{URL: page, Cookies: []routine.Cookie{{Name: "XSRF-TOKEN", Value: "ab12%3D%3Dcd34"}}}}},
			`{"type":"navigate","url":"https://shop.example/lamps"}
fetch {"url":"/api/me","method":"GET","headers":{"X-XSRF-TOKEN":"{{cookie:XSRF-TOKEN}}"}},"key":"me"}
X-XSRF-TOKEN: cookie XSRF-TOKEN
`},
		{"a cookie up to a bar", []routine.Request{with(get(1, "/api/me", `{}`), "X-Csrf", "ab12cd34")}, 1,
			Origins{Pages: []routine.PageValues{{URL: page, Cookies: []routine.Cookie{{Name: "x.c", Value: "ab12cd34%7Chash"}}}}},
			`{"type":"navigate","url":"https://shop.example/lamps"}
{"type":"js_evaluate","js":"(() => { const n = \"x.c=\"; return decodeURIComponent(document.cookie.split('; ')` +
				`.find(c => c.startsWith(n)).slice(n.length)).split('|')[0]; })()","key":"csrf"}
fetch {"url":"/api/me","method":"GET","headers":{"X-Csrf":"{{sessionStorage:csrf}}"}},"key":"me"}
X-Csrf: cookie "x.c", up to |
`},
		{"window and session storage", []routine.Request{get(1, "/data/b8Xk2q9Z/x.json?sid=q1w2e3r4", `{}`)}, 1,
			Origins{Pages: []routine.PageValues{{URL: page, Window: map[string]string{"__NEXT_DATA__.buildId": "b8Xk2q9Z"},
				SessionStorage: map[string]string{"x": `"q1w2e3r4"`}}}},
			`{"type":"navigate","url":"https://shop.example/lamps"}
fetch {"url":"/data/{{windowProperty:__NEXT_DATA__.buildId}}/x.json?sid={{sessionStorage:x}}","method":"GET"},"key":"x_2"}
path: window.__NEXT_DATA__.buildId
sid: sessionStorage x
`},
		{"the clock and a request id",
			[]routine.Request{with(get(1, "/api/a?_=1750000000500&old=1650000000500", `{}`), "X-Request-Id", "0191d3a0-1111-4000-8000-000000000001")}, 1, Origins{},
			`fetch {"url":"/api/a?_={{epoch_milliseconds}}&old=1650000000500","method":"GET","headers":{"X-Request-Id":"{{uuid}}"}},"key":"a"}
_: the time in milliseconds
old: not found: likely computed by a script; a click path is steadier
X-Request-Id: a new uuid each time
`},
		{"the same in two requests",
			[]routine.Request{with(get(1, "/api/a", `{}`), "X-Client-Version", "web-2026.11.3"),
				with(get(2, "/api/b", `{}`), "X-Client-Version", "web-2026.11.3")}, 2, Origins{},
			`fetch {"url":"/api/b","method":"GET","headers":{"X-Client-Version":"web-2026.11.3"}},"key":"b"}
X-Client-Version: the same in other requests, so it stays as it is
`},
		{"ordinary words are not traced",
			[]routine.Request{get(1, "/api/config", `{"sorts":["relevance","newest"]}`), get(2, "/api/b?sort=relevance&from=2026-01-02", `{}`)}, 2, Origins{},
			`fetch {"url":"/api/b?sort=relevance&from=2026-01-02","method":"GET"},"key":"b"}
`},
		{"a number of an earlier answer is sent as a number",
			[]routine.Request{get(1, "/api/me", `{"customer":{"id":8812345}}`), post(2, "/api/orders", `{"customer":8812345,"n":1}`, `{}`)}, 2, Origins{},
			`fetch {"url":"/api/me","method":"GET"},"key":"me"}
fetch {"url":"/api/orders","method":"POST","headers":{JSON},"body":"{\"customer\":{{sessionStorage:me.customer.id}},\"n\":1}"},"key":"orders"}
customer: answer of request 1, path customer.id
`},
		{"the link to the next page",
			[]routine.Request{get(1, "/api/news", `{"next":"/api/news?cursor=c9k2m4"}`), get(2, "/api/news?cursor=c9k2m4", `{}`)}, 2, Origins{},
			`fetch {"url":"/api/news","method":"GET"},"key":"news"}
fetch {"url":"{{sessionStorage:news.next}}","method":"GET"},"key":"news_2"}
url: answer of request 1, path next
`},
		{"base64 of what was typed", []routine.Request{get(1, "/api/a?filter=eyJxIjoibGFtcCJ9", `{}`)}, 1, Origins{Typed: query},
			`fetch {"url":"/api/a?filter=eyJxIjoibGFtcCJ9","method":"GET"},"key":"a"}
filter: base64 of a text with {{query}}, which no placeholder can make: a js_evaluate with btoa can
`},
		{"quotes around a placeholder stay", []routine.Request{post(1, "/api/a", `{"filter":"{\"q\":\"lamp\"}"}`, `{}`)}, 1, Origins{Typed: query},
			`fetch {"url":"/api/a","method":"POST","headers":{JSON},"body":{"filter":"{\"q\":\"\"{{query}}\"\"}"}},"key":"a"}
"{{query}}": typed in operation 2
`},
		{"braces are no placeholder", []routine.Request{post(1, "/api/a?t=%7B%7Bx%7D%7D&u={{y}}", `{"t":"{{cookie:sid}}"}`, `{}`)}, 1, Origins{},
			`fetch {"url":"/api/a?t={{t}}&u={{u}}","method":"POST","headers":{JSON},"body":{"t":"{{t_2}}"}},"key":"a"}
"{{t}}": has braces, which cannot be written in an operation, so it is a parameter
"{{u}}": has braces, which cannot be written in an operation, so it is a parameter
"{{t_2}}": has braces, which cannot be written in an operation, so it is a parameter
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i := range c.log {
				c.log[i].SentAt = sentAt
			}
			if diff := cmp.Diff(c.want, operationTexts(traced(t, log(c.log...), c.number, c.from))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A form's fields are traced to hidden fields by a script, whatever the form's encoding.
func TestTraceForm(t *testing.T) {
	from := Origins{Typed: []Typed{{Name: "note", Value: "two lamps", Operation: 2}},
		Pages: []routine.PageValues{{URL: page, HiddenFields: map[string]string{`input[name="_csrf"]`: csrf}}}}
	form := post(4, "/orders", "_csrf="+csrf+"&note=two+lamps&tag=a&tag=b", `{}`)
	form.Headers["Content-Type"] = "application/x-www-form-urlencoded"
	want := `{"type":"navigate","url":"https://shop.example/lamps"}
{"type":"js_evaluate","js":"(() => document.querySelector(\"input[name=\\\"_csrf\\\"]\").value)()","key":"csrf"}
fetch {"url":"/orders","method":"POST","headers":{"Content-Type":"application/x-www-form-urlencoded"},` +
		`"body":{"_csrf":"{{sessionStorage:csrf}}","note":"{{note}}","tag":["a","b"]}},"key":"orders"}
"_csrf": hidden field "input[name=\"_csrf\"]"
"{{note}}": typed in operation 2
`
	got := traced(t, log(form), 4, from)
	if diff := cmp.Diff(strings.Replace(want, `"_csrf": hidden`, `_csrf: hidden`, 1), operationTexts(got)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"POST /orders"}, got.Acting); diff != "" {
		t.Error(diff)
	}

	parts := post(4, "/orders", "--b\r\nContent-Disposition: form-data; name=\"_csrf\"\r\n\r\n"+csrf+
		"\r\n--b\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\ntwo lamps\r\n--b--\r\n", `{}`)
	parts.Headers["Content-Type"] = "multipart/form-data; boundary=b"
	got = traced(t, log(parts), 4, from)
	if text := string(got.Operation); !strings.Contains(text, `name=\"_csrf\"\r\n\r\n{{sessionStorage:csrf}}\r\n`) || !strings.Contains(text, "{{note}}") {
		t.Error(text)
	}
}

// A cursor is followed back through the answers before it, but not for ever.
func TestTraceCursors(t *testing.T) {
	pages := []routine.Request{get(1, "/api/news", `{"items":[],"next":"cur1a9x"}`)}
	for i := 2; i <= 8; i++ {
		pages = append(pages, get(i, "/api/news?after=cur"+string(rune('0'+i-1))+"a9x", `{"items":[],"next":"cur`+string(rune('0'+i))+`a9x"}`))
	}
	got := traced(t, log(pages...), 3, Origins{})
	want := `fetch {"url":"/api/news","method":"GET"},"key":"news"}
fetch {"url":"/api/news?after={{sessionStorage:news.next}}","method":"GET"},"key":"news_2"}
fetch {"url":"/api/news?after={{sessionStorage:news_2.next}}","method":"GET"},"key":"news_3"}
after: answer of request 1, path next
after: answer of request 2, path next
`
	if diff := cmp.Diff(want, operationTexts(got)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if deep := traced(t, log(pages...), 8, Origins{}); len(deep.Numbers) != maxTraceDepth+1 {
		t.Errorf("%d fetches", len(deep.Numbers))
	}
}

func TestTraceRefuses(t *testing.T) {
	long, files, stream, odd := post(1, "/a", "x", ""), post(1, "/a", "", ""), get(1, "/a", ""), get(1, "/a", "")
	long.BodyTruncated = true
	files.Headers["Content-Type"] = "multipart/form-data; boundary=b"
	files.Body = "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.txt\"\r\n\r\nx\r\n--b--\r\n"
	stream.ContentType, odd.Method = "text/event-stream", "PROPFIND"
	big := post(1, "/a", `{"text":"`+strings.Repeat("a word ", 6000)+`"}`, "")
	unknown := post(1, "/a", `{"a":{}}`, "")
	for i := range 21 {
		unknown.Headers["X-Token-"+string(rune('a'+i))] = csrf + string(rune('a'+i))
	}
	for want, r := range map[string]routine.Request{"would have 42.2 KB": big, "21 values that nothing": unknown,
		"too large": long, "files": files, "event stream": stream, "method": odd} {
		_, err := Trace(log(r), 1, Origins{})
		if routine.CodeOf(err) != routine.CodeInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := Trace(log(), 5, Origins{}); routine.CodeOf(err) != routine.CodeNotFound {
		t.Error(err)
	}
}

// GraphQL: the variables are traced, a persisted hash stays, with a warning.
func TestTraceGraphQL(t *testing.T) {
	r := post(2, "/graphql", `{"operationName":"Search","variables":{"term":"lamp"},"extensions":{"persistedQuery":{"version":1,"sha256Hash":"`+
		strings.Repeat("0a1b2c3d", 8)+`"}}}`, `{"data":{}}`)
	got := traced(t, log(r), 2, Origins{Typed: []Typed{{Name: "term", Value: "lamp", Operation: 2}}})
	text := string(got.Operation)
	if !strings.Contains(text, strings.Repeat("0a1b2c3d", 8)) || !strings.Contains(text, `"term":"{{term}}"`) || !strings.Contains(text, `"search"`) {
		t.Error(text)
	}
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "sha256Hash") {
		t.Errorf("warnings %q", got.Warnings)
	}
}
