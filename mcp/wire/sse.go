package wire

import (
	"context"
	"net/http"
	"net/url"
)

// serveSSE serves one session over the older HTTP transport: the stream carries
// all answers, and messages are posted to another path. When the client
// disconnects, its requests are cancelled.
func (h *HTTP) serveSSE(w http.ResponseWriter, r *http.Request, q *request) error {
	if err := h.newSession(r.Context(), q, make(chan sseMessage)); err != nil {
		return err
	}
	s := q.session
	defer h.sessions.end(s)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	out := newStream(w, h.keepAlives, cancel)
	defer out.close()
	defer h.untilClosed(cancel, s.ended)()

	c := newConversation(q.peer, h.options, "sse", out)
	end, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer end()
	if err := out.event("endpoint", []byte(h.basePath+"/message?sessionId="+url.QueryEscape(s.id))); err != nil {
		return nil // the client is gone
	}
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case m := <-s.messages:
			c.handleMessage(ctx, m.principal, m.text)
		}
	}
	c.pending.Wait()
	return nil
}

// postSSE passes a posted message to its session, which answers on its stream.
func (h *HTTP) postSSE(w http.ResponseWriter, r *http.Request, q *request) error {
	text, err := h.body(w, r)
	if err != nil {
		return err
	}
	s, err := h.sessions.use(q.principal, r.URL.Query().Get("sessionId"), true)
	if err != nil {
		return err
	}
	defer h.sessions.release(s)
	select {
	case s.messages <- sseMessage{q.principal, text}:
		w.WriteHeader(http.StatusAccepted)
	case <-s.ended:
		return errNoSession
	case <-r.Context().Done():
	}
	return nil
}
