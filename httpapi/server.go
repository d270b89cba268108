package httpapi

import (
	"net/http"
	"time"

	"rote/routine"
)

// readTimeout bounds how long a request may take to arrive, its body included.
// Once the body is there, net/http takes the limit off the connection: a run
// may last longer.
const readTimeout = 30 * time.Second

// NewServer makes a server whose limits suit h: slow clients are cut off, and
// the longest run still gets its answer out.
func NewServer(addr string, h http.Handler) *http.Server {
	return &http.Server{
		Addr:              addr,
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       readTimeout,
		// It begins with the body: time for that, for the longest run, and 30 s
		// for the answer.
		WriteTimeout:   readTimeout + routine.MaxRunTimeout + 30*time.Second,
		IdleTimeout:    2 * time.Minute,
		MaxHeaderBytes: 64 << 10,
	}
}
