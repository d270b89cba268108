package browser

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"rote/routine"
)

func valuesOf(t *testing.T, b *Browser, html string) (routine.PageValues, *page) {
	t.Helper()
	url := site(t, map[string]any{"/": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: "s1", HttpOnly: true})
		fmt.Fprint(w, "<!doctype html><meta charset=utf-8>", html)
	}})
	p := mustOpen(t, b)
	if _, err := p.Navigate(testContext(t), url+"/"); err != nil {
		t.Fatal(err)
	}
	v, err := p.tabs.PageValues(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	if v.URL != url+"/" {
		t.Errorf("of %s", v.URL)
	}
	return v, p
}

func TestPageValues(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			if kind.name == "full" && testing.Short() {
				t.Skip("on the shell only")
			}
			v, _ := valuesOf(t, kind.browser(), `<meta name=csrf-token content=meta1><meta property=og:x content=meta2><meta charset=x>
<form id=f action=/a><input type=hidden name=csrf value=h1><input type=hidden name='q"x' value=h2><input name=shown value=no></form>
<form action=/b><input type=hidden name=csrf value=h3><input type=hidden name=empty></form>
<script>
sessionStorage.session = '{"csrf":"x"}'; localStorage.theme = 'dark';
var token = 'w1'; window.app = { config: { key: 'w2', n: 7, deep: { er: 'no', list: [1, 'w3'] } }, 'a.b': 'no', ok: true, f() {} };
app.self = app;
class Settings { secret = 'w4' }
window.settings = new Settings();
</script>`)
			for what, pair := range map[string][2]map[string]string{
				"metas": {v.Metas, {"csrf-token": "meta1", "og:x": "meta2"}},
				"hidden fields": {v.HiddenFields, {`input[type="hidden"][name="csrf"]`: "h1", `input[type="hidden"][name="q\"x"]`: "h2",
					`form[action="/b"] input[type="hidden"][name="csrf"]`: "h3"}},
				"sessionStorage": {v.SessionStorage, {"session": `{"csrf":"x"}`}},
				"localStorage":   {v.LocalStorage, {"theme": "dark"}},
			} {
				if !maps.Equal(pair[0], pair[1]) {
					t.Errorf("%s: %v, want %v", what, pair[0], pair[1])
				}
			}
			for path, want := range map[string]string{"token": "w1", "app.config.key": "w2", "app.config.n": "7", "app.config.deep.er": "no",
				"app.config.deep.list.1": "", "settings.secret": "w4", "app.ok": "", "app.self.config.key": "w2"} {
				if got := v.Window[path]; got != want {
					t.Errorf("%s is %q, want %q", path, got, want)
				}
			}
			if len(v.Cookies) != 1 || v.Cookies[0].Value != "s1" {
				t.Error(v.Cookies)
			}
		})
	}
}

// No code of the page runs while its values are read, and what would need it is left out,
// but nothing else.
func TestPageValuesCallNoCodeOfThePage(t *testing.T) {
	t.Parallel()
	v, p := valuesOf(t, shared, `<script>
var called = '', early = 'e1';
window.trap = { get token() { called += 'getter'; return 'no' }, plain: 'p1' };
window.pure = { get token() { return 'no' } };
window.store = { state: new Proxy({ a: 'no' }, {
		 ownKeys() { called += 'proxy'; return ['a'] }, getPrototypeOf() { called += 'prototype'; return null } }), beside: 'b1',
	more: { wrapped: new Proxy({ a: 'w' }, { get() { called += 'get'; return 'no' } }) } };
Object.defineProperty(window, 'watched', { get() { called += 'window'; return 'no' }, enumerable: true });
var late = 'l1';
</script>`)
	for path, want := range map[string]string{"early": "e1", "trap.plain": "p1", "trap.token": "", "pure.token": "", "store.beside": "b1", "store.state.a": "",
		"store.more.wrapped.a": "w", "watched": "", "late": "l1"} {
		if got := v.Window[path]; got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	if got := eval(t, p, "called"); got != `""` {
		t.Errorf("the page's code was called: %s", got)
	}
}

// A page cannot make its values large or reading them slow.
func TestPageValuesAreBounded(t *testing.T) {
	t.Parallel()
	v, _ := valuesOf(t, shared, `<meta name=huge content="`+strings.Repeat("x", maxPageValue+1)+`"><body><script>
for (let i = 0; i < 1000; i++) localStorage['l' + i] = 'ä'.repeat(1000);
for (let i = 0; i < 100; i++) sessionStorage['s' + i] = 'ä'.repeat(16000);
for (let i = 0; i < 5000; i++) window['w' + i] = { a: { b: { c: 'x'.repeat(100) } } };
window.wide = Object.fromEntries(Array.from({ length: 1e5 }, (_, i) => ['k' + i, 'v']));
window.traps = Array.from({ length: 1000 }, () => new Proxy({}, { ownKeys() { window.trapped = 1; return [] } }));
window.halves = '\ud800';
document.body.innerHTML = Array.from({ length: 500 }, (_, i) => '<input type=hidden name=h' + i + ' value=' + 'x'.repeat(100) + '>').join('');
</script>`)
	size := 0
	for _, kind := range []map[string]string{v.Metas, v.HiddenFields, v.SessionStorage, v.LocalStorage, v.Window} {
		for name, value := range kind {
			size += len(name) + len(value)
		}
	}
	if size > maxPageValues || len(v.HiddenFields) != maxPageEntries || len(v.Window) < 200 || v.Metas["huge"] != "" {
		t.Errorf("%d bytes: %d metas, %d hidden fields, %d and %d entries, %d properties", size, len(v.Metas), len(v.HiddenFields),
			len(v.SessionStorage), len(v.LocalStorage), len(v.Window))
	}
}

// Where reading the properties of window would run code without end, they are left out.
func TestPageValuesOfAHungWindow(t *testing.T) {
	t.Parallel()
	v, _ := valuesOf(t, shared, `<meta name=token content=m1><script>window.a = 'w1'; Object.keys = () => { for (;;); }</script>`)
	if v.Metas["token"] != "m1" || len(v.Window) != 0 {
		t.Error(v)
	}
}
