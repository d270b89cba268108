package browser

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"rote/routine"
)

func TestReading(t *testing.T) {
	url := site(t, map[string]any{"/": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: "s1", HttpOnly: true, Path: "/"})
		http.SetCookie(w, &http.Cookie{Name: "deep", Value: "d", Path: "/deep"})
		fmt.Fprint(w, `<meta name=csrf content=tok><meta property=og:title content=og><p hidden id=p>x</p><script>sessionStorage.k = 'v'; localStorage.l = 'w';
window.APP = {cfg: {key: 'K', n: 42, get live() { return 'called' }}, f() { return 1 }}</script>`)
	}})
	p := openPage(t, url+"/")
	ctx := testContext(t)
	for _, r := range []struct {
		from       routine.Source
		name, want string
		found      bool
	}{
		{routine.FromSessionStorage, "k", "v", true}, {routine.FromSessionStorage, "none", "", false}, {routine.FromLocalStorage, "l", "w", true},
		{routine.FromMeta, "csrf", "tok", true}, {routine.FromMeta, "og:title", "og", true}, {routine.FromMeta, "none", "", false},
		{routine.FromWindow, "APP.cfg.key", "K", true}, {routine.FromWindow, "APP.cfg.n", "42", true}, {routine.FromWindow, "APP.cfg.live", "", false},
		{routine.FromWindow, "APP.f", "", false}, {routine.FromWindow, "APP.f()", "", false}, {routine.FromWindow, "APP.none.x", "", false},
	} {
		got, found, err := p.Lookup(ctx, r.from, r.name)
		if err != nil || got != r.want || found != r.found {
			t.Errorf("%s:%s: %q %v %v", r.from, r.name, got, found, err)
		}
	}
	all, err := p.Cookies(ctx)
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	sent, err := p.SentCookies(ctx)
	if err != nil || len(sent) != 1 || sent[0].Name != "sid" || !sent[0].HTTPOnly || sent[0].Expires != -1 {
		t.Fatal(sent, err)
	}
	if err := p.Mirror(ctx, "m", "text"); err != nil || eval(t, p, `(() => sessionStorage.getItem('m'))()`) != `"text"` {
		t.Fatal("not mirrored", err)
	}
	if err := openPage(t, "").Mirror(ctx, "m", "text"); err != nil {
		t.Fatal("a blank page has no storage, which is no error: ", err)
	}
	html, err := p.HTML(ctx, "")
	if err != nil || !strings.HasPrefix(html, "<html><head>") {
		t.Fatal(html, err)
	}
	if html, err = p.HTML(ctx, "#p"); err != nil || html != `<p hidden="" id="p">x</p>` {
		t.Fatal(html, err)
	}
	if html, matches, err := p.OuterHTML(ctx, "meta,p"); err != nil || html == "" || matches != 3 {
		t.Fatal(html, matches, err)
	}
	_, err = p.HTML(untilJudged(t, p, 1), "#none")
	wantCode(t, err, routine.CodeElementNotFound, "#none")
}

func TestContextsShareNothing(t *testing.T) {
	url := site(t, map[string]any{"/set": `<script>document.cookie = 'c=1'; localStorage.l = 1; sessionStorage.s = 1</script>`, "/": `x`})
	a := openPage(t, url+"/set")
	b := openPage(t, url+"/")
	const read = `(() => [document.cookie, localStorage.length, sessionStorage.length])()`
	if got := eval(t, a, read); got != `["c=1",1,1]` {
		t.Fatal(got)
	}
	if got := eval(t, b, read); got != `["",0,0]` {
		t.Fatal("the second context sees what the first has set: ", got)
	}
}

func TestPopups(t *testing.T) {
	t.Parallel()
	p := openPage(t, site(t, map[string]any{"/": `<button id=b onclick="for (let i = 0; i < 15; i++) window.open('/p', '_blank')">b</button>`, "/p": `<script>alert(1)</script>`})+"/")
	if _, err := p.Click(testContext(t), click("#b")); err != nil {
		t.Fatal(err)
	}
	if got := eval(t, p, `(() => 1)()`); got != "1" {
		t.Fatal(got)
	}
	if w := strings.Join(p.Warnings(), "\n"); strings.Count(w, "opened a popup") != maxPopups {
		t.Fatalf("%d popups told of, want %d:\n%s", strings.Count(w, "opened a popup"), maxPopups, w)
	}
}

// BenchmarkFormTask is the five-step task in a fresh context each time.
func BenchmarkFormTask(b *testing.B) {
	url := site(b, map[string]any{"/form": form}) + "/form"
	for b.Loop() {
		opened, err := shared.Open(b.Context(), routine.PageOptions{})
		if err != nil {
			b.Fatal(err)
		}
		formTask(b, opened.(*tabs).first, url)
		opened.Close()
	}
}

// A placeholder that reads the window runs nothing of the page's.
func TestWindowPropertiesCallNothing(t *testing.T) {
	url := site(t, map[string]any{"/": `<script>var called = 0, calls = x => { called++; return x };
		var cfg = { a: 1, get live() { return calls(2) }, toJSON() { return calls({}) }, in: { list: [1, { get b() { return calls(3) } }], when: new Date(0), none: undefined, big: 12345678901234567890n } };
		var odd = { p: new Proxy({}, { ownKeys() { return calls([]) }, getPrototypeOf() { return calls(null) }, getOwnPropertyDescriptor() { return calls() } }) }</script>`})
	p := openPage(t, url+"/")
	for path, want := range map[string]string{
		"cfg": `{"a":1,"in":{"list":[1,{}],"when":"1970-01-01T00:00:00.000Z","big":"12345678901234567890"}}`,
		"odd": "", "odd.p.x": "", "cfg.in.list.length": "2",
	} {
		if got, found, err := p.Lookup(testContext(t), routine.FromWindow, path); err != nil || got != want || found != (want != "") {
			t.Errorf("%s: %q %v %v, want %q", path, got, found, err, want)
		}
	}
	if got := eval(t, p, `(() => window.called)()`); got != "0" {
		t.Error("functions of the page were called: ", got)
	}
}
