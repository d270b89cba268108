package teach

import (
	"fmt"
	"net/http"
	"slices"

	"rote/cmd/rote/practice"
)

const (
	newsPageSize = 20
	newsTotal    = 100
)

var topics = []string{"town", "sport", "music", "weather", "science"}

// Article is one of the news.
type Article struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

// Articles are all of a topic, newest first.
func (s *Sites) Articles(topic string) []Article {
	var all []Article
	for _, title := range headlines(s.random("news "+topic), newsTotal) {
		all = append(all, Article{s.digest("article "+topic+title, 12), title})
	}
	return all
}

func (h *site) newsRoutes() {
	page := func(w http.ResponseWriter, r *http.Request) {
		h.visit(w, r)
		h.show(w, http.StatusOK, "news", map[string]any{"Topic": r.PathValue("topic"), "Topics": topics})
	}
	h.mux.HandleFunc("GET /{$}", page)
	h.mux.HandleFunc("GET /t/{topic}", page)
	// A cursor is good for the visitor and the topic that it was made for.
	h.mux.HandleFunc("GET /api/news", func(w http.ResponseWriter, r *http.Request) {
		v, topic, from := h.visit(w, r), r.FormValue("topic"), 0
		if !slices.Contains(topics, topic) {
			practice.WriteJSON(w, http.StatusNotFound, apiError{"there is no such topic"})
			return
		}
		if cursor := r.FormValue("cursor"); cursor != "" {
			var known bool
			if from, known = v.cursors[topic+" "+cursor]; !known {
				practice.WriteJSON(w, http.StatusBadRequest, apiError{"this cursor is not valid any more"})
				return
			}
		}
		answer := map[string]any{"items": h.Articles(topic)[from:][:newsPageSize]}
		if from += newsPageSize; from < newsTotal {
			next := "c_" + h.digest(fmt.Sprint("cursor ", v.csrf, topic, from), 24)
			v.cursors[topic+" "+next] = from
			answer["next"] = next
		}
		practice.WriteJSON(w, http.StatusOK, answer)
	})
}
