package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/browser/egress"
	"rote/routine"
)

// A browser that is not on this machine reaches the proxies of its runs through a gateway,
// which finds the proxy of a request by its credentials. Chromium takes no credentials with
// the address of a proxy. It asks for them when the proxy does, only of a request that is
// paused, and then sends them with each further request of the context: of pages, frames,
// workers, service workers, sockets and prefetches. So each context makes one request before
// it is ready. A context that has not made it has no network at all.

// primeTime bounds the request that primes a context. It takes a few milliseconds, or no answer
// ever comes, because a firewall drops the packets to the gateway.
const primeTime = 5 * time.Second

// errNotPrimed returns the error of a context that has not given the credentials to its proxy.
func (p *page) errNotPrimed(reason string) error {
	return &routine.Error{Code: routine.CodeBrowserUnavailable, RetryAfter: primeTime,
		Message: fmt.Sprintf("the browser cannot reach --egress-address %s, where the proxies of its runs are (%s)", p.proxy.Addr(), reason)}
}

// openProxy opens the proxy of a new page on the instance.
func (b *Browser) openProxy(i *instance, policy *egress.Policy) (*egress.Proxy, error) {
	if i.throughGateway {
		return b.config.Gateway.Open(policy, b.limits())
	}
	return egress.Listen(policy, b.limits())
}

// prime makes the context of the page use the credentials of its proxy, if that needs any. The
// proxy answers the request without a document, so the blank page and its history stay as
// they are. The browser's events about the request are not recorded. It fails with
// CodeBrowserUnavailable if that did not happen within bound.
func (p *page) prime(ctx context.Context, bound time.Duration) error {
	if user, _ := p.proxy.Credentials(); user == "" {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, bound, p.errNotPrimed(fmt.Sprintf("no answer within %v", bound)))
	defer cancel()
	p.priming.Store(true)
	defer p.priming.Store(false)
	url := p.proxy.PrimeURL()
	if err := cdp.CallAll(ctx, p, proto.NetworkDisable{},
		proto.FetchEnable{Patterns: []*proto.FetchRequestPattern{{URLPattern: url + "*"}}, HandleAuthRequests: true}); err != nil {
		return err
	}
	gone, err := cdp.Call[proto.PageNavigateResult](ctx, p, proto.PageNavigate{URL: url})
	if err != nil {
		return p.failure(ctx, err)
	}
	if err := cdp.CallAll(ctx, p, proto.FetchDisable{}, networkEnable{}); err != nil {
		return err
	}
	if !p.proxy.Primed() {
		return p.errNotPrimed(gone.ErrorText)
	}
	return nil
}

// answerPrime answers the events of the page's session that concern the request of prime. It
// reports whether the event was one of them.
func (p *page) answerPrime(method string, params json.RawMessage) bool {
	if !p.priming.Load() {
		return false
	}
	switch method {
	case "Fetch.requestPaused":
		if e, ok := cdp.Decode[pausedRequest](params); ok {
			p.Send(proto.FetchContinueRequest{RequestID: e.ID}).Forget()
		}
	case "Fetch.authRequired":
		if e, ok := cdp.Decode[pausedRequest](params); ok {
			p.Send(proto.FetchContinueWithAuth{RequestID: e.ID, AuthChallengeResponse: p.answerChallenge(e)}).Forget()
		}
	case "Page.frameRequestedNavigation", "Page.frameStartedNavigating", "Page.frameStoppedLoading":
	default:
		return false
	}
	return true
}

// pausedRequest is the part of the events of a paused request, and of one that was asked for
// credentials, that is needed to answer it.
type pausedRequest struct {
	ID        proto.FetchRequestID      `json:"requestId"`
	Frame     proto.PageFrameID         `json:"frameId"`
	Type      proto.NetworkResourceType `json:"resourceType"`
	Challenge struct {
		Source string `json:"source"`
	} `json:"authChallenge"`
}

// answerChallenge returns the credentials of the proxy once, to the proxy, while the context is
// primed. Sites get none.
func (p *page) answerChallenge(e pausedRequest) *proto.FetchAuthChallengeResponse {
	if e.Challenge.Source != string(proto.FetchAuthChallengeSourceProxy) || p.credentialsGiven {
		return &proto.FetchAuthChallengeResponse{Response: proto.FetchAuthChallengeResponseResponseCancelAuth}
	}
	p.credentialsGiven = true
	user, password := p.proxy.Credentials()
	return &proto.FetchAuthChallengeResponse{Response: proto.FetchAuthChallengeResponseResponseProvideCredentials, Username: user, Password: password}
}

// answerChallenge answers the challenge of a request that the browser has paused: with the
// credentials of its proxy if it is that of prime, otherwise with none.
func (t *targets) answerChallenge(e pausedRequest) *proto.FetchAuthChallengeResponse {
	for _, p := range t.currentPages() {
		if p.priming.Load() && p.isMain(e.Frame) {
			return p.answerChallenge(e)
		}
	}
	return &proto.FetchAuthChallengeResponse{Response: proto.FetchAuthChallengeResponseResponseCancelAuth}
}
