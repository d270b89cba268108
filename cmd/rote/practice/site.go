// Package practice is the Corner Shop, a small web site that behaves like real
// ones: results that a script loads later, a history-API address, a sign-in
// with trap fields, a token in a meta element, a file that needs a session. It
// has no external dependencies, so `rote demo` works without internet access.
// The package also contains example routines for the site, and Members, a shop that
// asks for a one-time code.
package practice

import (
	"bytes"
	"embed"
	"encoding/json"
	"html/template"
	"net/http"
)

//go:embed templates
var templateFiles embed.FS

//go:embed assets
var assetFiles embed.FS

// pages are the templates of pages by name.
type pages map[string]*template.Template

// parsePages parses the templates of pages, with the layout that they share.
func parsePages(names ...string) pages {
	ps := pages{}
	for _, name := range names {
		ps[name] = template.Must(template.ParseFS(templateFiles, "templates/layout.html", "templates/"+name+".html"))
	}
	return ps
}

// Site serves the shop. Sessions are kept in memory. It is safe for concurrent
// use.
type Site struct {
	pages
	mux      *http.ServeMux
	sessions sessions
}

// NewSite returns a shop without sessions.
func NewSite() *Site {
	s := &Site{mux: http.NewServeMux(), pages: parsePages("search", "product", "login", "account", "message")}
	s.mux.HandleFunc("GET /{$}", s.showSearch)
	s.mux.HandleFunc("GET /api/search", s.searchProducts)
	s.mux.HandleFunc("GET /product/{sku}", s.showProduct)
	s.mux.HandleFunc("GET /login", s.showLogin)
	s.mux.HandleFunc("POST /login", s.signIn)
	s.mux.HandleFunc("GET /account", s.showAccount)
	s.mux.HandleFunc("GET /api/orders", s.listOrders)
	s.mux.HandleFunc("GET /invoices/{file}", s.sendInvoice)
	s.mux.Handle("GET /assets/{file}", http.FileServerFS(assetFiles))
	s.mux.HandleFunc("/", s.showNotFound)
	return s
}

// ServeHTTP disables caching, because a cached page would show the state of an
// earlier run.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w)
	s.mux.ServeHTTP(w, r)
}

func setHeaders(w http.ResponseWriter) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
}

func (s *Site) showSearch(w http.ResponseWriter, _ *http.Request) {
	s.render(w, http.StatusOK, "search", nil)
}

func (s *Site) searchProducts(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query().Get("q")
	WriteJSON(w, http.StatusOK, searchResponse{Query: query, Products: findProducts(query)})
}

func (s *Site) showProduct(w http.ResponseWriter, r *http.Request) {
	p, ok := productBySKU(r.PathValue("sku"))
	if !ok {
		s.showNotFound(w, r)
		return
	}
	s.render(w, http.StatusOK, "product", p)
}

func (s *Site) showNotFound(w http.ResponseWriter, _ *http.Request) {
	s.render(w, http.StatusNotFound, "message", message{
		Title: "Page not found",
		Text:  "The Corner Shop has no page at this address.",
	})
}

// message is the content of a page that shows only a message.
type message struct {
	Title, Text string
}

// render writes a complete page or an error.
func (ps pages) render(w http.ResponseWriter, status int, page string, data any) {
	var buf bytes.Buffer
	if err := ps[page].ExecuteTemplate(&buf, "layout.html", data); err != nil {
		http.Error(w, "the page could not be made", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = buf.WriteTo(w) // the visitor may have left
}

// WriteJSON writes a value as JSON with a line end.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		http.Error(w, "the answer could not be made", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // the visitor may have left
}
