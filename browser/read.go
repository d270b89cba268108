package browser

import (
	"context"
	"errors"
	"strings"
	"unicode/utf16"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/routine"
)

// outerHTML is the outer HTML of an element or a document, and the number of matches.
type outerHTML struct {
	HTML    string `json:"html"`
	Matches int    `json:"matches"`
}

// OuterHTML returns the outer HTML of the document or of the first match, and the number
// of matches.
func (p *page) OuterHTML(ctx context.Context, selector string) (string, int, error) {
	if err := p.awaitRest(ctx); err != nil {
		return "", 0, err
	}
	if err := p.checkExposed(ctx, "HTML may not be read"); err != nil {
		return "", 0, err
	}
	if found, err := help[*outerHTML](ctx, p, "html", selector, selector != ""); err == nil && found != nil {
		return found.HTML, found.Matches, nil
	}
	for { // it is not there yet, or in a frame of another origin
		in, err := p.inView(ctx, selector)
		if err != nil {
			return "", 0, err
		}
		found, err := help[*outerHTML](ctx, in, "html", selector)
		switch {
		case err != nil && (ctx.Err() != nil || !errors.Is(err, cdp.ErrGone)):
			return "", 0, p.failure(ctx, err)
		case err == nil && found != nil:
			return found.HTML, found.Matches, nil
		}
	}
}

// Present reports whether an element matches the selector, as soon as the page is at rest.
func (p *page) Present(ctx context.Context, selector string) (bool, error) {
	for {
		if err := p.awaitRest(ctx); err != nil {
			return false, err
		}
		v, err := p.match(ctx, selector, 0)
		if err == nil || ctx.Err() != nil || !errors.Is(err, cdp.ErrGone) {
			return err == nil && v != nil, selectorError(selector, p.failure(ctx, err))
		}
	}
}

// inView waits for the page and for a match of the selector, and says which view it
// is in; that of the page where the selector is empty.
func (p *page) inView(ctx context.Context, selector string) (*frameView, error) {
	if err := p.awaitRest(ctx); err != nil || selector == "" {
		return p.frames.top, err
	}
	return p.awaitMatch(ctx, selector)
}

// Scroll scrolls the window or an element. A page that leaves meanwhile has been
// scrolled.
func (p *page) Scroll(ctx context.Context, s routine.Scroll) error {
	for {
		in, err := p.inView(ctx, s.Selector)
		if err != nil {
			return err
		}
		done, err := help[bool](ctx, in, "scroll", map[string]any{
			"element": s.Selector != "", "x": s.X, "y": s.Y, "dx": s.DeltaX, "dy": s.DeltaY, "smooth": s.Smooth,
		})
		switch {
		case err != nil:
			return p.failure(ctx, ignoreGone(err))
		case done:
			return nil
		}
	}
}

// Cookies returns all cookies of the run.
func (p *page) Cookies(ctx context.Context) ([]routine.Cookie, error) {
	if err := p.awaitRest(ctx); err != nil { // a page that is loading may set some
		return nil, err
	}
	if err := p.checkExposed(ctx, "cookies may not be read"); err != nil {
		return nil, err
	}
	all, err := proto.StorageGetCookies{BrowserContextID: p.context}.Call(p.i.client.Browser(ctx))
	if err != nil {
		return nil, p.failure(ctx, err)
	}
	return cookies(all.Cookies), nil
}

// SentCookies returns the cookies that the browser would send to the current page.
func (p *page) SentCookies(ctx context.Context) ([]routine.Cookie, error) {
	if err := p.awaitRest(ctx); err != nil {
		return nil, err
	}
	if err := p.checkExposed(ctx, "cookies may not be read"); err != nil {
		return nil, err
	}
	sent, err := cdp.Call[proto.NetworkGetCookiesResult](ctx, p, proto.NetworkGetCookies{Urls: []string{p.now().url}})
	if err != nil {
		return nil, p.failure(ctx, err)
	}
	return cookies(sent.Cookies), nil
}

func cookies(from []*proto.NetworkCookie) []routine.Cookie {
	to := make([]routine.Cookie, len(from))
	for i, c := range from {
		to[i] = routine.Cookie{Name: c.Name, Value: c.Value, Domain: c.Domain, Path: c.Path, Expires: float64(c.Expires),
			HTTPOnly: c.HTTPOnly, Secure: c.Secure, SameSite: string(c.SameSite)}
		if c.Session {
			to[i].Expires = -1
		}
	}
	return to
}

// readProperty follows data properties from window and calls no code of the page. Of an
// object it copies the data properties, like JSON but without getters and toJSON. V8
// refuses side effects of proxies and of replaced built-in functions
// (throwOnSideEffect).
const readProperty = `(path => {
  const find = (o, k) => { for (; o; o = Object.getPrototypeOf(o)) { const d = Object.getOwnPropertyDescriptor(o, k); if (d) return d; } };
  const held = d => d && 'value' in d ? d.value : undefined;
  const plain = v => {
    if (typeof v === 'function') return undefined; // also toJSON
    if (v === null || typeof v !== 'object') return typeof v === 'bigint' ? String(v) : v;
    if (v instanceof Date) return Date.prototype.getTime.call(v) === Date.prototype.getTime.call(v) ? Date.prototype.toISOString.call(v) : null;
    if (Array.isArray(v)) return v.map((_, i) => plain(held(Object.getOwnPropertyDescriptor(v, i))));
    const copy = Object.create(null);
    for (const k of Object.keys(v)) copy[k] = plain(held(Object.getOwnPropertyDescriptor(v, k)));
    return copy;
  };
  let v = window;
  for (const k of path.split('.')) {
    if (v === null || typeof v !== 'object' && typeof v !== 'function') return null;
    v = held(find(v, k));
  }
  if (v === undefined || v === null || typeof v === 'function' || typeof v === 'symbol') return null;
  return typeof v === 'object' ? JSON.stringify(plain(v)) ?? null : String(v);
})(%s)`

// Lookup reads a text from the page: a storage entry, the content of a meta tag, or a
// property of window.
func (p *page) Lookup(ctx context.Context, from routine.Source, name string) (string, bool, error) {
	if p.withoutSite && from == routine.FromSessionStorage {
		return "", false, nil
	}
	err := p.awaitRest(ctx)
	if err == nil {
		err = p.checkExposed(ctx, "values of the page may not be read")
	}
	if err != nil {
		return "", false, err
	}
	var text *string
	if from == routine.FromWindow {
		text, err = p.property(ctx, name)
	} else {
		text, err = help[*string](ctx, p, "lookup", string(from), name)
	}
	if err != nil || text == nil {
		return "", false, p.failure(ctx, err)
	}
	return *text, true, nil
}

// maxStorageKeys bounds the keys that StorageKeys returns; maxStorageKey, the length of
// each in UTF-16 code units.
const (
	maxStorageKeys = 50
	maxStorageKey  = 200
)

// StorageKeys returns the first keys of the page's sessionStorage.
func (p *page) StorageKeys(ctx context.Context) ([]string, error) {
	if err := p.checkExposed(ctx, "values of the page may not be read"); err != nil {
		return nil, err
	}
	keys, err := help[[]string](ctx, p, "storageKeys", maxStorageKeys, maxStorageKey)
	return keys, p.failure(ctx, err)
}

func (p *page) property(ctx context.Context, path string) (*string, error) {
	expression := strings.Replace(readProperty, "%s", routine.JSONText(path), 1)
	v, err := cdp.Evaluate(ctx, p, proto.RuntimeEvaluate{Expression: expression, ReturnByValue: true, ThrowOnSideEffect: true})
	var t *cdp.ExceptionError
	if errors.As(err, &t) || err == nil && v.Type != "string" {
		return nil, nil // reading the page's objects may throw
	}
	if err != nil {
		return nil, err
	}
	return cdp.Unquote(v.Value)
}

// maxMirrored is how many UTF-16 code units an origin's sessionStorage can hold:
// Chromium allows 10 MiB, at two bytes each.
const maxMirrored = 5 << 20

// Mirror writes an entry to the page's sessionStorage. A text that is too long for it is
// not sent to the browser.
func (p *page) Mirror(ctx context.Context, key, text string) error {
	if p.withoutSite || !fitsStorage(text) { // nothing reads an empty document of ours
		return nil
	}
	_, err := help[any](ctx, p, "mirror", key, text)
	return p.failure(ctx, err)
}

// fitsStorage reports whether a text can be in a page's storage.
func fitsStorage(text string) bool {
	if len(text) <= maxMirrored {
		return true
	}
	units := 0
	for _, r := range text {
		if units += utf16.RuneLen(r); units > maxMirrored {
			return false
		}
	}
	return true
}
