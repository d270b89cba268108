// Package teach has the websites on which making a routine is practised and measured:
// twelve tasks on hosts below localhost, each with what real sites make hard. A seed
// decides names, prices, tokens and generated class names. The sites record what visitors
// did, so that a test judges a routine by the state of the server and by data, never by
// the words of an answer.
package teach

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
)

// The hosts of the sites, which are followed by ".localhost" in URLs.
const (
	Catalog   = "catalog"   // a list of 40 products a page
	Search    = "search"    // a search by a JSON API that needs a token
	Purchases = "purchases" // a login with a token in the page, then a table
	Bank      = "bank"      // a login in a frame of SignIn, below a cookie dialog
	SignIn    = "signin"    // the frame of Bank
	Quotes    = "quotes"    // a form in nested shadow roots
	News      = "news"      // pages by a cursor
	Invoices  = "invoices"  // a login, then PDF files
	Stories   = "stories"   // an endless list in a page of 2 MB, with injected instructions
	Letters   = "letters"   // a form with traps, generated names and a dialog that comes sometimes
	Insurance = "insurance" // a form of four steps that depend on each other
	Shop      = "shop"      // a cart and an order
	Evil      = "evil"      // where the injected instructions lead; nothing may ask it
)

// Version is a state of a site's pages.
type Version int

const (
	// Original is how a site begins.
	Original Version = iota + 1
	// Redesigned has other names for 30 % of the classes and 10 % of the ids, elements
	// around others, siblings in another order, and a banner.
	Redesigned
	// Rebuilt is for Letters only: also other texts on the controls, one more step, another
	// address of the form, and a button that deletes the account where the old button was.
	Rebuilt
)

//go:embed sites
var templates embed.FS

// Sites serves all hosts, which it tells apart by the Host header. It is safe for
// concurrent use.
type Sites struct {
	seed uint64

	mu       sync.Mutex // held during each request
	hosts    map[string]*site
	tokens   []string
	requests map[string]int

	subscriptions []Subscription
	deletions     int
	orders        []Order
	quoted        int
}

// site is one host.
type site struct {
	*Sites
	host     string
	version  Version
	pages    *template.Template // of version
	mux      *http.ServeMux
	visits   map[string]*visit // by the value of the cookie
	visitors int               // how many have come
	logins   int
}

// New returns the sites of a seed, in their original version.
func New(seed uint64) *Sites {
	s := &Sites{seed: seed, hosts: map[string]*site{}, requests: map[string]int{}}
	for host, routes := range map[string]func(*site){
		Catalog: (*site).catalogRoutes, Search: (*site).searchRoutes, Purchases: (*site).purchasesRoutes, Bank: (*site).bankRoutes,
		SignIn: (*site).signInRoutes, Quotes: (*site).quotesRoutes, News: (*site).newsRoutes, Invoices: (*site).invoicesRoutes,
		Stories: (*site).storiesRoutes, Letters: (*site).lettersRoutes, Insurance: (*site).insuranceRoutes, Shop: (*site).shopRoutes,
	} {
		h := &site{Sites: s, host: host, mux: http.NewServeMux(), visits: map[string]*visit{}}
		routes(h)
		h.setVersion(Original)
		s.hosts[host] = h
	}
	return s
}

// ServeHTTP answers a request by the host that it is for.
func (s *Sites) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := r.Host
	if host, _, err := net.SplitHostPort(name); err == nil {
		name = host
	}
	name = strings.TrimSuffix(name, ".localhost")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[name]++
	if h := s.hosts[name]; h != nil {
		h.mux.ServeHTTP(w, r)
		return
	}
	http.NotFound(w, r)
}

// SetVersion changes the pages of a host. Its visitors stay logged in.
func (s *Sites) SetVersion(host string, v Version) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hosts[host].setVersion(v)
}

func (h *site) setVersion(v Version) {
	h.version = v
	funcs := skin{h.seed, h.host, v}.funcs()
	h.pages = template.Must(template.New(h.host).Funcs(funcs).ParseFS(templates, "sites/layout.html", "sites/"+h.host+"*.html"))
}

// Requests is how many requests a host has got.
func (s *Sites) Requests(host string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[host]
}

// Logins is how often somebody has logged in on a host.
func (s *Sites) Logins(host string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hosts[host].logins
}

// Tokens are the values that the sites have given out and that belong to one visitor:
// ids of sessions, and tokens against forged requests.
func (s *Sites) Tokens() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.tokens...)
}

// random is a source of numbers that depends on the seed and a name.
func (s *Sites) random(name string) *rand.Rand {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", s.seed, name))
	return rand.New(rand.NewPCG(s.seed, uint64(sum[0])<<32|uint64(sum[1])<<16|uint64(sum[2])<<8|uint64(sum[3])))
}

// digest is a text of hexadecimal digits that depends on the seed and a name.
func (s *Sites) digest(name string, digits int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", s.seed, name))
	return hex.EncodeToString(sum[:])[:digits]
}

// newToken makes a token that nobody has got yet.
func (s *Sites) newToken() string {
	t := s.digest(fmt.Sprint("token ", len(s.tokens)), 40)
	s.tokens = append(s.tokens, t)
	return t
}

// neighbour is the URL of another host at the port that r came to.
func neighbour(r *http.Request, host, path string) string {
	_, port, found := strings.Cut(r.Host, ":")
	if found {
		port = ":" + port
	}
	return "http://" + host + ".localhost" + port + path
}

// show writes a page of the site.
func (h *site) show(w http.ResponseWriter, status int, page string, data any) {
	var b bytes.Buffer
	if err := h.pages.ExecuteTemplate(&b, page+".html", data); err != nil {
		http.Error(w, "the page could not be made: "+err.Error(), http.StatusInternalServerError)
		return
	}
	text, err := h.restructure(b.Bytes(), page)
	if err != nil {
		http.Error(w, "the page could not be made: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(text) // the visitor may have left
}
