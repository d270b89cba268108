package httpapi_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

func TestMediaTypes(t *testing.T) {
	e := newEnv(t)
	for path, method := range map[string]string{"/routines/": "POST", "/routines/validate_routine_json": "POST", "/routines/$private/execute": "POST",
		"/routines/$private": "PATCH", "/routines/$private/restore": "POST"} {
		for _, headers := range []map[string]string{
			{"Content-Type": ""}, {"Content-Type": "text/plain"}, {"Content-Type": "application/x-www-form-urlencoded"}, {"Content-Type": "application/jsonx"},
			{"Content-Type": "application/json; charset=latin1"}, {"Content-Type": "application/json; ="}, {"Content-Encoding": "gzip"},
		} {
			t.Run(fmt.Sprint(method, path, headers), func(t *testing.T) {
				scenario{"", method, path, "$admin", headers, readPage, 415, []string{`"code":"unsupported_media_type"`}, nil}.run(t, e)
			})
		}
	}
	scenario{"", "POST", "/routines/", "$admin", map[string]string{"Content-Encoding": "identity"}, readPage, 201, nil, nil}.run(t, e)
}

func TestBodyTooLarge(t *testing.T) {
	e := newEnv(t, func(c *envConfig) { c.http.MaxBody = int64(len(readPage)) })
	runAll(t, e, []scenario{
		{"at the limit", "POST", "/routines/", "$admin", nil, readPage, 201, nil, nil},
		{"one byte over it", "POST", "/routines/", "$admin", nil, readPage + " ", 413, []string{`"code":"too_large"`}, nil},
		{"execute", "POST", "/routines/$private/execute", "$admin", nil, call(strings.Repeat("x", len(readPage))), 413, nil, nil},
	})
	runAll(t, newEnv(t, func(c *envConfig) { c.http.MaxBody = 5 << 20 }), []scenario{
		{"a definition over its own limit is not judged", "POST", "/routines/validate_routine_json", "", nil, strings.Repeat(" ", 4<<20+1), 413, []string{`"code":"too_large"`}, []string{`"valid"`}},
	})
	runAll(t, newEnv(t), []scenario{{"4 MiB unless said otherwise", "POST", "/routines/", "$admin", nil, strings.Repeat(" ", 4<<20+1), 413, nil, nil},
		{"5 MiB", "POST", "/routines/$private/execute", "$admin", nil, call(strings.Repeat("x", 5<<20)), 413, []string{`"code":"too_large"`}, nil}})
}

// TestRefusedBodyIsNotReadToItsEnd sends part of a body and then waits: an answer comes
// only from a server that does not wait for the rest, which it would have to
// before it takes the next request.
func TestRefusedBodyIsNotReadToItsEnd(t *testing.T) {
	e := newEnv(t, func(c *envConfig) { c.http.MaxBody = 100 })
	for name, rest := range map[string]string{
		"of a length told in advance": "Content-Length: 1000000000\r\n\r\n",
		"of a length not told":        "Transfer-Encoding: chunked\r\n\r\n80\r\n" + strings.Repeat("x", 0x80) + "\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // the server waits for the rest for a while
			c, err := net.Dial("tcp", e.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(c, "POST /routines/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nX-Service-Token: %s\r\n%s", adminToken, rest)
			r := bufio.NewReader(c)
			got, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(got.Body)
			if got.StatusCode != 413 || err != nil {
				t.Errorf("%s, %v: %s", got.Status, err, body)
			}
			if _, err := r.ReadByte(); err != io.EOF {
				t.Errorf("the connection is not closed: %v", err)
			}
		})
	}
}

// A client that looks at the answer only when it has sent all of its body gets it.
func TestErrorReachesClientThatSendsWholeBody(t *testing.T) {
	e := newEnv(t)
	c, err := net.Dial("tcp", e.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	body := strings.Repeat("x", 7<<20)
	fmt.Fprintf(c, "POST /routines/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nX-Service-Token: %s\r\nContent-Length: %d\r\n\r\n", adminToken, len(body))
	if _, err := io.WriteString(c, body); err != nil {
		t.Fatal(err)
	}
	got, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(got.Body)
	if got.StatusCode != 413 || err != nil || !strings.Contains(string(text), `"code":"too_large"`) {
		t.Errorf("%s, %v: %s", got.Status, err, text)
	}
}

func TestMethods(t *testing.T) {
	e := newEnv(t)
	for path, allow := range map[string]string{
		"/routines/": "GET, HEAD, POST, OPTIONS", "/routines": "GET, HEAD, POST, OPTIONS", "/routines/validate_routine_json": "POST, OPTIONS",
		"/routines/$public": "DELETE, GET, HEAD, PATCH, OPTIONS", "/routines/$public/versions": "GET, HEAD, OPTIONS", "/routines/$public/versions/1": "GET, HEAD, OPTIONS",
		"/routines/$public/restore": "POST, OPTIONS", "/routines/$public/execute": "POST, OPTIONS",
		"/healthz": "GET, HEAD, OPTIONS", "/readyz/": "GET, HEAD, OPTIONS", "/schemas/routine.json": "GET, HEAD, OPTIONS",
	} {
		t.Run("OPTIONS"+path, func(t *testing.T) {
			got := e.must(t, "OPTIONS", path, nil, "")
			patch := ""
			if strings.Contains(allow, "PATCH") {
				patch = "application/merge-patch+json, application/json, application/json-patch+json"
			}
			if got.status != 204 || got.header.Get("Allow") != allow || got.header.Get("Accept-Patch") != patch || got.body != "" || got.header.Get("Content-Type") != "" {
				t.Errorf("%d %v %s", got.status, got.header, got.body)
			}
		})
		for _, method := range []string{"GET", "POST", "PUT", "TRACE", "BREW"} {
			if strings.Contains(allow, method) {
				continue
			}
			t.Run(method+path, func(t *testing.T) {
				scenario{"", method, path, "", nil, "", 405, []string{`"code":"method_not_allowed"`, allow}, nil}.run(t, e)
				if got := e.must(t, method, path, nil, "").header.Get("Allow"); got != allow {
					t.Errorf("Allow: %s, want %s", got, allow)
				}
			})
		}
	}
	scenario{"", "BREW", "/nothing", "", nil, "", 404, nil, nil}.run(t, e)
}

func TestHeadIsGetWithoutBody(t *testing.T) {
	e := newEnv(t)
	for _, path := range []string{"/routines/", "/routines/$private", "/routines/none", "/healthz", "/readyz", "/schemas/routine.json"} {
		got, head := e.must(t, "GET", path, asAdmin, ""), e.must(t, "HEAD", path, asAdmin, "")
		if head.status != got.status || head.header.Get("Content-Type") != got.header.Get("Content-Type") || head.body != "" ||
			head.header.Get("Content-Length") != fmt.Sprint(len(got.body)) {
			t.Errorf("%s: %d %v %q, GET gives %d and %d bytes", path, head.status, head.header, head.body, got.status, len(got.body))
		}
	}
}

func TestForeignHosts(t *testing.T) {
	allowed := []string{"Rote.example", "with-port.example:8443", "https://origin.example/", "fd00::7", "[fd00::8]:80"}
	tests := []struct {
		host, origin string
		ok           bool
	}{
		{"localhost", "", true}, {"LOCALHOST:1234", "", true}, {"app.localhost", "", true}, {"localhost.", "", true},
		{"127.0.0.1:80", "", true}, {"127.8.9.1", "", true}, {"[::1]:80", "", true}, {"[::1]", "", true}, {"[::ffff:127.0.0.1]", "", true},
		{"rote.example", "", true}, {"ROTE.example:99", "", true}, {"with-port.example:8443", "", true}, {"origin.example", "", true},
		{"[fd00::7]:1", "", true}, {"[fd00::8]:80", "", true},
		{"with-port.example", "", false}, {"with-port.example:1", "", false}, {"[fd00::8]:81", "", false},
		{"evil.example", "", false}, {"rote.example.evil.example", "", false}, {"localhost.evil.example", "", false}, {"xlocalhost", "", false},
		{"0.0.0.0", "", false}, {"192.168.0.1:80", "", false}, {"127.0.0.1.evil.example", "", false}, {"[::2]", "", false},

		{"localhost", "http://localhost", true}, {"localhost:8080", "http://localhost:8080", true}, {"LocalHost.:8080", "http://localhost:8080", true},
		{"127.0.0.1:8080", "http://127.0.0.1:8080", true}, {"[::1]:8080", "http://[::1]:8080", true}, {"localhost", "https://localhost", true},
		{"rote.example", "https://rote.example", true}, {"localhost:80", "http://localhost", true}, {"localhost:443", "https://localhost", true},
		{"localhost", "https://rote.example", true}, {"localhost", "http://rote.example:3000", true}, {"localhost", "http://with-port.example:8443", true},
		{"localhost", "https://origin.example", true}, {"localhost", "HTTPS://Origin.example", true}, {"localhost", "http://[fd00::7]:5", true},

		{"localhost:8080", "http://localhost:3000", false}, {"localhost:8080", "http://localhost", false}, {"localhost", "http://localhost:8080", false},
		{"localhost:8080", "http://127.0.0.1:8080", false}, {"127.0.0.1:8080", "http://localhost:8080", false}, {"127.0.0.1:8080", "http://[::1]:8080", false},
		{"localhost:8080", "http://app.localhost:8080", false}, {"localhost", "http://[::1]:5", false}, {"localhost:80", "https://localhost", false},
		{"localhost", "http://origin.example", false}, {"localhost", "https://origin.example:8443", false}, {"localhost", "https://with-port.example", false},
		{"localhost", "file://", false}, {"localhost", "chrome-extension://localhost", false}, {"localhost:8080", "http://localhost:8080.evil.example", false},
		{"localhost", "https://evil.example", false}, {"localhost", "null", false}, {"localhost", "", true},
		{"localhost", "http://localhost@evil.example", false}, {"localhost", "localhost", false}, {"evil.example", "http://localhost", false},
	}
	e := newEnv(t, func(c *envConfig) { c.http.AllowedHosts = allowed })
	every := newEnv(t, func(c *envConfig) { c.http.AllowedHosts = []string{"*"} })
	for _, tt := range tests {
		t.Run(tt.host+" "+tt.origin, func(t *testing.T) {
			headers := map[string]string{"Host": tt.host}
			if tt.origin != "" {
				headers["Origin"] = tt.origin
			}
			s := scenario{"", "GET", "/healthz", "", headers, "", 200, nil, nil}
			s.run(t, every)
			if !tt.ok {
				s.status, s.want = 403, []string{`"code":"forbidden"`, "--allowed-host"}
			}
			s.run(t, e)
		})
	}
}

// Browsers say of requests without an Origin whether a page of another origin
// made them.
func TestRequestsOfForeignPages(t *testing.T) {
	e := newEnv(t, func(c *envConfig) { c.http.Local = &admin })
	type fetch struct{ site, mode, dest string }
	for f, ok := range map[fetch]bool{
		{"", "", ""}: true, {"none", "navigate", "document"}: true, {"same-origin", "cors", "empty"}: true, {"same-origin", "no-cors", "script"}: true,
		{"cross-site", "navigate", "document"}: true, {"same-site", "navigate", "document"}: true,
		{"cross-site", "no-cors", "image"}: false, {"same-site", "no-cors", "script"}: false, {"same-site", "cors", "empty"}: false,
		{"cross-site", "navigate", "iframe"}: false, {"same-site", "navigate", "iframe"}: false, {"cross-site", "", ""}: false,
	} {
		headers := map[string]string{"Sec-Fetch-Site": f.site, "Sec-Fetch-Mode": f.mode, "Sec-Fetch-Dest": f.dest}
		want := map[bool]int{true: 200, false: 403}[ok]
		if got := e.must(t, "GET", "/executions/", headers, ""); got.status != want {
			t.Errorf("%+v: %d, want %d", f, got.status, want)
		}
	}
	// A form of another page can be posted by opening it, without an Origin in old browsers.
	headers := map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
	if got := e.must(t, "POST", "/routines/", headers, readPage); got.status != 403 {
		t.Errorf("a posted form: %d", got.status)
	}
}

// Browsers send no Origin with images, scripts and frames. The page that loads
// them is known by its Referer, which it can leave out but not choose.
func TestRequestsOfListedPages(t *testing.T) {
	e := newEnv(t, func(c *envConfig) {
		c.http.Local, c.http.CORSOrigins, c.http.AllowedHosts = &admin, []string{"https://app.example"}, []string{"tools.example:8443"}
	})
	type fetch struct{ method, mode, dest, referer string }
	for f, ok := range map[fetch]bool{
		{"GET", "no-cors", "image", "https://app.example/"}: true, {"GET", "no-cors", "script", "https://app.example/a?b"}: true,
		{"GET", "navigate", "iframe", "https://APP.example/"}: true, {"HEAD", "no-cors", "empty", "https://app.example/"}: true,
		{"GET", "no-cors", "image", "http://tools.example:8443/"}: true, {"GET", "no-cors", "image", "https://app.example"}: true,
		{"GET", "no-cors", "image", ""}: false, {"GET", "no-cors", "image", "https://evil.example/"}: false,
		{"GET", "no-cors", "image", "http://app.example/"}: false, {"GET", "no-cors", "image", "https://app.example:444/"}: false,
		{"GET", "no-cors", "image", "http://tools.example/"}: false, {"GET", "no-cors", "image", "https://app.example.evil.example/"}: false,
		{"GET", "no-cors", "image", "https://app.example@evil.example/"}: false, {"GET", "no-cors", "image", "/x"}: false,
		{"GET", "navigate", "iframe", "https://evil.example/https://app.example/"}: false,
		// A request that changes something needs an Origin.
		{"POST", "no-cors", "empty", "https://app.example/"}: false, {"POST", "navigate", "document", "https://app.example/"}: false,
		{"DELETE", "cors", "empty", "https://app.example/"}: false,
	} {
		for _, site := range []string{"cross-site", "same-site"} {
			headers := map[string]string{"Sec-Fetch-Site": site, "Sec-Fetch-Mode": f.mode, "Sec-Fetch-Dest": f.dest, "Referer": f.referer}
			got := e.must(t, f.method, "/routines/$public", headers, "")
			if (got.status == 403) == ok || ok && got.status != 200 {
				t.Errorf("%s %+v: %d", site, f, got.status)
			}
			if !ok && !strings.Contains(got.body, "--cors-origin") {
				t.Errorf("%s %+v: %s", site, f, got.body)
			}
		}
	}
}

// Some rules apply to every call, regardless of its path and method.
func TestEveryCall(t *testing.T) {
	e := newEnv(t, func(c *envConfig) { c.http.MaxBody = 1000 })
	host, large := map[string]string{"Host": "evil.example"}, `{"`+strings.Repeat("x", 1000)+`":1}`
	published().each(403, func(method, path string) {
		scenario{"foreign host, " + method + path, method, concrete(path), "$admin", host, "{}", 403, []string{`"code":"forbidden"`}, nil}.run(t, e)
	})
	published().each(401, func(method, path string) {
		scenario{"no token of ours, " + method + path, method, concrete(path), "none", nil, "{}", 401, []string{`"code":"unauthenticated"`}, nil}.run(t, e)
	})
	published().each(413, func(method, path string) {
		scenario{"large body, " + method + path, method, concrete(path), "$admin", nil, large, 413, []string{`"code":"too_large"`}, nil}.run(t, e)
	})
}

func TestRequestIDs(t *testing.T) {
	e := newEnv(t)
	for _, sane := range []string{"a", "A-b_c.9", strings.Repeat("x", 64)} {
		if got := e.must(t, "GET", "/nothing", map[string]string{"X-Request-Id": sane}, ""); got.header.Get("X-Request-Id") != sane || !strings.Contains(got.body, `"request_id":"`+sane+`"`) {
			t.Errorf("%q came back as %q in %s", sane, got.header.Get("X-Request-Id"), got.body)
		}
	}
	seen := map[string]bool{}
	for _, other := range []string{"", "a b", `"`, "é", strings.Repeat("x", 65)} {
		got := e.must(t, "GET", "/nothing", map[string]string{"X-Request-Id": other}, "")
		id, err := uuid.Parse(got.header.Get("X-Request-Id"))
		if err != nil || id.Version() != 7 || seen[id.String()] || !strings.Contains(got.body, id.String()) {
			t.Errorf("%q gave %q in %s", other, id, got.body)
		}
		seen[id.String()] = true
	}
}

func TestDocs(t *testing.T) {
	e := newEnv(t, func(c *envConfig) { c.http.BasePath = "/rote" })
	page := e.must(t, "GET", "/rote/docs/api", nil, "")
	if policy := page.header.Get("Content-Security-Policy"); page.status != 200 || !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "http") {
		t.Errorf("%d %v", page.status, page.header)
	}
	for _, path := range regexp.MustCompile(`(?:src|href|data-document)="([^"]*)"`).FindAllStringSubmatch(page.body, -1) {
		if got := e.must(t, "GET", path[1], nil, ""); got.status != 200 || len(got.body) < 100 {
			t.Errorf("%s: %d, %d bytes", path[1], got.status, len(got.body))
		}
	}
	for _, other := range []string{"index.html", "swagger-ui.js.map", "a/b"} {
		if got := e.must(t, "GET", "/rote/docs/api/"+other, nil, ""); got.status != 404 {
			t.Errorf("%s: %d", other, got.status)
		}
	}
}

// Each link of the documentation leads to something that is served.
func TestDocumentationIsServed(t *testing.T) {
	e := newEnv(t, func(c *envConfig) { c.http.BasePath = "/rote" })
	pages := map[string]string{"/rote/docs": ""}
	for left := []string{"/rote/docs"}; len(left) > 0; left = left[1:] {
		got := e.must(t, "GET", left[0], nil, "")
		isReference := strings.HasPrefix(left[0], "/rote/docs/api") // Swagger UI
		if policy := got.header.Get("Content-Security-Policy"); got.status != 200 || !isReference && strings.Contains(policy, "unsafe") {
			t.Errorf("%s: %d %v", left[0], got.status, got.header)
		}
		pages[left[0]] = got.body
		for _, m := range regexp.MustCompile(`(?:href|src)="([^"#]+)[^"]*"`).FindAllStringSubmatch(got.body, -1) {
			to, err := url.Parse(m[1])
			if err != nil || !strings.HasPrefix(got.header.Get("Content-Type"), "text/html") || to.IsAbs() || isReference {
				continue
			}
			at, _ := url.Parse(left[0])
			if next := at.ResolveReference(to).Path; !slices.Contains(left, next) {
				if _, seen := pages[next]; !seen {
					left = append(left, next)
				}
			}
		}
	}
	if len(pages) < 25 || !strings.HasPrefix(pages["/rote/docs/pictures/run.png"], "\x89PNG") {
		t.Errorf("%d pages and files", len(pages))
	}
	found := e.must(t, "GET", "/rote/docs?q=idempotency+key", nil, "")
	if found.status != 200 || !strings.Contains(found.body, `href="docs/executions#repeat-a-call-safely"`) {
		t.Errorf("search: %d %s", found.status, found.body)
	}
	if got := e.must(t, "GET", "/rote/docs/nothing", nil, ""); got.status != 404 {
		t.Errorf("a page that is not there: %d", got.status)
	}
}

func TestHeadersOfEveryAnswer(t *testing.T) {
	e := newEnv(t)
	for _, path := range []string{"/healthz", "/routines/", "/nothing", "/schemas/routine.json", "/openapi.yaml", "/docs"} {
		h := e.must(t, "GET", path, nil, "").header
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Cache-Control") != "no-store" || h.Get("X-Request-Id") == "" {
			t.Errorf("%s: %v", path, h)
		}
	}
}

func TestLogLines(t *testing.T) {
	e := newEnv(t)
	id := map[string]string{"X-Request-Id": "the-id", "X-Service-Token": "$admin"}
	e.must(t, "POST", "/routines/$private/execute", id, call("very-secret-page"))
	e.must(t, "GET", "/routines/?limit=1&q=very-secret-query", id, "")
	e.must(t, "GET", "/very-secret-path", map[string]string{"Authorization": "Bearer very-secret-token"}, "")
	e.must(t, "GET", "/routines/$private", map[string]string{"Host": "very-secret.example"}, "")
	want := []struct {
		method, route string
		status        int
		code, id      string
	}{
		{"POST", "/routines/{routine_id}/execute", 201, "", "the-id"},
		{"GET", "/routines", 200, "", "the-id"},
		{"GET", "", 404, "not_found", ""},
		{"GET", "", 403, "forbidden", ""},
	}
	lines := e.lines()
	if len(lines) != len(want) {
		t.Fatalf("%d lines for %d requests: %s", len(lines), len(want), lines)
	}
	for i, line := range lines {
		var got struct {
			Method, Route, Code string
			Status              int
			Duration            float64 `json:"duration_seconds"`
			RequestID           string  `json:"request_id"`
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatal(err)
		}
		w := want[i]
		if got.Method != w.method || got.Route != w.route || got.Status != w.status || got.Code != w.code || got.Duration <= 0 || got.RequestID == "" || w.id != "" && got.RequestID != w.id {
			t.Errorf("line %d is %s", i, line)
		}
	}
	if strings.Contains(e.log.String(), "very-secret") || strings.Contains(e.log.String(), adminToken) {
		t.Errorf("the log tells too much:\n%s", e.log)
	}
}
