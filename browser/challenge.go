package browser

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
)

// shellProduct is how the headless shell calls itself. Full Chromium calls itself
// Chrome or Chromium, also when it runs headless.
const shellProduct = "HeadlessChrome/"

// declineChallenges makes every 401 that asks for HTTP credentials the answer of
// its request, as it is in the headless shell.
//
// Full Chromium opens a login dialog instead. Nobody answers it, so the request
// never ends, and the dialog blocks its tab. Chromium offers the challenge to
// DevTools first, but only that of a request which was paused when it began. So
// the browser pauses the requests of all runs, and each is continued at once. That
// costs about half a millisecond a request, and nothing in the headless shell.
func (t *targets) declineChallenges(ctx context.Context) error {
	browser := t.client.Browser(ctx)
	v, err := proto.BrowserGetVersion{}.Call(browser)
	if err != nil || strings.HasPrefix(v.Product, shellProduct) {
		return err
	}
	t.pausesRequests.Store(true)
	return proto.FetchEnable{Patterns: []*proto.FetchRequestPattern{{URLPattern: "*"}}, HandleAuthRequests: true}.Call(browser)
}

// answerPaused continues a request that the browser has paused, unless it is that of a
// refused popup or its type is blocked, and answers a challenge. It runs on the reading goroutine.
func (t *targets) answerPaused(method string, params json.RawMessage) {
	e, ok := cdp.Decode[pausedRequest](params)
	switch {
	case !ok:
	case method == "Fetch.requestPaused" && t.blocks(e.Frame, e.Type):
		t.client.Send("", "Fetch.failRequest", proto.FetchFailRequest{RequestID: e.ID, ErrorReason: proto.NetworkErrorReasonBlockedByClient}).Forget()
	case method == "Fetch.requestPaused" && t.isRefused(e.Frame):
		t.client.Send("", "Fetch.failRequest", proto.FetchFailRequest{RequestID: e.ID, ErrorReason: proto.NetworkErrorReasonBlockedByClient})
		t.closeTarget(proto.TargetTargetID(e.Frame))
	case method == "Fetch.requestPaused":
		t.client.Send("", "Fetch.continueRequest", proto.FetchContinueRequest{RequestID: e.ID})
	case method == "Fetch.authRequired":
		t.client.Send("", "Fetch.continueWithAuth", proto.FetchContinueWithAuth{RequestID: e.ID, AuthChallengeResponse: t.answerChallenge(e)})
	}
}
