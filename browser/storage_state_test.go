package browser

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/browserstate"
)

// keeping opens a page whose state is wanted at the end.
func keeping(t *testing.T, state []byte) *page {
	t.Helper()
	p, err := shared.Open(testContext(t), routine.PageOptions{KeepState: true, State: state})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p.(*tabs).first
}

func stateOf(t *testing.T, p *page) []byte {
	t.Helper()
	state, err := p.State(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	return state
}

func TestStateIsKept(t *testing.T) {
	t.Parallel()
	var requests []string
	pages := map[string]any{"/": func(w http.ResponseWriter, r *http.Request) {
		requests = append(requests, r.URL.Path)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><link rel=icon href="data:,"><p>%s`, r.Header.Get("Cookie"))
	}, "/in": func(w http.ResponseWriter, _ *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: "s1", HttpOnly: true, Path: "/"})
		http.SetCookie(w, &http.Cookie{Name: "long", Value: "l", MaxAge: 3600, SameSite: http.SameSiteStrictMode, Path: "/deep"})
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<!doctype html><link rel=icon href="data:,"><script>localStorage.plain = 'p"<\/script>é'; localStorage.odd = '\ud800'; sessionStorage.gone = 1
			Storage.prototype.setItem = Object.entries = JSON.stringify = () => 'bent'</script>`)
	}}
	a, b := site(t, pages), site(t, map[string]any{"/in": `<script>localStorage.other = 'o'</script>`, "/": "x"})
	first := keeping(t, nil)
	for _, url := range []string{b + "/in", a + "/in"} {
		if _, err := first.Navigate(testContext(t), url); err != nil {
			t.Fatal(err)
		}
	}
	state := stateOf(t, first)

	requests = nil
	second := keeping(t, state)
	if len(requests) != 0 {
		t.Fatal("restoring asked the site for ", requests)
	}
	if u, _ := second.URL(testContext(t)); u != "about:blank" {
		t.Fatal("a run begins at ", u)
	}
	if _, err := second.Navigate(testContext(t), a+"/"); err != nil {
		t.Fatal(err)
	}
	const read = `(() => [localStorage.plain, localStorage.odd.charCodeAt(0), sessionStorage.length, document.cookie, history.length, document.body.textContent.trim()])()`
	if got := eval(t, second, read); got != `["p\"</script>é",55296,0,"",2,"sid=s1"]` {
		t.Fatal(got)
	}
	cookies, err := second.Cookies(testContext(t))
	if err != nil || len(cookies) != 2 {
		t.Fatal(cookies, err)
	}
	for _, c := range cookies {
		if c.Domain != "127.0.0.1" || c.Name == "long" && (c.Expires <= 0 || c.Path != "/deep" || c.SameSite != "Strict") || c.Name == "sid" && (!c.HTTPOnly || c.Expires != -1) {
			t.Errorf("%+v", c)
		}
	}
	// What a run removes is gone, and a site that it was not on stays as it was.
	_ = eval(t, second, `(() => { localStorage.clear() })()`)
	third := keeping(t, stateOf(t, second))
	if _, err := third.Navigate(testContext(t), a+"/"); err != nil {
		t.Fatal(err)
	}
	if got := eval(t, third, `(() => localStorage.length)()`); got != "0" {
		t.Fatal(got)
	}
	if _, err := third.Navigate(testContext(t), b+"/"); err != nil {
		t.Fatal(err)
	}
	if got := eval(t, third, `(() => localStorage.other)()`); got != `"o"` {
		t.Fatal(got)
	}
	// Others see nothing of it.
	other := openPage(t, a+"/")
	if got := eval(t, other, `(() => [localStorage.length, document.body.textContent.trim()])()`); got != `[0,""]` {
		t.Fatal(got)
	}
}

func TestStateIsBounded(t *testing.T) {
	t.Parallel()
	p := keeping(t, nil)
	pages := map[string]any{"/": fmt.Sprintf(`<script>localStorage.a = 'ä'.repeat(%d)</script>`, browserstate.MaxBytes/2)}
	if _, err := p.Navigate(testContext(t), site(t, pages)+"/"); err != nil {
		t.Fatal(err)
	}
	_, err := p.State(testContext(t))
	wantCode(t, err, routine.CodeResultTooLarge, "are kept")
	damaged := routine.PageOptions{KeepState: true, State: []byte(`{"storage":[{"origin":"http://x.test","items":[1]}]}`)}
	if _, err := shared.Open(testContext(t), damaged); err == nil || strings.Contains(err.Error(), "panic") {
		t.Fatal("a broken state was taken: ", err)
	}
}
