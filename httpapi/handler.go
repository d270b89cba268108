package httpapi

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/go-chi/chi/v5"

	"rote/routine"
)

// handler processes one call: it decodes the request, calls the service and
// returns the response. [api.handle] writes the response.
type handler func(q *request) (response, error)

// request is an HTTP request with what the front end knows about it.
type request struct {
	*http.Request
	w         http.ResponseWriter
	principal routine.Principal
	maxBody   int64
}

// PathParameter returns a parameter of the path of a request, percent-decoded.
func PathParameter(r *http.Request, name string) string {
	text := chi.URLParam(r, name)
	if r.URL.RawPath == "" {
		return text
	}
	if plain, err := url.PathUnescape(text); err == nil {
		return plain
	}
	return text
}

func (q *request) pathParameter(name string) string { return PathParameter(q.Request, name) }

func (q *request) routineID() string { return q.pathParameter("routine_id") }

// response is the result of a successful call.
type response struct {
	status int
	body   any // shown as JSON, unless it is a document
	// location is the path of the created resource, or empty.
	location string
	// alreadyWritten is true if the handler has written the response itself.
	alreadyWritten bool
}

// document is a body that is sent without further encoding.
type document struct {
	mediaType string
	text      []byte
}

// handle makes h an HTTP handler. It encodes the whole body before it writes
// anything, so that an encoding error can still be reported.
func (a *api) handle(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		got, err := h(&request{Request: r, w: w, maxBody: a.maxBody})
		if routine.CodeOf(err) == routine.CodeTooLarge {
			writeBodyTooLarge(w, r, err)
			return
		}
		if err != nil {
			writeProblem(w, r, err)
			return
		}
		if got.alreadyWritten {
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
				writeProblem(w, r, routine.Internal("encode answer", err))
				return
			}
		}
		if got.location != "" {
			w.Header().Set("Location", got.location)
		}
		writeDocument(w, got.status, d)
	}
}

// encode returns the JSON of v followed by a newline.
func encode(v any) ([]byte, error) {
	text, err := routine.EncodeJSON(v)
	return append(text, '\n'), err
}

func writeDocument(w http.ResponseWriter, status int, d document) {
	h := w.Header()
	h.Set("Content-Type", d.mediaType)
	h.Set("Content-Length", strconv.Itoa(len(d.text)))
	w.WriteHeader(status)
	_, _ = w.Write(d.text) // only the connection can fail here
}
