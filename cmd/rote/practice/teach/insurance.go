package teach

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"rote/cmd/rote/practice"
)

var (
	vehicleKinds = []string{"car", "motorcycle", "camper"}
	makes        = []string{"Aurora", "Borealis", "Corvid"}
	cities       = []string{"Bergen", "Bodø", "Drammen", "Hamar", "Harstad", "Kristiansand", "Molde", "Oslo", "Stavanger", "Tromsø", "Trondheim", "Ålesund"}
)

// Vehicle is what an insurance is asked for.
type Vehicle struct {
	Kind  string `json:"kind"`
	Glass bool   `json:"glass"`
	Make  string `json:"make"`
	Model string `json:"model"`
	City  string `json:"city"`
}

// Models are those of a make.
func (s *Sites) Models(manufacturer string) []string {
	all := []string{}
	if slices.Contains(makes, manufacturer) {
		random := s.random("models of " + manufacturer)
		for _, i := range random.Perm(len(models))[:4] {
			all = append(all, models[i])
		}
	}
	return all
}

// Premium is what the insurance of a vehicle costs; empty if it cannot be insured.
func (s *Sites) Premium(v Vehicle) string {
	if !slices.Contains(vehicleKinds, v.Kind) || !slices.Contains(s.Models(v.Make), v.Model) || !slices.Contains(cities, v.City) {
		return ""
	}
	p := price(15_000 + s.random("premium "+v.Kind+v.Make+v.Model+v.City).IntN(90_000))
	if v.Glass {
		p += 1900
	}
	return p.String()
}

// PricesAsked is how many prices Quotes and Insurance have given.
func (s *Sites) PricesAsked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.quoted
}

func (h *site) insuranceRoutes() {
	h.mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		h.show(w, http.StatusOK, "insurance", map[string]any{"Kinds": vehicleKinds, "Makes": makes})
	})
	h.mux.HandleFunc("GET /api/models", func(w http.ResponseWriter, r *http.Request) {
		practice.WriteJSON(w, http.StatusOK, map[string]any{"models": h.Models(r.FormValue("make"))})
	})
	h.mux.HandleFunc("GET /api/cities", func(w http.ResponseWriter, r *http.Request) {
		found := []string{}
		for _, city := range cities {
			if q := r.FormValue("q"); q != "" && strings.HasPrefix(strings.ToLower(city), strings.ToLower(q)) {
				found = append(found, city)
			}
		}
		practice.WriteJSON(w, http.StatusOK, map[string]any{"cities": found})
	})
	h.mux.HandleFunc("POST /api/price", func(w http.ResponseWriter, r *http.Request) {
		var v Vehicle
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&v); err != nil || h.Premium(v) == "" {
			practice.WriteJSON(w, http.StatusBadRequest, apiError{"we cannot insure this"})
			return
		}
		h.quoted++
		practice.WriteJSON(w, http.StatusOK, map[string]string{"price": h.Premium(v)})
	})
}
