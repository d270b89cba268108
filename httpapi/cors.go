package httpapi

import (
	"net/http"

	"github.com/go-chi/cors"
)

// corsHandler allows pages of the given origins to call the service from a
// browser. Tokens are sent in headers that the page sets, so no cookies or
// other browser credentials are allowed.
func corsHandler(origins []string) func(http.Handler) http.Handler {
	return cors.Handler(cors.Options{
		AllowedOrigins: origins,
		AllowedMethods: []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete},
		AllowedHeaders: []string{"Authorization", "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match", "Last-Event-ID", "Prefer", "X-Request-Id",
			"X-Service-Token"},
		ExposedHeaders: []string{"ETag", "Link", "Location", "Preference-Applied", "RateLimit", "RateLimit-Policy", "Retry-After", "WWW-Authenticate",
			"X-Request-Id"},
		MaxAge: 600,
	})
}
