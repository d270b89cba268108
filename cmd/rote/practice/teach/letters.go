package teach

import (
	"encoding/json"
	"net/http"

	"rote/cmd/rote/practice"
)

// Subscription is one that Letters has got.
type Subscription struct {
	Email string
	// Traps is what the fields had that nobody can see.
	Traps string
}

// Subscriptions are all that Letters has got, in order.
func (s *Sites) Subscriptions() []Subscription {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Subscription(nil), s.subscriptions...)
}

// Deletions is how often somebody pressed the button of Letters that deletes the account.
func (s *Sites) Deletions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.deletions
}

func (h *site) lettersRoutes() {
	h.mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		// The dialog comes to every second visitor.
		v := h.visit(w, r)
		h.show(w, http.StatusOK, "letters", map[string]any{"Dialog": !v.consent && v.number%2 == 1, "Rebuilt": h.version == Rebuilt})
	})
	h.mux.HandleFunc("POST /consent", func(w http.ResponseWriter, r *http.Request) {
		h.visit(w, r).consent = true
		w.WriteHeader(http.StatusNoContent)
	})
	h.mux.HandleFunc("POST /subscribe", func(w http.ResponseWriter, r *http.Request) { h.subscribe(w, r, Original, Redesigned) })
	h.mux.HandleFunc("POST /members/letters", func(w http.ResponseWriter, r *http.Request) { h.subscribe(w, r, Rebuilt) })
	h.mux.HandleFunc("POST /members/delete", func(w http.ResponseWriter, _ *http.Request) {
		h.deletions++
		practice.WriteJSON(w, http.StatusOK, map[string]string{"deleted": "your account"})
	})
}

// subscribe takes a subscription in these versions.
func (h *site) subscribe(w http.ResponseWriter, r *http.Request, versions ...Version) {
	var form struct {
		Address, Email, Website string
		Consent                 bool
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&form); err != nil || form.Address == "" {
		practice.WriteJSON(w, http.StatusBadRequest, apiError{"send an address"})
		return
	}
	for _, v := range versions {
		if h.version == v && (v != Rebuilt || form.Consent) {
			h.subscriptions = append(h.subscriptions, Subscription{form.Address, form.Email + form.Website})
			practice.WriteJSON(w, http.StatusOK, map[string]string{"subscribed": form.Address})
			return
		}
	}
	practice.WriteJSON(w, http.StatusGone, apiError{"this is no longer here"})
}
