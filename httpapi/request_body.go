package httpapi

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"rote/routine"
	"rote/routine/service"
)

// readBody reads the request's body and checks that its headers declare JSON or one of the other
// media types.
func (q *request) readBody(others ...string) ([]byte, error) {
	if q.ContentLength == 0 {
		return nil, nil // the JSON decoder reports what is missing
	}
	if err := checkMediaType(q.Header, others...); err != nil {
		return nil, err
	}
	limit, advice := q.maxBody, "make it smaller"
	if q.principal.Anonymous() && limit > service.MaxAnonymousBody {
		limit, advice = service.MaxAnonymousBody, fmt.Sprintf("send a service token, with which it may have %d bytes", q.maxBody)
	}
	tooLarge := routine.Errorf(routine.CodeTooLarge, "the body has more than %d bytes: %s", limit, advice)
	if q.ContentLength > limit {
		return nil, tooLarge
	}
	text, err := io.ReadAll(http.MaxBytesReader(q.w, q.Body, limit))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, tooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, routine.Errorf(routine.CodeInvalid, "the body did not arrive in time")
	case err != nil:
		return nil, routine.Errorf(routine.CodeInvalid, "the body did not arrive whole")
	}
	return text, nil
}

// checkMediaType accepts only uncompressed JSON in UTF-8, or one of the other media types. Requiring the media
// type also blocks other sites' pages: a browser sends cross-origin JSON only
// after a CORS preflight request, which is not granted.
func checkMediaType(h http.Header, others ...string) error {
	if e := h.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return routine.Errorf(routine.CodeUnsupportedMediaType, "a body with Content-Encoding is not read: send it as it is")
	}
	mediaType, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || mediaType != "application/json" && !strings.HasSuffix(mediaType, "+json") && !slices.Contains(others, mediaType) {
		types := strings.Join(append([]string{"application/json"}, others...), " or ")
		return routine.Errorf(routine.CodeUnsupportedMediaType, "the body must be JSON: send Content-Type: %s", types)
	}
	if charset, ok := params["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return routine.Errorf(routine.CodeUnsupportedMediaType, "the body must be JSON in UTF-8, without another charset")
	}
	return nil
}

// Limits on reading the rest of a refused body.
const (
	// drainBytes and drainTimeout limit how much of a refused body is read, and for how long.
	drainBytes   = 8 << 20
	drainTimeout = 2 * time.Second
)

// writeBodyTooLarge writes the error and then reads more of the body for a
// limited time. Many clients read the response only after they have sent
// everything, and would see a connection reset if the connection were closed
// before.
func writeBodyTooLarge(w http.ResponseWriter, r *http.Request, err error) {
	c := http.NewResponseController(w)
	_ = c.EnableFullDuplex()
	w.Header().Set("Connection", "close")
	writeProblem(w, r, err)
	_ = c.Flush()
	if r.Header.Get("Expect") == "" { // with Expect, the client waits for the response
		_ = c.SetReadDeadline(time.Now().Add(drainTimeout))
		_, _ = io.CopyN(io.Discard, r.Body, drainBytes)
	}
	_ = c.SetReadDeadline(time.Now()) // stops the server from reading on to the next request
}
