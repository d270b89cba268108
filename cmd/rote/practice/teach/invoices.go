package teach

import (
	"fmt"
	"net/http"

	"rote/cmd/rote/practice"
)

// Invoice is one that the customer can get as a file.
type Invoice struct {
	Number, Date, Amount string
	// ID is what the file's URL has in place of the number.
	ID string
}

// AllInvoices are those of the customer, newest first.
func (s *Sites) AllInvoices() []Invoice {
	random := s.random("invoices")
	var all []Invoice
	for i := range 12 {
		number := fmt.Sprintf("R-%d", 2400-i*13)
		all = append(all, Invoice{number, fmt.Sprintf("2026-%02d-%02d", 12-i, 1+random.IntN(28)), price(2000 + random.IntN(90_000)).String(),
			s.digest("invoice "+number, 24)})
	}
	return all
}

// InvoiceFile is the PDF of an invoice; nil if the number is of none.
func (s *Sites) InvoiceFile(number string) []byte {
	for _, i := range s.AllInvoices() {
		if i.Number == number {
			return practice.PDF("Invoice "+number, []string{"Date: " + i.Date, "Reference: " + i.ID})
		}
	}
	return nil
}

func (h *site) invoicesRoutes() {
	h.mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		h.show(w, http.StatusOK, "invoices_login", false)
	})
	h.mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		v := h.visit(w, r)
		if v.loggedIn = h.login(r, "email", "password"); !v.loggedIn {
			h.show(w, http.StatusUnauthorized, "invoices_login", true)
			return
		}
		http.Redirect(w, r, "/invoices", http.StatusSeeOther)
	})
	h.mux.HandleFunc("GET /invoices", func(w http.ResponseWriter, r *http.Request) {
		if !h.visit(w, r).loggedIn {
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		}
		h.show(w, http.StatusOK, "invoices", h.AllInvoices())
	})
	h.mux.HandleFunc("GET /invoices/{id}/pdf", func(w http.ResponseWriter, r *http.Request) {
		if !h.visit(w, r).loggedIn {
			http.Error(w, "log in first", http.StatusUnauthorized)
			return
		}
		for _, i := range h.AllInvoices() {
			if i.ID == r.PathValue("id") {
				w.Header().Set("Content-Type", "application/pdf")
				_, _ = w.Write(h.InvoiceFile(i.Number)) // the visitor may have left
				return
			}
		}
		http.NotFound(w, r)
	})
}
