package teach

import (
	"fmt"
	"net/http"
	"strconv"

	"rote/cmd/rote/practice"
)

// The years that have purchases.
const firstYear, lastYear = 2019, 2026

// Purchase is a row of the table behind the login.
type Purchase struct {
	Number, Date, Items, Total string
}

// PurchasesOf are those of a year.
func (s *Sites) PurchasesOf(year int) []Purchase {
	if year < firstYear || year > lastYear {
		return nil
	}
	random := s.random(fmt.Sprint("purchases ", year))
	all := make([]Purchase, 4+random.IntN(9))
	for i, name := range names(random, "lamp", len(all)) {
		all[i] = Purchase{fmt.Sprintf("P-%d-%03d", year, 100+i*7), fmt.Sprintf("%d-%02d-%02d", year, 1+i, 1+random.IntN(28)), name,
			price(1000 + random.IntN(50_000)).String()}
	}
	return all
}

func (h *site) purchasesRoutes() {
	h.mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/login", http.StatusSeeOther) })
	h.mux.HandleFunc("GET /login", func(w http.ResponseWriter, r *http.Request) {
		h.show(w, http.StatusOK, "purchases_login", h.visit(w, r).csrf)
	})
	h.mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		v := h.visit(w, r)
		if r.Header.Get("X-CSRF-Token") != v.csrf {
			practice.WriteJSON(w, http.StatusForbidden, apiError{"the X-CSRF-Token header is missing or wrong"})
			return
		}
		if v.loggedIn = h.login(r, "customer", "password"); !v.loggedIn {
			practice.WriteJSON(w, http.StatusUnauthorized, apiError{"wrong customer number or password"})
			return
		}
		practice.WriteJSON(w, http.StatusOK, map[string]string{"next": "/purchases"})
	})
	h.mux.HandleFunc("GET /purchases", func(w http.ResponseWriter, r *http.Request) {
		if !h.visit(w, r).loggedIn {
			http.Redirect(w, r, "/login", http.StatusSeeOther)
			return
		}
		year, err := strconv.Atoi(r.FormValue("year"))
		if err != nil {
			year = lastYear
		}
		var years []int
		for y := lastYear; y >= firstYear; y-- {
			years = append(years, y)
		}
		h.show(w, http.StatusOK, "purchases", map[string]any{"Year": year, "Years": years, "Purchases": h.PurchasesOf(year)})
	})
}
