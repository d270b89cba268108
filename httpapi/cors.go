package httpapi

import (
	"net/http"

	"github.com/go-chi/cors"
)

// allowOrigins lets pages of some origins use the service from a browser. Tokens
// travel in headers that a page has to set itself, so no credentials of the
// browser's own are let through.
func allowOrigins(origins []string) func(http.Handler) http.Handler {
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
