// Package sitestorage reads and writes the local storage of sites in a browser.
package sitestorage

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
)

// Page is a hidden page with which the local storage of sites is read and written: it gets an
// empty document from each, without a request to it.
type Page struct {
	client  *cdp.Client
	target  proto.TargetTargetID
	session proto.TargetSessionID
}

var _ cdp.Session = (*Page)(nil)

// Open opens a hidden page.
func Open(ctx context.Context, c *cdp.Client) (*Page, error) {
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
	p := &Page{c, id, attached.SessionID}
	c.Listen(p.session, p.event)
	return p, cdp.CallAll(ctx, p, proto.PageEnable{}, cdp.RawRequest("Network.setBypassServiceWorker", map[string]any{"bypass": true}),
		cdp.RawRequest("Fetch.enable", map[string]any{"patterns": []any{map[string]any{"urlPattern": "*"}}}))
}

// Close closes the page, without waiting until it is closed.
func (p *Page) Close() {
	p.client.Unlisten(p.session)
	p.client.Send("", "Target.closeTarget", proto.TargetCloseTarget{TargetID: p.target}).Forget()
}

// Send implements [cdp.Session].
func (p *Page) Send(m proto.Request) *cdp.Future { return p.client.Send(p.session, m.ProtoReq(), m) }

// SendAll implements [cdp.Session].
func (p *Page) SendAll(ms ...proto.Request) []*cdp.Future {
	return p.client.SendAll(p.session, ms...)
}

// Await implements [cdp.Session].
func (p *Page) Await(ctx context.Context, f *cdp.Future) ([]byte, error) { return f.Wait(ctx) }

// emptyDocument names an icon, because the browser asks the site for one otherwise.
const emptyDocument = `<!doctype html><link rel=icon href="data:,">`

// event answers a request of the page with an empty document.
func (p *Page) event(method string, params json.RawMessage) {
	e, ok := cdp.Decode[struct {
		ID proto.FetchRequestID `json:"requestId"`
	}](params)
	if !ok || method != "Fetch.requestPaused" {
		return
	}
	p.Send(cdp.RawRequest("Fetch.fulfillRequest", map[string]any{"requestId": e.ID, "responseCode": 200,
		"responseHeaders": []any{map[string]any{"name": "Content-Type", "value": "text/html"}},
		"body":            base64.StdEncoding.EncodeToString([]byte(emptyDocument))})).Forget()
}

// Read returns the local storage of an origin as browserstate.Origin has it; nil if it has none, or
// is not available there. Object.entries would leave out names that every Storage has, as "length".
func (p *Page) Read(ctx context.Context, origin string) (json.RawMessage, error) {
	// A browser that knows that a site has https goes there.
	value, err := p.evaluate(ctx, origin, `site => { try { return origin === site
		? JSON.stringify(Array.from(localStorage, (_, i) => [localStorage.key(i), localStorage.getItem(localStorage.key(i))])) : "[]" } catch { return "[]" } }`)
	if err != nil {
		return nil, err
	}
	items, err := cdp.Unquote(value)
	if err != nil || *items == "[]" {
		return nil, err
	}
	return json.RawMessage(*items), nil
}

// Write adds items, as Read returns them, to the local storage of an origin.
func (p *Page) Write(ctx context.Context, origin string, items json.RawMessage) error {
	_, err := p.evaluate(ctx, origin, `site => {
		if (origin !== site) throw new Error("the browser goes to another origin: " + origin);
		for (const [key, value] of `+string(items)+`) localStorage.setItem(key, value);
	}`)
	return err
}

// evaluate calls a function in a document of an origin, with the origin.
func (p *Page) evaluate(ctx context.Context, origin, function string) (json.RawMessage, error) {
	if err := cdp.CallAll(ctx, p, proto.PageNavigate{URL: origin + "/"}); err != nil {
		return nil, err
	}
	name, err := json.Marshal(origin)
	if err != nil {
		return nil, err
	}
	value, err := cdp.Evaluate(ctx, p, proto.RuntimeEvaluate{Expression: fmt.Sprintf("(%s)(%s)", function, name), ReturnByValue: true})
	if err != nil {
		return nil, err
	}
	return value.Value, nil
}
