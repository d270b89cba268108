package cdp

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/go-rod/rod/lib/proto"
)

// Session sends requests to one target, such as a page or a frame with a process of its own.
type Session interface {
	// Send writes a request and does not wait for its answer.
	Send(m proto.Request) *Future
	// SendAll is Send for several requests, which are written together and in order.
	SendAll(ms ...proto.Request) []*Future
	// Await returns the answer. It fails when ctx ends or the target can answer no more.
	Await(ctx context.Context, f *Future) ([]byte, error)
}

// Call sends a request and decodes its answer.
func Call[R any](ctx context.Context, s Session, m proto.Request) (R, error) {
	var r R
	b, err := s.Await(ctx, s.Send(m))
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(b, &r)
}

// CallAll sends requests in order and waits for all answers.
func CallAll(ctx context.Context, s Session, ms ...proto.Request) error {
	for i, f := range s.SendAll(ms...) {
		if _, err := s.Await(ctx, f); err != nil {
			return fmt.Errorf("%s: %w", ms[i].ProtoReq(), err)
		}
	}
	return nil
}

// Decode decodes the parameters of an event. It reports false if they have an unexpected
// form; the event is then ignored.
func Decode[T any](params json.RawMessage) (T, bool) {
	var v T
	err := json.Unmarshal(params, &v)
	return v, err == nil
}

// RawRequest returns the request with any method and parameters, for those that rod does
// not define.
func RawRequest(method string, params any) proto.Request { return rawRequest{method, params} }

type rawRequest struct {
	method string
	params any
}

func (r rawRequest) ProtoReq() string { return r.method }

func (r rawRequest) MarshalJSON() ([]byte, error) { return json.Marshal(r.params) }

// Browser makes rod's typed requests on the browser's own session. They end with ctx.
func (c *Client) Browser(ctx context.Context) proto.Client { return browserSession{ctx, c} }

type browserSession struct {
	ctx context.Context
	c   *Client
}

var _ proto.Contextable = browserSession{}

func (b browserSession) Call(ctx context.Context, session, method string, params any) ([]byte, error) {
	return b.c.Send(proto.TargetSessionID(session), method, params).Wait(ctx)
}

func (b browserSession) GetContext() context.Context { return b.ctx }
