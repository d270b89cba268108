package browser

import (
	"context"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
)

// A site may bind a login to the user agent of the browser in which somebody has logged in. A run
// with such a session then says to be that browser, in all its pages, frames and workers. The
// browser sends no client hints (Sec-CH-UA) then. Of a service worker, the requests that it makes
// have the user agent, but not the request for its script, nor its navigator.userAgent.

// setUserAgent makes the run use a user agent; empty: that of the browser. It is called before
// the run's page loads anything.
func (p *page) setUserAgent(ctx context.Context, agent string) error {
	if agent == "" {
		return nil
	}
	p.userAgent.Store(&agent)
	return cdp.CallAll(ctx, p, proto.EmulationSetUserAgentOverride{UserAgent: agent})
}

// sendUserAgent sets the user agent of another session of the run, which has not loaded anything.
func (p *page) sendUserAgent(session proto.TargetSessionID) {
	if agent := p.first().userAgent.Load(); agent != nil {
		p.i.client.Send(session, "Emulation.setUserAgentOverride", proto.EmulationSetUserAgentOverride{UserAgent: *agent}).Forget()
	}
}
