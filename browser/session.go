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

// caller makes rod's typed requests on one session of the client with one context.
type caller struct {
	ctx     context.Context
	c       *client
	session proto.TargetSessionID
}

var (
	_ proto.Client      = caller{}
	_ proto.Sessionable = caller{}
	_ proto.Contextable = caller{}
)

func (c caller) Call(ctx context.Context, session, method string, params any) ([]byte, error) {
	return c.c.send(proto.TargetSessionID(session), method, params).wait(ctx)
}
func (c caller) GetSessionID() proto.TargetSessionID { return c.session }
func (c caller) GetContext() context.Context         { return c.ctx }
