package httpapi

import (
	"net/http"
	"time"

	"rote/routine"
)

// readTimeout limits how long a request may take to arrive, including its body.
// net/http removes the limit once the body has been read, so a run may take
// longer.
const readTimeout = 30 * time.Second

// NewServer returns a server with timeouts for slow clients that still allow
// the longest run to be answered.
func NewServer(addr string, h http.Handler) *http.Server {
	return &http.Server{
		Addr:              addr,
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       readTimeout,
		// Counted from the header: the body, the longest run and 30 s for the
		// response.
		WriteTimeout:   readTimeout + routine.MaxRunTimeout + 30*time.Second,
		IdleTimeout:    2 * time.Minute,
		MaxHeaderBytes: 64 << 10,
	}
}
