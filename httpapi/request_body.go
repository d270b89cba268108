package httpapi

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"

	"rote/routine"
)

// body reads the request's body, which must be JSON by its headers.
func (q *request) body() ([]byte, error) {
	if q.ContentLength == 0 {
		return nil, nil // the reader of the JSON says what is missing
	}
	if err := checkMediaType(q.Header); err != nil {
		return nil, err
	}
	limit, advice := q.maxBody, "make it smaller"
	if q.principal.Anonymous() && limit > routine.MaxAnonymousBody {
		limit, advice = routine.MaxAnonymousBody, fmt.Sprintf("send a service token, with which it may have %d bytes", q.maxBody)
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

// checkMediaType refuses what is not plain JSON in UTF-8. That a type is asked
// for also keeps foreign pages out: a browser sends JSON across origins only
// after asking, and is not answered.
func checkMediaType(h http.Header) error {
	if e := h.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return routine.Errorf(routine.CodeUnsupportedMediaType, "a body with Content-Encoding is not read: send it as it is")
	}
	mediaType, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || mediaType != "application/json" && !strings.HasSuffix(mediaType, "+json") {
		return routine.Errorf(routine.CodeUnsupportedMediaType, "the body must be JSON: send Content-Type: application/json")
	}
	if charset, ok := params["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return routine.Errorf(routine.CodeUnsupportedMediaType, "the body must be JSON in UTF-8, without another charset")
	}
	return nil
}

const (
	// lingerBytes and lingerTime bound what is read of a body that was refused.
	lingerBytes = 8 << 20
	lingerTime  = 2 * time.Second
)

// failBody answers that a body is too large, and then reads on for a while: many
// clients look at the answer only when they have sent all of it, and find the
// connection reset when it is closed before.
func failBody(w http.ResponseWriter, r *http.Request, err error) {
	c := http.NewResponseController(w)
	_ = c.EnableFullDuplex()
	w.Header().Set("Connection", "close")
	fail(w, r, err)
	_ = c.Flush()
	if r.Header.Get("Expect") == "" { // else they wait for the answer
		_ = c.SetReadDeadline(time.Now().Add(lingerTime))
		_, _ = io.CopyN(io.Discard, r.Body, lingerBytes)
	}
	_ = c.SetReadDeadline(time.Now()) // the server would read on, to come to the next request
}
