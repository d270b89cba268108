package httpapi

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/go-chi/chi/v5"

	"rote/routine"
)

// handler does one call: it decodes the request, asks the service and says what
// to answer. Writing is left to serve.
type handler func(q *request) (answer, error)

// request is a request with what the front end found out about it.
type request struct {
	*http.Request
	w         http.ResponseWriter
	principal routine.Principal
	maxBody   int64
}

// parameter is a part of the path, decoded.
func (q *request) parameter(name string) string {
	text := chi.URLParam(q.Request, name)
	if q.URL.RawPath == "" {
		return text
	}
	if plain, err := url.PathUnescape(text); err == nil {
		return plain
	}
	return text
}

func (q *request) routineID() string { return q.parameter("routine_id") }

// answer is what a call that went well gives.
type answer struct {
	status int
	body   any // shown as JSON, unless it is a document
	// location is the path of what was made; empty: nothing was.
	location string
	// written: the handler has written its answer itself.
	written bool
}

// document is a body that is sent as it is.
type document struct {
	mediaType string
	text      []byte
}

// serve makes h an HTTP handler. What h gives is encoded whole before anything
// is written, so that a fault while encoding can still be answered.
func (a *api) serve(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		got, err := h(&request{Request: r, w: w, maxBody: a.maxBody})
		if routine.CodeOf(err) == routine.CodeTooLarge {
			failBody(w, r, err)
			return
		}
		if err != nil {
			fail(w, r, err)
			return
		}
		if got.written {
			return
		}
		if got.status == http.StatusOK && notModified(r, w.Header().Get("ETag")) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		if got.status == http.StatusNoContent {
			w.WriteHeader(got.status)
			return
		}
		d, ok := got.body.(document)
		if !ok {
			d.mediaType = "application/json"
			if d.text, err = encode(got.body); err != nil {
				fail(w, r, routine.Internal("encode answer", err))
				return
			}
		}
		if got.location != "" {
			w.Header().Set("Location", got.location)
		}
		write(w, got.status, d)
	}
}

// encode returns the JSON of v and a line break, which ends every answer.
func encode(v any) ([]byte, error) {
	text, err := routine.EncodeJSON(v)
	return append(text, '\n'), err
}

func write(w http.ResponseWriter, status int, d document) {
	h := w.Header()
	h.Set("Content-Type", d.mediaType)
	h.Set("Content-Length", strconv.Itoa(len(d.text)))
	w.WriteHeader(status)
	_, _ = w.Write(d.text) // only the connection can fail here
}
