package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// mendShop is a shop that is redesigned while routines for it are stored. It notes what
// visitors do to it.
type mendShop struct {
	URL string

	mu         sync.Mutex
	redesigned bool
	acts       []string // what changed something, as in "POST /cart"
}

// redesign changes ids, classes and addresses, and puts a dialog over the first page and a
// button that deletes the account where the button of the search was.
func (s *mendShop) redesign() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.redesigned = true
}

// original takes the redesign back.
func (s *mendShop) original() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.redesigned = false
}

// acted returns what visitors changed since the last call.
func (s *mendShop) acted() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	acts := s.acts
	s.acts = nil
	return acts
}

// The pages of the shop, before and after.
var mendPages = map[string][2]string{
	"/": {`<title>Shop</title><form id=search action=/find><label>Word <input id=q name=q></label><button id=go class=go>Search</button></form>`,
		`<title>Shop</title><form id=search action=/find><label>Word <input id=word7 name=word></label>
			<button id=go-away class=danger type=button onclick="fetch('/delete',{method:'POST'})">Delete account</button><button class=cta>Search</button></form>`},
	"/covered": {`<title>Shop</title><a id=more href=/list>More</a>`,
		`<title>Shop</title><a id=more href=/list>More</a><div id=veil style="position:fixed;inset:0;background:#fff"><p>We use cookies.</p>
			<button id=leave onclick="fetch('/delete',{method:'POST'})">Delete my data</button>
			<button id=ok onclick="document.getElementById('veil').remove()">Accept all</button></div>`},
	"/login": {`<title>Sign in</title><form action=/welcome method=post><input name=user aria-label=User><input name=pin type=password aria-label=PIN>
			<button id=enter>Sign in</button></form>`,
		`<title>Sign in</title><form action=/start/4711 method=post><input name=user aria-label=User><input name=pin type=password aria-label=PIN>
			<button id=enter>Sign in</button></form>`},
	"/cart": {`<title>Cart</title><button id=add onclick="fetch('/cart',{method:'POST'})">Add to cart</button><a id=done href=/list>Done</a>`,
		`<title>Cart</title><button id=add onclick="fetch('/cart',{method:'POST'})">Add to cart</button><a id=finished href=/list>Done</a>`},
	"/list": {`<title>List</title><ul id=hits></ul><script>fetch('/api/items?sort=name').then(r => r.json()).then(all => {
			document.getElementById('hits').innerHTML = all.map(i => '<li class=hit>' + i.name).join('') })</script>`,
		`<title>List</title><ul id=hits></ul><script>fetch('/api/v2/items?sort=name').then(r => r.json()).then(all => {
			document.getElementById('hits').innerHTML = all.map(i => '<li class=hit>' + i.name).join('') })</script>`},
}

func newMendShop(t *testing.T) *mendShop {
	t.Helper()
	s := &mendShop{}
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if login := r.FormValue("pin") == "1234"; r.Method == http.MethodPost && !login {
			s.acts = append(s.acts, "POST "+r.URL.Path)
		}
		version := 0
		if s.redesigned {
			version = 1
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		switch pages, ok := mendPages[r.URL.Path]; {
		case ok:
			fmt.Fprint(w, pages[version])
		case r.URL.Path == "/find":
			fmt.Fprintf(w, "<title>Found</title><ul id=hits><li class=hit>%s Nord</ul>", strings.ReplaceAll(r.FormValue("q")+r.FormValue("word"), "<", ""))
		case r.URL.Path == []string{"/api/items", "/api/v2/items"}[version]:
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `[{"name":"Lamp"},{"name":"Chair"}]`)
		case strings.HasPrefix(r.URL.Path, "/welcome"), strings.HasPrefix(r.URL.Path, "/start/"):
			fmt.Fprint(w, "<title>Hello</title><p id=hello>Hello</p>")
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	s.URL = server.URL
	return s
}
