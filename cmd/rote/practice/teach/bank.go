package teach

import (
	"fmt"
	"net/http"
)

// Account is one of the bank's customer.
type Account struct{ Number, Title, Balance string }

// Accounts are those of the bank's customer.
func (s *Sites) Accounts() []Account {
	random := s.random("accounts")
	var all []Account
	for i, title := range []string{"Everyday", "Savings", "Holidays", "House"} {
		all = append(all, Account{fmt.Sprintf("%d%04d", 70+i, random.IntN(10_000)), title, price(random.IntN(9_000_000)).String()})
	}
	return all
}

func (h *site) bankRoutes() {
	type content struct {
		Dialog   bool // asks about cookies
		Frame    string
		Accounts []Account
		Account  *Account
	}
	h.mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		h.show(w, http.StatusOK, "bank", content{Dialog: !h.visit(w, r).consent, Frame: neighbour(r, SignIn, "/frame")})
	})
	h.mux.HandleFunc("POST /consent", func(w http.ResponseWriter, r *http.Request) {
		h.visit(w, r).consent = true
		w.WriteHeader(http.StatusNoContent)
	})
	// The frame's host sends visitors here with a code that it has made.
	h.mux.HandleFunc("GET /enter", func(w http.ResponseWriter, r *http.Request) {
		code := r.FormValue("code")
		if h.hosts[SignIn].visits[code] == nil {
			http.Error(w, "this code is not valid", http.StatusForbidden)
			return
		}
		delete(h.hosts[SignIn].visits, code)
		h.visit(w, r).loggedIn = true
		http.Redirect(w, r, "/accounts", http.StatusSeeOther)
	})
	h.mux.HandleFunc("GET /accounts", func(w http.ResponseWriter, r *http.Request) {
		v := h.visit(w, r)
		if !v.loggedIn {
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		}
		h.show(w, http.StatusOK, "bank_accounts", content{Dialog: !v.consent, Accounts: h.Accounts()})
	})
	h.mux.HandleFunc("GET /accounts/{number}", func(w http.ResponseWriter, r *http.Request) {
		v := h.visit(w, r)
		for _, a := range h.Accounts() {
			if v.loggedIn && a.Number == r.PathValue("number") {
				h.show(w, http.StatusOK, "bank_accounts", content{Dialog: !v.consent, Account: &a})
				return
			}
		}
		http.NotFound(w, r)
	})
}

func (h *site) signInRoutes() {
	h.mux.HandleFunc("GET /frame", func(w http.ResponseWriter, _ *http.Request) { h.show(w, http.StatusOK, "signin", false) })
	h.mux.HandleFunc("POST /session", func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		if !h.login(r, "customer", "pin") || r.FormValue("own_device") == "" {
			h.show(w, http.StatusUnauthorized, "signin", true)
			return
		}
		code := h.newToken()
		h.visits[code] = &visit{}
		http.Redirect(w, r, neighbour(r, Bank, "/enter?code="+code), http.StatusSeeOther)
	})
}
