package mcp

import (
	"context"
	"net/http"
	"net/url"

	"rote/routine"
)

// serveSSE is one session over the older HTTP transport: this stream carries
// all answers, and messages come as requests to another path. When the client
// goes away, its calls are cancelled.
func (h *HTTP) serveSSE(w http.ResponseWriter, r *http.Request, p routine.Principal, o *organization) error {
	s, err := h.begin(r.Context(), p, o, make(chan posted))
	if err != nil {
		return err
	}
	defer h.sessions.end(s)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	out := newStream(w, h.beats, cancel)
	defer out.close()
	defer h.untilClosed(cancel, s.ended)()

	c := h.server.newConversation(o, "sse-", out)
	end, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer end()
	if err := out.event("endpoint", []byte(h.base+"/message?sessionId="+url.QueryEscape(s.id))); err != nil {
		return nil // the client is gone
	}
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case m := <-s.messages:
			c.message(withPrincipal(ctx, m.by), m.text)
		}
	}
	c.pending.Wait()
	return nil
}

// takeMessage hands a message to the session that it belongs to, which answers
// on its own stream.
func (h *HTTP) takeMessage(w http.ResponseWriter, r *http.Request, p routine.Principal) error {
	text, err := h.body(w, r)
	if err != nil {
		return err
	}
	s, err := h.sessions.use(p, r.URL.Query().Get("sessionId"), true)
	if err != nil {
		return err
	}
	defer h.sessions.release(s)
	select {
	case s.messages <- posted{p, text}:
		w.WriteHeader(http.StatusAccepted)
	case <-s.ended:
		return errNoSession
	case <-r.Context().Done():
	}
	return nil
}
