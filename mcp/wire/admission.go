package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"

	"rote/routine"
)

// Admission decides which requests over HTTP are handled, and for whom. It is
// shared with the REST API, so that each caller has one budget.
type Admission interface {
	// Admit refuses requests that name a foreign host or come from a page of a
	// foreign origin.
	Admit(*http.Request) error
	// ClientAddress returns the address of the sender of a request, for the audit log.
	ClientAddress(*http.Request) string
	// Caller authenticates a request: without a token, it is the anonymous
	// caller's. It counts the call: CodeRateLimited.
	Caller(http.ResponseWriter, *http.Request) (routine.Principal, error)
	// StartRequest counts a request of a caller as open until done is called, and refuses
	// one that is too many: CodeRateLimited.
	StartRequest(*http.Request, routine.Principal) (done func(), err error)
	// Refuse returns the status of an answer to an error, and sets the headers
	// that go with it.
	Refuse(http.Header, error) (status int)
}

// codeMethod is the code of an error that only HTTP has. The admission sets its
// status.
const codeMethod routine.Code = "method_not_allowed"

var errMethod = routine.Errorf(codeMethod, "this path does not answer to this method: see the header Allow")

// admit checks where a request comes from, and sets who makes it.
func (h *HTTP) admit(w http.ResponseWriter, r *http.Request, q *request) (err error) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if err := h.admission.Admit(r); err != nil {
		return err
	}
	allowOrigin(w, r)
	if r.Method == http.MethodOptions {
		return nil // it carries no token, and gets nothing
	}
	if q.principal, err = h.admission.Caller(w, r); err != nil {
		return err
	}
	q.peer, err = h.options.Peer(q.principal)
	return err
}

// allowOrigin lets scripts of the page whose origin was admitted read the answer.
func allowOrigin(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	if origin == "" {
		return
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate")
	if r.Method == http.MethodOptions {
		h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
		h.Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
		h.Set("Access-Control-Max-Age", "600")
	}
}

// body reads the message of a POST. A body that is too long is not read to its
// end: CodeTooLarge. Anything but JSON is refused with CodeUnsupportedMediaType,
// because pages can send it to any origin without a preflight request.
func (h *HTTP) body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return nil, routine.Errorf(routine.CodeUnsupportedMediaType, "a message is sent with Content-Type: application/json")
	}
	limit := int64(h.options.MaxMessage)
	tooLarge := func() error {
		return routine.Errorf(routine.CodeTooLarge, "the message is longer than %d bytes", limit)
	}
	if r.ContentLength > limit {
		w.Header().Set("Connection", "close")
		return nil, tooLarge()
	}
	var read bytes.Buffer
	read.Grow(int(max(r.ContentLength, 0)) + bytes.MinRead) // so that it does not grow again
	_, err = read.ReadFrom(http.MaxBytesReader(w, r.Body, limit))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, tooLarge()
	case err != nil:
		return nil, routine.Errorf(routine.CodeInvalid, "the body broke off: %w", err)
	}
	return read.Bytes(), nil
}

// refuse answers a request that is not handled with a JSON-RPC error without id:
// its message was not read.
func (h *HTTP) refuse(w http.ResponseWriter, err error) {
	e := routine.AsError(err)
	header := w.Header()
	status := h.admission.Refuse(header, e)
	text, err := json.Marshal(errorResponse(nil, mcp.INVALID_REQUEST, fmt.Sprintf("%s [%s]", e.Message, e.Code)))
	if err != nil {
		text = nil // a text always encodes
	}
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client may have disconnected
}
