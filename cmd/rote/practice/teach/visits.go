package teach

import (
	"fmt"
	"net/http"
)

// visit is what a site knows of one visitor, by a cookie.
type visit struct {
	number   int    // from 1, in the order in which the visitors of the site came
	csrf     string // the token against forged requests
	loggedIn bool
	consent  bool // whether the cookie dialog was answered
	cart     []Order
	cursors  map[string]int // of News, by token
}

const visitCookie = "visit"

// visit returns the visit of a request, which may begin with it.
func (h *site) visit(w http.ResponseWriter, r *http.Request) *visit {
	if c, err := r.Cookie(visitCookie); err == nil && h.visits[c.Value] != nil {
		return h.visits[c.Value]
	}
	id := h.newToken()
	h.visitors++
	h.visits[id] = &visit{number: h.visitors, csrf: h.newToken(), cursors: map[string]int{}}
	http.SetCookie(w, &http.Cookie{Name: visitCookie, Value: id, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
	return h.visits[id]
}

// Customer is the name to log in with on a host.
func (s *Sites) Customer(host string) string {
	return fmt.Sprint(10_000 + s.random("customer of "+host).IntN(80_000))
}

// Password is the secret of Customer.
func (s *Sites) Password(host string) string { return "planted-" + s.digest("password of "+host, 16) }

// login checks what a form sent.
func (h *site) login(r *http.Request, customer, password string) bool {
	if r.FormValue(customer) != h.Customer(h.host) || r.FormValue(password) != h.Password(h.host) {
		return false
	}
	h.logins++
	return true
}
