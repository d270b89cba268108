package practice

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// visitor is a browser without a screen: it keeps cookies and shows redirects
// instead of following them.
type visitor struct {
	t      *testing.T
	base   string
	client *http.Client
}

func newVisitor(t *testing.T) *visitor {
	t.Helper()
	server := httptest.NewServer(NewSite())
	t.Cleanup(server.Close)
	return visit(t, server.URL)
}

func visit(t *testing.T, base string) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &visitor{t: t, base: base, client: &http.Client{
		Jar:           jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

type answer struct {
	status int
	header http.Header
	body   string
}

func (v *visitor) do(req *http.Request) answer {
	v.t.Helper()
	resp, err := v.client.Do(req)
	if err != nil {
		v.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(body)}
}

func (v *visitor) request(method, path, body string) *http.Request {
	v.t.Helper()
	req, err := http.NewRequestWithContext(v.t.Context(), method, v.base+path, strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	return req
}

func (v *visitor) get(path string) answer {
	v.t.Helper()
	return v.do(v.request(http.MethodGet, path, ""))
}

func (v *visitor) post(path string, form url.Values) answer {
	v.t.Helper()
	req := v.request(http.MethodPost, path, form.Encode())
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return v.do(req)
}

func TestPages(t *testing.T) {
	v := newVisitor(t)
	for _, tc := range []struct {
		name, path  string
		status      int
		contentType string
		want        []string
	}{
		{"search page", "/", 200, "text/html; charset=utf-8", []string{`id="q"`, `id="search"`, `id="results"`, `<link rel="icon" href="data:,">`}},
		{"search page with a query", "/?q=lamp&page=1", 200, "text/html; charset=utf-8", []string{`id="q"`}},
		{"search script", "/assets/search.js", 200, "text/javascript; charset=utf-8", []string{"history.pushState", "/api/search?q="}},
		{"style sheet", "/assets/shop.css", 200, "text/css; charset=utf-8", []string{"#results"}},
		{
			"product in stock", "/product/LAMP-01", 200, "text/html; charset=utf-8",
			[]string{`<h1 id="name">Brass Desk Lamp</h1>`, `<td id="price">29.50 EUR</td>`, `<td id="stock">In stock: 7</td>`},
		},
		{"product out of stock", "/product/LAMP-02", 200, "text/html; charset=utf-8", []string{`<td id="stock">Out of stock</td>`}},
		{"product name is escaped", "/product/MILL-01", 200, "text/html; charset=utf-8", []string{`<h1 id="name">Salt &amp; Pepper Mill</h1>`}},
		{"unknown product", "/product/LAMP-99", 404, "text/html; charset=utf-8", []string{"Page not found"}},
		{"unknown page", "/nowhere", 404, "text/html; charset=utf-8", []string{"Page not found"}},
		{"list of assets", "/assets/", 404, "text/html; charset=utf-8", []string{"Page not found"}},
		{"way out of the assets", "/assets/..%2Ftemplates%2Flogin.html", 404, "text/plain; charset=utf-8", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := v.get(tc.path)
			if got.status != tc.status || got.header.Get("Content-Type") != tc.contentType {
				t.Errorf("got %d %s, want %d %s", got.status, got.header.Get("Content-Type"), tc.status, tc.contentType)
			}
			for _, want := range tc.want {
				if !strings.Contains(got.body, want) {
					t.Errorf("no %s in\n%s", want, got.body)
				}
			}
		})
	}
}

func TestSearchAPI(t *testing.T) {
	v := newVisitor(t)
	for _, tc := range []struct {
		name, query string
		want        []string
	}{
		{"part of a name", "lamp", []string{"LAMP-01", "LAMP-02", "LAMP-03", "LAMP-04"}},
		{"case does not matter", "DESK lamp", []string{"LAMP-01"}},
		{"nor beyond ASCII", "CAFÉ", []string{"TRAY-01"}},
		{"reserved characters are text", "Salt & P", []string{"MILL-01"}},
		{"the article code is no name", "LAMP-01", []string{}},
		{"nothing found", "helicopter", []string{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := v.get("/api/search?q=" + url.QueryEscape(tc.query))
			var decoded struct {
				Query    string
				Products []struct{ SKU string }
			}
			if err := json.Unmarshal([]byte(got.body), &decoded); err != nil {
				t.Fatalf("%v in %s", err, got.body)
			}
			found := []string{}
			for _, p := range decoded.Products {
				found = append(found, p.SKU)
			}
			if decoded.Query != tc.query || decoded.Products == nil || !slices.Equal(found, tc.want) {
				t.Errorf("got %s, want %v", got.body, tc.want)
			}
		})
	}
}

func TestSearchAPIAnswerText(t *testing.T) {
	got := newVisitor(t).get("/api/search?q=notebook")
	const want = `{"query":"notebook","products":[{"sku":"NOTE-01","name":"Linen Notebook","price":13.00,"currency":"EUR","stock":60}]}` + "\n"
	if got.status != 200 || got.header.Get("Content-Type") != "application/json" || got.body != want {
		t.Errorf("got %d %s %s, want %s", got.status, got.header.Get("Content-Type"), got.body, want)
	}
}

func TestEmptyQueryFindsEverything(t *testing.T) {
	if got := len(findProducts("")); got != 12 {
		t.Errorf("found %d products, want 12", got)
	}
}
