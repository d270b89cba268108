package mcp

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

// codeMethod is the one fault that only HTTP knows; the door does too.
const codeMethod routine.Code = "method_not_allowed"

var errMethod = routine.Errorf(codeMethod, "this path does not answer to this method: see the header Allow")

// enter lets a request in: from where it comes, and who makes it.
func (h *HTTP) enter(w http.ResponseWriter, r *http.Request) (routine.Principal, *organization, error) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if err := h.door.Admit(r); err != nil {
		return routine.Principal{}, nil, err
	}
	allowOrigin(w, r)
	if r.Method == http.MethodOptions {
		return routine.Principal{}, nil, nil // carries no token, and gets nothing
	}
	p, err := h.door.Caller(w, r)
	if err != nil {
		return routine.Principal{}, nil, err
	}
	o, err := h.server.organization(p)
	return p, o, err
}

// allowOrigin lets pages of an admitted origin read the answer.
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

// body reads the message of a POST. A body
// that is too long is not read to its end: CodeTooLarge. CodeUnsupportedMediaType
// for anything but JSON, which pages could send to any origin unasked.
func (h *HTTP) body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return nil, routine.Errorf(routine.CodeUnsupportedMediaType, "a message is sent with Content-Type: application/json")
	}
	limit := int64(h.server.maxMessage)
	tooLarge := func() error {
		return routine.Errorf(routine.CodeTooLarge, "the message is longer than %d bytes", limit)
	}
	if r.ContentLength > limit {
		w.Header().Set("Connection", "close")
		return nil, tooLarge()
	}
	var read bytes.Buffer
	read.Grow(int(max(r.ContentLength, 0)) + bytes.MinRead) // so that it grows no more
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

// refuse answers a request that is not let through, as a JSON-RPC error without
// id: the message was not looked at.
func (h *HTTP) refuse(w http.ResponseWriter, err error) {
	e := routine.AsError(err)
	header := w.Header()
	status := h.door.Refuse(header, e)
	text, err := json.Marshal(errorResponse(nil, mcp.INVALID_REQUEST, fmt.Sprintf("%s [%s]", e.Message, e.Code)))
	if err != nil {
		text = nil // a text always encodes
	}
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(text) // a client that is gone misses it
}
