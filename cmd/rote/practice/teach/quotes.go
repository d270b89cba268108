package teach

import (
	"net/http"
	"slices"
	"time"

	"rote/cmd/rote/practice"
)

// branches are those that a quote can be asked for.
var branches = []string{"Oslo", "Bergen", "Trondheim", "Bodø", "Tromsø"}

// Quote is what a van costs on a date, as 2030-05-17, at a branch; empty if there is no
// such date or branch.
func (s *Sites) Quote(date, branch string) string {
	if _, err := time.Parse(time.DateOnly, date); err != nil || !slices.Contains(branches, branch) {
		return ""
	}
	return price(20_000 + s.random("quote "+date+" "+branch).IntN(80_000)).String()
}

func (h *site) quotesRoutes() {
	h.mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { h.show(w, http.StatusOK, "quotes", branches) })
	h.mux.HandleFunc("GET /api/quote", func(w http.ResponseWriter, r *http.Request) {
		quote := h.Quote(r.FormValue("date"), r.FormValue("branch"))
		if quote == "" {
			practice.WriteJSON(w, http.StatusBadRequest, apiError{"date or branch is not valid"})
			return
		}
		h.quoted++
		practice.WriteJSON(w, http.StatusOK, map[string]string{"quote": quote, "branch": r.FormValue("branch")})
	})
}
