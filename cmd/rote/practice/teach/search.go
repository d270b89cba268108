package teach

import (
	"encoding/json"
	"net/http"
	"strings"

	"rote/cmd/rote/practice"
)

// maxBody bounds what a form or an API reads.
const maxBody = 64 << 10

// searchStock are all products of the search.
func (s *Sites) searchStock() []Product {
	random := s.random("search")
	var all []Product
	for _, kind := range []string{"kettle", "teapot", "mug"} {
		for _, name := range names(random, kind, 60) {
			all = append(all, Product{Name: name, Price: price(500 + random.IntN(9000)).String(), Path: "/p/" + s.digest("product "+name, 8), Stock: random.IntN(20)})
		}
	}
	return all
}

// Find are the products of the search whose names contain a word in any case.
func (s *Sites) Find(word string) []Product {
	found := []Product{}
	for _, p := range s.searchStock() {
		if strings.Contains(strings.ToLower(p.Name), strings.ToLower(word)) {
			found = append(found, p)
		}
	}
	return found
}

// apiError is what an API answers to a request that it refuses.
type apiError struct {
	Error string `json:"error"`
}

func (h *site) searchRoutes() {
	h.mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		h.visit(w, r)
		h.show(w, http.StatusOK, "search", nil)
	})
	h.mux.HandleFunc("GET /session", func(w http.ResponseWriter, r *http.Request) {
		v := h.visit(w, r)
		practice.WriteJSON(w, http.StatusOK, map[string]any{"user": map[string]any{"name": "guest", "number": v.number}, "csrf": v.csrf})
	})
	h.mux.HandleFunc("POST /api/search", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-CSRF-Token") != h.visit(w, r).csrf {
			practice.WriteJSON(w, http.StatusForbidden, apiError{"the X-CSRF-Token header is missing or wrong"})
			return
		}
		var q struct{ Query string }
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&q); err != nil {
			practice.WriteJSON(w, http.StatusBadRequest, apiError{"send a JSON object with query"})
			return
		}
		items := h.Find(q.Query)
		practice.WriteJSON(w, http.StatusOK, map[string]any{"items": items, "total": len(items)})
	})
}
