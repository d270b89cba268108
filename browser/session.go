package browser

import (
	"context"
	"encoding/json"

	"github.com/go-rod/rod/lib/proto"
)

// channel sends requests to one session.
type channel interface {
	send(m proto.Request) *future
	await(ctx context.Context, f *future) ([]byte, error)
}

// call sends a request and decodes its answer.
func call[R any](ctx context.Context, c channel, m proto.Request) (R, error) {
	var r R
	b, err := c.await(ctx, c.send(m))
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(b, &r)
}

// decode decodes the parameters of an event. It reports false if they have an unexpected
// form; the event is then ignored.
func decode[T any](params json.RawMessage) (T, bool) {
	var v T
	err := json.Unmarshal(params, &v)
	return v, err == nil
}

// rawCall is a request with any method and parameters.
type rawCall struct {
	method string
	params any
}

func (r rawCall) ProtoReq() string { return r.method }

func (r rawCall) MarshalJSON() ([]byte, error) { return json.Marshal(r.params) }

// browser makes rod's typed requests on the browser's own session. They end with ctx.
func (c *client) browser(ctx context.Context) proto.Client { return browserSession{ctx, c} }

type browserSession struct {
	ctx context.Context
	c   *client
}

var _ proto.Contextable = browserSession{}

func (b browserSession) Call(ctx context.Context, session, method string, params any) ([]byte, error) {
	return b.c.send(proto.TargetSessionID(session), method, params).wait(ctx)
}

func (b browserSession) GetContext() context.Context { return b.ctx }
