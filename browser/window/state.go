package window

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/routine/browserstate"
)

// readTime is how long reading the state may take.
const readTime = 20 * time.Second

// State returns the cookies, and the local storage of the sites of the pages. If the browser has
// ended, it returns those that were read last, up to a second before.
func (w *Window) State(ctx context.Context) (*browserstate.State, error) {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	w.reading.Lock()
	defer w.reading.Unlock()
	state, err := w.read(ctx)
	switch {
	case err == nil:
		w.last = state
	case w.last == nil || w.client.Err() == nil:
		return nil, err
	}
	return w.last, nil
}

func (w *Window) read(ctx context.Context) (*browserstate.State, error) {
	cookies, err := w.client.Send("", "Storage.getCookies", nil).Wait(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the cookies: %w", err)
	}
	state := &browserstate.State{}
	if state.Cookies, err = browserstate.ParseCookies(cookies); err != nil {
		return nil, err
	}
	w.mu.Lock()
	origins := slices.Sorted(maps.Keys(w.origins))
	w.mu.Unlock()
	for _, origin := range origins {
		items, err := w.reader.storage(ctx, origin)
		if err != nil {
			return nil, fmt.Errorf("read the storage of %s: %w", origin, err)
		}
		if items != nil {
			state.Storage = append(state.Storage, browserstate.Origin{Origin: origin, Items: items})
		}
	}
	return state, nil
}

// reader is a hidden page that reads the local storage of sites: it gets an empty document
// from each, without a request to it.
type reader struct {
	client  *cdp.Client
	session proto.TargetSessionID
}

var _ cdp.Session = (*reader)(nil)

func newReader(ctx context.Context, c *cdp.Client) (*reader, error) {
	answer, err := c.Send("", "Target.createTarget", map[string]any{"url": "about:blank", "hidden": true}).Wait(ctx)
	if err != nil {
		return nil, err
	}
	var created proto.TargetCreateTargetResult
	if err := json.Unmarshal(answer, &created); err != nil {
		return nil, err
	}
	id := created.TargetID
	target, err := proto.TargetGetTargetInfo{TargetID: id}.Call(c.Browser(ctx))
	if err != nil {
		return nil, err
	}
	if target.TargetInfo.Type == "page" {
		return nil, errors.New("this browser has no hidden pages, so it is too old: update it, or name another with --browser FILE")
	}
	attached, err := proto.TargetAttachToTarget{TargetID: id, Flatten: true}.Call(c.Browser(ctx))
	if err != nil {
		return nil, err
	}
	r := &reader{c, attached.SessionID}
	c.Listen(r.session, r.event)
	return r, cdp.CallAll(ctx, r, proto.PageEnable{}, cdp.RawRequest("Network.setBypassServiceWorker", map[string]any{"bypass": true}),
		cdp.RawRequest("Fetch.enable", map[string]any{"patterns": []any{map[string]any{"urlPattern": "*"}}}))
}

// Send implements [cdp.Session].
func (r *reader) Send(m proto.Request) *cdp.Future { return r.client.Send(r.session, m.ProtoReq(), m) }

// SendAll implements [cdp.Session].
func (r *reader) SendAll(ms ...proto.Request) []*cdp.Future {
	return r.client.SendAll(r.session, ms...)
}

// Await implements [cdp.Session].
func (r *reader) Await(ctx context.Context, f *cdp.Future) ([]byte, error) { return f.Wait(ctx) }

// emptyDocument names an icon, because the browser asks the site for one otherwise.
const emptyDocument = `<!doctype html><link rel=icon href="data:,">`

// event answers a request of the page with an empty document.
func (r *reader) event(method string, params json.RawMessage) {
	e, ok := cdp.Decode[struct {
		ID proto.FetchRequestID `json:"requestId"`
	}](params)
	if !ok || method != "Fetch.requestPaused" {
		return
	}
	r.Send(cdp.RawRequest("Fetch.fulfillRequest", map[string]any{"requestId": e.ID, "responseCode": 200,
		"responseHeaders": []any{map[string]any{"name": "Content-Type", "value": "text/html"}},
		"body":            base64.StdEncoding.EncodeToString([]byte(emptyDocument))})).Forget()
}

// storage returns the local storage of an origin as browserstate.Origin has it; nil if it has
// none, or is not available there.
func (r *reader) storage(ctx context.Context, origin string) (json.RawMessage, error) {
	if err := cdp.CallAll(ctx, r, proto.PageNavigate{URL: origin + "/"}); err != nil {
		return nil, err
	}
	name, err := json.Marshal(origin)
	if err != nil {
		return nil, err
	}
	// A browser that knows that a site has https goes there.
	expression := fmt.Sprintf(`(() => { try { return origin === %s ? JSON.stringify(Object.entries(localStorage)) : "[]" } catch { return "[]" } })()`, name)
	value, err := cdp.Evaluate(ctx, r, proto.RuntimeEvaluate{Expression: expression, ReturnByValue: true})
	if err != nil {
		return nil, err
	}
	items, err := cdp.Unquote(value.Value)
	if err != nil || *items == "[]" {
		return nil, err
	}
	return json.RawMessage(*items), nil
}
